/** The descriptor of a resource type, for the registry, the API and the tables. */

import type { WebhookClientConfig } from '../../shared/kube/admission/webhook-types.js';
import type { StatusCause } from '../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import type { FieldFindings } from './schema/check-fields.js';
import type { Schema } from './schema/schema-definitions.js';

/** A `kubectl get` column (meta/v1 TableColumnDefinition) and the function for its cells. */
export interface Column<T extends KubeObject> {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` on the first column. */
  format?: string;
  description: string;
  /** 0 = always shown, more = only with `-o wide`. */
  priority: number;
  /** `now` in ms, for ages. null: the object has no such field. */
  cell(object: T, now: number): string | number | boolean | null;
}

/** An invalid field. It becomes a cause of a 422. */
export type FieldError = StatusCause & { field: string; message: string };

/** The context of a write. */
export interface WriteContext {
  /** Milliseconds since the epoch. */
  now: number;
  /** The authenticated user. Absent for the hub and controllers. */
  user?: string;
  /** The user's groups. */
  groups?: readonly string[];
}

/** Returns the text of a selectable field. The method syntax makes Kind<Pod> assignable to Kind. */
type FieldReader<T extends KubeObject> = { read(object: T): string }['read'];

/** A resource type. `T` is its object type. Functions change only the object that they receive. */
export interface Kind<T extends KubeObject = KubeObject> {
  /** "" for the core group. */
  group: string;
  version: string;
  kind: string;
  /** Plural, as in URLs. */
  resource: string;
  singular: string;
  /** Kind of a list. Absent: the kind with `List` appended. */
  listKind?: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  /** Verbs named in discovery, in upstream's order. */
  verbs: readonly string[];
  /** Name of the definition in the generated schema, for example `io.k8s.api.apps.v1.DaemonSet`. */
  schema: string;
  /** Schema of a custom kind, which the generated schema does not contain. */
  definition?: Schema;
  /** Custom kinds: removes unknown fields from a body, in place. Absent: the schema alone decides. */
  decode?(object: Record<string, unknown>, repeated: ReadonlySet<string>): FieldFindings;
  /** Subresources such as `status`, `eviction`, `binding`, `log`, with the kind that each returns. */
  subresources: Readonly<Record<string, Subresource>>;
  /** Columns of `kubectl get`. */
  columns: readonly Column<T>[];
  /** Fields for `fieldSelector`, in addition to metadata.name and metadata.namespace. */
  fields: Readonly<Record<string, FieldReader<T>>>;
  /** True if a change of `spec` raises metadata.generation. The prepare functions do this. */
  hasGeneration: boolean;

  /** True if a DELETE without a propagation policy keeps the dependents (`rest.OrphanDependents`). */
  orphansByDefault?: true;

  /** Sets upstream's defaults in place, before validation. A second call must change nothing. */
  setDefaults(object: T): void;
  /** In place: removes fields that a client must not set (status and others) and sets server-owned fields. */
  prepareForCreate(object: T, context: WriteContext): void;
  /**
   * The creator does not own fields that `prepareForCreate` generates. Otherwise the next apply of its manifest, which
   * does not contain them, would remove them.
   */
  disownsGenerated?: true;
  /**
   * In place on `next`: reverts fields that this verb cannot change (status on a main update) and counts generations.
   */
  prepareForUpdate(next: T, current: T, context: WriteContext): void;
  /** The prepare functions write the status, and no client can. A writer of the object then does not own the status. */
  hasOwnStatus?: true;
  /**
   * No function of the kind changes a part of the spec in place. A patched object then shares its unchanged parts with
   * the stored one. Without this a change of one key of thousands would copy, check and compare all of them.
   */
  sharesUnchangedParts?: true;
  /** Returns the object without what can be left out to make it smaller by `excess` bytes: the store would refuse it. */
  shrink?(object: T, excess: number): T;
  /** Like `prepareForUpdate` for `/status`: reverts everything but status. Absent: the kind has no status. */
  prepareForStatusUpdate?(next: T, current: T, context: WriteContext): void;
  /** Like `prepareForUpdate` for `/approval`: reverts everything but the decision. Validated as a status write. */
  prepareForApproval?(next: T, current: T, context: WriteContext): void;
  /**
   * Like `prepareForUpdate` for `/ephemeralcontainers`: reverts everything but the ephemeral containers. Validated as an
   * update.
   */
  prepareForEphemeralContainers?(next: T, current: T, context: WriteContext): void;
  /** Returns the additional errors of a write to `/ephemeralcontainers`. `validate(next)` runs as well. */
  validateEphemeralContainersUpdate?(next: T, current: T): FieldError[];
  /** Returns additional errors of a new object. `validate` runs as well. */
  validateCreate?(object: T): FieldError[];
  /** Returns all errors of an object. The registry validates metadata (object-meta-validation.ts). */
  validate(object: T): FieldError[];
  /** Returns additional errors of a change. `validate(next)` runs as well. */
  validateUpdate(next: T, current: T): FieldError[];
  /** Returns the errors of a status write. */
  validateStatusUpdate?(next: T, current: T): FieldError[];
  /** Returns texts for `Warning:` headers: fields without effect, deprecated fields. */
  warnings(object: T): string[];
  /** Returns the default grace period of a DELETE in seconds. Absent: objects are deleted at once. */
  defaultGracePeriodSeconds?(object: T): number;
  /** Upstream's rule for this kind's `metadata.name`. */
  nameRule: 'dnsSubdomain' | 'dnsLabel' | 'pathSegment';
  /** True if finalizers need no domain with a path: upstream checks that for its own kinds only. */
  hasPlainFinalizers?: true;
  /** One namespace of the kind is read from here instead of the store (node Leases), and is read-only. */
  reader?: VirtualReader<T>;
  /** Set for another version of a stored kind: its objects are stored as that kind and converted. */
  view?: StoredView<T>;
}

/** How objects of a view are stored. The method syntax makes Kind<EventsV1Event> assignable to Kind. */
interface StoredView<T extends KubeObject> {
  /** The kind as which they are stored. */
  storedAs: Pick<Kind, 'group' | 'resource' | 'namespaced'>;
  /** Does not change its argument. */
  toStored(object: T): KubeObject;
  /** May change its argument, which was decoded for this call. */
  fromStored(stored: KubeObject): T;
  /** Set if a webhook converts between the versions, before `fromStored` and after `toStored`. */
  conversion?: ConversionWebhook;
}

/** The conversion webhook of a CustomResourceDefinition, and the versions that one of its kinds needs. */
export interface ConversionWebhook {
  /** For example `example.com/v1`. */
  ownVersion: string;
  /** The version in which objects are written to the store. Older objects may be stored in another one. */
  storedVersion: string;
  client: WebhookClientConfig;
  /** Versions of ConversionReview that the webhook accepts, best first. */
  reviewVersions: readonly string[];
}

/**
 * Returns a kind that reads and deletes objects as they are stored. Caches, and the deletion of definitions and
 * namespaces, need metadata only: a conversion webhook on an offline host, or one that was uninstalled first, would block
 * them for ever.
 */
export function withoutConversion<T extends KubeObject>({ view, ...kind }: Kind<T>): Kind<T> {
  return view && !view.conversion ? { ...kind, view } : kind;
}

export interface Subresource {
  group: string;
  version: string;
  kind: string;
  verbs: readonly string[];
}

/** Computes the objects of one namespace, for example node Leases. Without watch: clients poll. */
export interface VirtualReader<T extends KubeObject> {
  namespace: string;
  get(name: string): T | undefined;
  list(): T[];
}

/** Returns `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>): string {
  return kind.group ? `${kind.group}/${kind.version}` : kind.version;
}

/** The verbs of a resource with a collection, in the order of upstream's discovery. */
export const STANDARD_VERBS = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const;

/** Verbs of a `/status` subresource. */
export const STATUS_VERBS = ['get', 'patch', 'update'] as const;
