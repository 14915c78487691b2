/** The descriptor of a resource type: everything the registry, the API and the tables know of a kind. */

import type { StatusCause } from '../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../shared/kube/objects/meta.js';

/** `kubectl get` column (meta/v1 TableColumnDefinition) and how to fill its cell. */
export interface Column<T extends KubeObject> {
  name: string;
  type: 'string' | 'integer' | 'date';
  /** `name` on the first column. */
  format?: string;
  description: string;
  /** 0 = always shown, 1 = only with `-o wide`. */
  priority: 0 | 1;
  /** `now` in ms, for ages. */
  cell(object: T, now: number): string | number;
}

/** A mistake in a field; becomes a cause of a 422. */
export type FieldError = StatusCause & { field: string; message: string };

/** What a strategy may know besides the object itself. */
export interface WriteContext {
  /** Milliseconds since the epoch. */
  now: number;
  /** Who writes, by their credentials; absent for the hub and controllers. */
  user?: string;
  /** Their groups. */
  groups?: readonly string[];
}

/** Reads the text of one selectable field. Taken from a method so that Kind<Pod> fits where any Kind does. */
type FieldReader<T extends KubeObject> = { read(object: T): string }['read'];

/** One resource type. `T` is its object type. Functions are pure apart from changing the object they are given. */
export interface Kind<T extends KubeObject = KubeObject> {
  /** "" for the core group. */
  group: string;
  version: string;
  kind: string;
  /** Plural, as in URLs. */
  resource: string;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  /** Verbs named in discovery, in upstream's order. */
  verbs: readonly string[];
  /** Name of its definition in the generated schema, e.g. `io.k8s.api.apps.v1.DaemonSet`. */
  schema: string;
  /** Subresources served, e.g. `status`, `eviction`, `binding`, `log`; with the kind each answers with. */
  subresources: Readonly<Record<string, Subresource>>;
  /** `(group/version, Kind)` of a list is derived; columns of `kubectl get`. */
  columns: readonly Column<T>[];
  /** Fields that `fieldSelector` may name, besides metadata.name and metadata.namespace. */
  fields: Readonly<Record<string, FieldReader<T>>>;
  /** Whether a change of `spec` raises metadata.generation; the prepare functions do it. */
  hasGeneration: boolean;

  /** Fills in upstream's defaults, in place, before validation. Must be stable: a second call changes nothing. */
  setDefaults(object: T): void;
  /** In place: drops what a creator may not set (status …), sets what the server sets. */
  prepareForCreate(object: T, context: WriteContext): void;
  /** In place on `next`: keeps what this verb may not change (status on a main update) and counts generations. */
  prepareForUpdate(next: T, current: T, context: WriteContext): void;
  /** The same for `/status`: everything but status is taken from `current`. Absent = the kind has no status. */
  prepareForStatusUpdate?(next: T, current: T, context: WriteContext): void;
  /** The same for `/approval`: everything but what decides on a request is taken from `current`. Checked as a status write. */
  prepareForApproval?(next: T, current: T, context: WriteContext): void;
  /** All mistakes of a whole object; [] = fine. metadata is checked by the registry (object-meta.ts). */
  validate(object: T): FieldError[];
  /** Further mistakes of a change; `validate(next)` has run besides. */
  validateUpdate(next: T, current: T): FieldError[];
  /** Mistakes of a status write. */
  validateStatusUpdate?(next: T, current: T): FieldError[];
  /** Texts for `Warning:` headers: fields that are stored without effect yet, deprecated ones. */
  warnings(object: T): string[];
  /** Seconds an object of this kind is left to end gracefully when a DELETE names none; absent = gone at once. */
  defaultGracePeriodSeconds?(object: T): number;
  /** Names allowed: upstream's rule for this kind's `metadata.name`. */
  nameRule: 'dnsSubdomain' | 'dnsLabel' | 'pathSegment';
  /** One namespace of the kind is read from elsewhere than the store (node Leases live in memory), and is read-only there. */
  reader?: VirtualReader<T>;
}

export interface Subresource {
  group: string;
  version: string;
  kind: string;
  verbs: readonly string[];
}

/** Serves the computed objects of one namespace, e.g. node Leases from presence. No watch: clients poll. */
export interface VirtualReader<T extends KubeObject> {
  namespace: string;
  get(name: string): T | undefined;
  list(): T[];
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>): string {
  return kind.group ? `${kind.group}/${kind.version}` : kind.version;
}

/** All verbs of a resource with a collection. */
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
