/** What a caller asks of the registry: options of writes and deletes, selections, and patches. */
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import type { Kind } from '../kinds/kind.js';

/**
 * Keys that occur twice in a body, by the decoder that found them: one that knows the kind's fields (`paths` such as
 * `spec.paused`), one for patches (complete `texts`), or the YAML parser (`lines` such as `line 5: key "name" already
 * set in map`).
 */
export type RepeatedKeys =
  | { by: 'type'; paths: ReadonlySet<string> }
  | { by: 'patch'; texts: readonly string[] }
  | { by: 'yaml'; lines: readonly string[] };

/** Options of a write. */
export interface WriteOptions {
  /** Run all checks, store nothing. */
  dryRun?: boolean;
  /** Dry runs only: Namespaces, ServiceAccounts and PriorityClasses to treat as stored. */
  assumed?: readonly KubeObject[];
  fieldManager?: string;
  /** The authenticated user. Absent for writes of the hub and the controllers. */
  user?: string;
  /** The user's groups. */
  groups?: readonly string[];
  /** Absent: unknown fields are not checked (writes of the hub and the controllers). */
  fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
  /** Handled as `fieldValidation` says. */
  repeatedKeys?: RepeatedKeys;
  /** Receives texts for `Warning:` headers. */
  warn?: (text: string) => void;
  /** Receives annotations for the audit log. */
  annotate?: (key: string, value: string) => void;
  /** Checks the object that is about to replace `current` (undefined for a create). Refuses by throwing ApiError. */
  review?: (kind: Kind, next: KubeObject, current: KubeObject | undefined) => void;
  /** `finalize`: spec.finalizers of a Namespace; `approval`: the decision on a CertificateSigningRequest; `scale`: replicas. */
  subresource?: 'status' | 'approval' | 'finalize' | 'scale' | 'ephemeralcontainers';
  /** What policies and webhooks see instead of an object: the Scale, for the subresource `scale`. */
  reviewedAs?: ReviewedForm;
  /** A built-in object that the coordinator needs to start. Neither policies nor webhooks decide on it. */
  isBootstrap?: boolean;
}

/** Another form of an object, in which admission sees and changes it. */
export interface ReviewedForm {
  show(object: KubeObject): KubeObject;
  /** Changes the object as a mutating webhook has changed its form, in place. Throws 400, 409 and 422. */
  accept(object: KubeObject, changed: KubeObject): void;
}

export interface Preconditions {
  uid?: string;
  resourceVersion?: string;
}

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  /** The older form of `propagationPolicy: Orphan`. */
  orphanDependents?: boolean;
  preconditions?: Preconditions;
  dryRun?: boolean;
  /** See `WriteOptions`. */
  user?: string;
  groups?: readonly string[];
  warn?: (text: string) => void;
  annotate?: (key: string, value: string) => void;
  isBootstrap?: boolean;
}

/** Selects objects of a kind, in all namespaces if `namespace` is absent. Selectors are in the syntax of the query. */
export interface Selection {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface ListRequest extends Selection {
  limit?: number;
  /** Opaque token of the previous page. */
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: string;
}

export interface WatchRequest extends Selection {
  /** Absent, "" or "0": begin with ADDED events for the present objects. */
  resourceVersion?: string;
  /** Watch-list: ADDED events for the present objects, then a marked bookmark. */
  sendInitialEvents?: boolean;
}

/** A patch as received: RFC 6902 list, RFC 7396 map, strategic merge map, or apply manifest. */
export interface Patch {
  type: 'json' | 'merge' | 'strategic' | 'apply';
  body: unknown;
  /** Server-side apply: take over fields from other managers. */
  force?: boolean;
}
