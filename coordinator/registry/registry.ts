/**
 * The registry: the verbs that know kinds. Every writer goes through it: HTTP, controllers, hub.
 * It throws only ApiError.
 */

import type { Status } from '../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectRef } from '../../shared/kube/objects/meta.js';
import type { ServiceAccount } from '../../shared/kube/objects/service-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { Random } from '../../shared/process/time/random.js';
import type { Kind } from '../kinds/kind.js';
import type { Store } from '../store/store.js';
import type { SplicedValue } from './encoding/object-encoding.js';

/** A stored object: bytes as clients get them, decoded only when someone asks. */
export interface ObjectRecord<T extends KubeObject = KubeObject> {
  readonly revision: number;
  /** JSON with apiVersion, kind and resourceVersion in it. */
  bytes(): Buffer;
  /** The same for those who copy them elsewhere anyway, where that is cheaper. */
  copyableBytes?(): Buffer | SplicedValue;
  /** Decoded once and shared: do not change it. */
  object(): T;
}

/**
 * Keys that the text of a body names twice, by what says so: a decoder that knows the kind's fields (`paths` such as
 * `spec.paused`), one that knows a patch alone (ready `texts`), or the YAML parser (`lines`, such as
 * `line 5: key "name" already set in map`).
 */
export type RepeatedKeys =
  | { by: 'type'; paths: ReadonlySet<string> }
  | { by: 'patch'; texts: readonly string[] }
  | { by: 'yaml'; lines: readonly string[] };

/** What one write wants besides its body. */
export interface WriteOptions {
  /** Run everything, store nothing. */
  dryRun?: boolean;
  /** Of a dry run: Namespaces and ServiceAccounts that are treated as stored, before those that are. */
  assumed?: readonly KubeObject[];
  fieldManager?: string;
  /** Who writes, by their credentials; absent for the hub's and controllers' own writes. */
  user?: string;
  /** Their groups. */
  groups?: readonly string[];
  /** Absent = no check of unknown fields (the hub's and controllers' own writes). */
  fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
  /** Refused, warned of or ignored as `fieldValidation` says. Absent = none. */
  repeatedKeys?: RepeatedKeys;
  /** Receives texts for `Warning:` headers. */
  warn?: (text: string) => void;
  /** Looks at what is about to be stored in the place of `current`, of which there is none at a create. Refuses by throwing ApiError. */
  review?: (kind: Kind, next: KubeObject, current: KubeObject | undefined) => void;
  /** `finalize`: spec.finalizers of a Namespace; `approval`: the decision on a CertificateSigningRequest. */
  subresource?: 'status' | 'approval' | 'finalize';
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
}

/** Outcome of a DELETE. The object's resourceVersion is the revision of this write. */
export interface DeleteResult<T extends KubeObject> {
  /** The last state of a removed object, or the object that is terminating. */
  object: T;
  /** False while finalizers or the grace period keep the object stored. */
  isRemoved: boolean;
}

/** Which objects of a kind: all namespaces when `namespace` is absent. Selectors are the texts of the query. */
export interface Selection {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface ListRequest extends Selection {
  limit?: number;
  /** Opaque token of an earlier page. */
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: string;
}

export interface RecordList<T extends KubeObject> {
  records: ObjectRecord<T>[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

export interface WatchRequest extends Selection {
  /** Absent, "" or "0": begin with ADDED for what is there. */
  resourceVersion?: string;
  /** Watch-list: ADDED for what is there, then a bookmark that says so. */
  sendInitialEvents?: boolean;
}

/**
 * Deleted records carry the deletion's revision. `initialEnd` marks the bookmark that ends the initial events;
 * others tell how far the watch is when that is further than its last event.
 */
export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; record: ObjectRecord<T> }
  | { type: 'BOOKMARK'; revision: number; initialEnd: boolean };

/** Batches of events in revision order. Ends by throwing ApiError Expired, or quietly after `close()`. */
export interface RegistryWatch<T extends KubeObject> extends AsyncIterable<WatchEvent<T>[]> {
  close(): void;
}

/** One change of one kind, as `follow` tells it. A DELETED record carries the last state and the deletion's revision. */
export interface KindChange {
  kind: Kind;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  record: ObjectRecord;
}

/** Changes of several kinds in revision order, and the revision up to which nothing is missing. */
export interface KindChanges {
  changes: readonly KindChange[];
  revision: number;
}

/** Ends by throwing ApiError Expired, or quietly after `close()`. */
export interface KindTail extends AsyncIterable<KindChanges> {
  close(): void;
}

/** A patch as it came: RFC 6902 list, RFC 7396 map, or strategic merge map. */
export interface Patch {
  type: 'json' | 'merge' | 'strategic' | 'apply';
  body: unknown;
  /** Server-side apply: take fields over from other managers. */
  force?: boolean;
}

/** The object like `model` that has `text` for its own. It may share with the model what it does not change. */
type Customize<T extends KubeObject> = (model: T, text: string) => T;

export interface TemplateSource<T extends KubeObject> {
  /** Has a generateName and no name. */
  body: T;
  customize: Customize<T>;
  /** Example text, with which the template is validated. */
  text: string;
}

/** An object of a model as it is to be stored. */
interface Rendered<T extends KubeObject> {
  object: T;
  encoded: Buffer;
}

/** What many objects of a kind have in common. */
export interface ObjectTemplate<T extends KubeObject> {
  readonly kind: Kind<T>;
  /** One more, with another random name each time. */
  render(text: string): Rendered<T>;
}

export interface Registry {
  readonly kinds: readonly Kind[];
  get<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef): Promise<ObjectRecord<T>>;
  /** The revision at which the object was created; 0 = before this was kept, undefined = there is none. */
  createdAt(kind: Kind, ref: ObjectRef): Promise<number | undefined>;
  list<T extends KubeObject>(kind: Kind<T>, request?: ListRequest): Promise<RecordList<T>>;
  watch<T extends KubeObject>(kind: Kind<T>, request?: WatchRequest): Promise<RegistryWatch<T>>;
  /** Every change of these kinds after `revision`, all together in one order: what informers follow. */
  follow(kinds: readonly Kind[], revision: number): KindTail;
  create<T extends KubeObject>(
    kind: Kind<T>,
    namespace: string | undefined,
    object: unknown,
    options?: WriteOptions,
  ): Promise<ObjectRecord<T>>;
  /**
   * Stores objects that a part of ours has made whole, in their namespaces and under their names: they are given away, and
   * neither defaulted nor checked. They get their uids and time here. Answers of each what it was refused for, or undefined
   * once it is stored: 403 and 404 (namespace), 409 and 413, or what the store failed with.
   */
  createInternal<T extends KubeObject>(kind: Kind<T>, objects: readonly T[]): Promise<readonly unknown[]>;
  /**
   * The model of many objects: `body`, as `fit` makes it for the example `text`, is admitted and encoded here, once.
   * Throws what its create would.
   */
  prepareTemplate<T extends KubeObject>(
    kind: Kind<T>,
    namespace: string | undefined,
    source: TemplateSource<T>,
  ): ObjectTemplate<T>;
  /** Stores one more object of a model: with a name, uid and time of its own, and fitted to `text`, which is not checked. */
  createFromTemplate<T extends KubeObject>(model: ObjectTemplate<T>, text: string): Promise<ObjectRecord<T>>;
  /**
   * Returns one more object of a model, checked exactly as `createFromTemplate` checks it, but not stored. Throws 403 and 404. Used for
   * objects that are stored later without a check.
   */
  reviewFromTemplate<T extends KubeObject>(model: ObjectTemplate<T>, text: string): Promise<T>;
  /** PUT: the whole object; checked against its resourceVersion when it names one. */
  update<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    object: unknown,
    options?: WriteOptions,
  ): Promise<ObjectRecord<T>>;
  /**
   * Read, change a copy in place, write; again from a fresh read when another writer came between.
   * `change` may return false: nothing to do. With `preconditions`, another uid is a 409. What `change` puts
   * into the object is given away with it.
   */
  modify<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    change: (object: T) => undefined | false,
    options?: WriteOptions & { preconditions?: Preconditions },
  ): Promise<ObjectRecord<T>>;
  /**
   * Our own hub's and controllers' way to a new status: `statusOf` makes it of the present object, again after another
   * writer came between; undefined = nothing to do. The rest of the object is neither copied nor checked again.
   */
  writeStatus<T extends KubeObject & { status?: unknown }>(
    kind: Kind<T>,
    ref: ObjectRef,
    statusOf: (current: T) => T['status'] | undefined,
    preconditions?: Preconditions,
  ): Promise<ObjectRecord<T>>;
  patch<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<{ record: ObjectRecord<T>; created: boolean }>;
  delete<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    options?: DeleteOptions,
  ): Promise<DeleteResult<T>>;
  /** Deletes what the selection matches; answers the records as they were. */
  deleteCollection<T extends KubeObject>(
    kind: Kind<T>,
    selection: Selection,
    options?: DeleteOptions,
  ): Promise<ObjectRecord<T>[]>;
  /** After a restore: stores what was lost under its own uid and creation time, unasked and unchecked. Throws 409 when its name is taken. */
  restoreObject<T extends KubeObject>(kind: Kind<T>, object: T): Promise<ObjectRecord<T>>;
  /** pods/binding: sets spec.nodeName and PodScheduled once; 409 when bound already. Answers the bound Pod. */
  bind(pod: ObjectRef, nodeName: string, preconditions?: Preconditions): Promise<ObjectRecord<Pod>>;
  /** pods/eviction: marks DisruptionTarget and deletes, as policy/v1 without budgets. */
  evict(pod: ObjectRef, options?: DeleteOptions): Promise<Status>;
  /** The node's agent says that the Pod's containers are gone: removes this very Pod (by uid), whatever its grace. */
  confirmStopped(pod: ObjectRef, uid: string): Promise<void>;
}

/** Returns a ServiceAccount, or undefined if the informers hold none of this name. */
export type FindAccount = (ref: Required<ObjectRef>) => ServiceAccount | undefined;

/** Collaborators that all verbs share. */
export interface RegistryDeps {
  store: Store;
  kinds: readonly Kind[];
  clock: Clock;
  log: Logger;
  /** For uids and generated names. */
  random: Random;
  /** Absent: Pods get no tokens of accounts. */
  findAccount?: FindAccount;
}
