/** The registry: verbs that know the kinds. All writers use it. It throws only ApiError. */

import type { ServiceAccount } from '../../shared/kube/access/service-account-types.js';
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../shared/kube/admission/admission-policy-types.js';
import type { WebhookClientConfig, WebhookConfiguration } from '../../shared/kube/admission/webhook-types.js';
import type { Status } from '../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectRef } from '../../shared/kube/objects/meta.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { PriorityClass } from '../../shared/kube/pods/priority-class.js';
import type { LimitRange } from '../../shared/kube/policy/quota-types.js';
import type { Service } from '../../shared/kube/services/service-types.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { Random } from '../../shared/process/time/random.js';
import type { AskAccess } from '../cel/policies/policy-environment.js';
import type { CustomKinds } from '../kinds/custom-resources/custom-kinds.js';
import type { Kind } from '../kinds/kind.js';
import type { Store } from '../store/store.js';
import type { SplicedValue } from './encoding/object-encoding.js';
import type {
  DeleteOptions,
  ListRequest,
  Patch,
  Preconditions,
  Selection,
  WatchRequest,
  WriteOptions,
} from './registry-options.js';

/** A stored object. It is decoded on demand. */
export interface ObjectRecord<T extends KubeObject = KubeObject> {
  readonly revision: number;
  /** JSON with apiVersion, kind and resourceVersion. */
  bytes(): Buffer;
  /** The same bytes for callers that copy them anyway, if that is cheaper. */
  copyableBytes?(): Buffer | SplicedValue;
  /** Decoded once and shared: do not change it. Only informers replace parts of it by equal ones. */
  object(): T;
}

/** Outcome of a DELETE. The object's resourceVersion is the revision of this write. */
export interface DeleteResult<T extends KubeObject> {
  /** The last state of a removed object, or the object that is terminating. */
  object: T;
  /** False while finalizers or the grace period keep the object stored. */
  isRemoved: boolean;
}

export interface RecordList<T extends KubeObject> {
  records: ObjectRecord<T>[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/**
 * Deleted records have the revision of the deletion. `initialEnd` marks the bookmark after the initial events. Other
 * bookmarks report progress without events.
 */
export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; record: ObjectRecord<T> }
  | { type: 'BOOKMARK'; revision: number; initialEnd: boolean };

/** Batches of events in revision order. The iteration throws ApiError Expired, or ends after `close()`. */
export interface RegistryWatch<T extends KubeObject> extends AsyncIterable<WatchEvent<T>[]> {
  close(): void;
}

/** One change of one kind. A DELETED record has the last state and the revision of the deletion. */
export interface KindChange {
  kind: Kind;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  record: ObjectRecord;
}

/** Changes of several kinds in revision order. All changes up to `revision` have been reported. */
export interface KindChanges {
  changes: readonly KindChange[];
  revision: number;
}

/** The iteration throws ApiError Expired, or ends after `close()`. */
export interface KindTail extends AsyncIterable<KindChanges> {
  close(): void;
}

/** Returns an object like `model` with its own texts. It may share unchanged parts with `model`. */
type Customize<T extends KubeObject> = (model: T, text: string, detail: string) => T;

export interface TemplateSource<T extends KubeObject> {
  /** Has a generateName and no name. */
  body: T;
  customize: Customize<T>;
  /** Example texts, with which the template is validated. Each is a whole string in the object. */
  text: string;
  /** Absent: the objects have no second text. */
  detail?: string;
}

/** An object ready to store. */
interface Rendered<T extends KubeObject> {
  object: T;
  encoded: Buffer;
}

/** A validated and encoded template for many objects. */
export interface ObjectTemplate<T extends KubeObject> {
  readonly kind: Kind<T>;
  /** Returns another object, with a new random name. */
  render(text: string, detail?: string): Rendered<T>;
  /**
   * False once the PriorityClass of a Pod, or a LimitRange of its namespace, has changed since the validation. Such a
   * template must not be used.
   */
  isCurrent(): boolean;
}

export interface Registry {
  /** The built-in kinds. */
  readonly kinds: readonly Kind[];
  /** The built-in kinds, and all served versions of the custom kinds of now. */
  allKinds(): readonly Kind[];
  /** The custom kinds of now. The informers update it. */
  readonly customKinds: CustomKinds;
  /** Resolves when `customKinds` reflects every committed write. */
  caughtUp(): Promise<void>;
  get<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef): Promise<ObjectRecord<T>>;
  /** Returns the revision at which the object was created, or undefined if it does not exist. */
  createdAt(kind: Kind, ref: ObjectRef): Promise<number | undefined>;
  list<T extends KubeObject>(kind: Kind<T>, request?: ListRequest): Promise<RecordList<T>>;
  watch<T extends KubeObject>(kind: Kind<T>, request?: WatchRequest): Promise<RegistryWatch<T>>;
  /**
   * Returns every change of these kinds after `revision` in one order. Informers use it. `kindAt` returns the kind of a
   * resource path such as `apps/daemonsets`, or undefined to skip the change.
   */
  follow(kindAt: (resourcePath: string) => Kind | undefined, revision: number): KindTail;
  create<T extends KubeObject>(
    kind: Kind<T>,
    namespace: string | undefined,
    object: unknown,
    options?: WriteOptions,
  ): Promise<ObjectRecord<T>>;
  /** Validates and encodes the customized body once. Throws what its create would throw. */
  prepareTemplate<T extends KubeObject>(
    kind: Kind<T>,
    namespace: string | undefined,
    source: TemplateSource<T>,
  ): ObjectTemplate<T>;
  /** Stores another object of a template, with its own name, uid and time. The texts are not validated. */
  createFromTemplate<T extends KubeObject>(
    model: ObjectTemplate<T>,
    text: string,
    detail?: string,
  ): Promise<ObjectRecord<T>>;
  /**
   * Returns another object of a template, checked like `createFromTemplate` but not stored. Throws 403 and 404. For
   * objects that are stored later without a check.
   */
  reviewFromTemplate<T extends KubeObject>(
    model: ObjectTemplate<T>,
    text: string,
    detail?: string,
  ): Promise<T>;
  /** PUT: replaces the object. Checks its resourceVersion if it has one. */
  update<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    object: unknown,
    options?: WriteOptions,
  ): Promise<ObjectRecord<T>>;
  /**
   * Changes a copy of the object in place and stores it; retries if another writer was faster. `change` may return
   * false to store nothing. With `preconditions`, another uid is a 409. The registry owns the changed object
   * afterwards.
   */
  modify<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    change: (object: T) => undefined | false,
    options?: WriteOptions & { preconditions?: Preconditions },
  ): Promise<ObjectRecord<T>>;
  /**
   * Stores a new status for the hub and controllers. `statusOf` computes it from the stored object, again after a
   * concurrent write, or returns undefined to store nothing. The rest of the object is neither copied nor validated.
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
  /** Deletes all matching objects. Returns their records before the deletion. */
  deleteCollection<T extends KubeObject>(
    kind: Kind<T>,
    selection: Selection,
    options?: DeleteOptions,
  ): Promise<ObjectRecord<T>[]>;
  /** After a restored backup: stores a lost object unchecked, with its original uid and creation time. Throws 409. */
  restoreObject<T extends KubeObject>(kind: Kind<T>, object: T): Promise<ObjectRecord<T>>;
  /**
   * pods/binding: sets spec.nodeName and PodScheduled once. Returns the bound Pod. Throws 409 if it is already bound.
   */
  bind(pod: ObjectRef, nodeName: string, preconditions?: Preconditions): Promise<ObjectRecord<Pod>>;
  /** pods/eviction: sets DisruptionTarget and deletes the Pod. Throws 429 if a PodDisruptionBudget does not allow it. */
  evict(pod: ObjectRef, options?: DeleteOptions): Promise<Status>;
  /**
   * Sets DisruptionTarget with reason PreemptionByScheduler and starts the Pod's deletion with its own grace period, in
   * one write. Resolves to undefined if the Pod was ending already: it stays unchanged. Throws 404 and 409.
   */
  preempt(
    pod: ObjectRef,
    message: string,
    preconditions?: Preconditions,
  ): Promise<ObjectRecord<Pod> | undefined>;
  /** The agent has reported that the containers are gone: removes the Pod with this uid at once. */
  confirmStopped(pod: ObjectRef, uid: string): Promise<void>;
}

/** Returns a ServiceAccount, or undefined if the informers do not have it. */
export type FindAccount = (ref: Required<ObjectRef>) => ServiceAccount | undefined;

/** What a write has allocated. */
export interface Allocation {
  /** Must be called once: with the revision of the write, or without if nothing was stored. */
  settle(revision?: number): void;
}

/** Addresses and ports of Services. */
export interface ServiceAllocations {
  /** Resolves when the allocations of all committed writes are known. */
  ready(): Promise<void>;
  /**
   * Sets what the Service lacks, in place on `next`, and checks what it requests. Throws a 422 for a request that cannot be
   * met, and a 500 if nothing is free.
   */
  allocate(next: Service, current: Service | undefined): Allocation;
}

/** The usage of ResourceQuotas. */
export interface Quotas {
  /** Resolves when the usage of all objects is known. */
  ready(): Promise<void>;
  /**
   * Counts an object that is about to be stored instead of `current`, until its write is visible or has failed. Throws
   * 403 if it exceeds a quota of its namespace.
   */
  charge(kind: Kind, next: KubeObject, current: KubeObject | undefined): Allocation;
}

/** The cached PriorityClasses. */
export interface PriorityClasses {
  get(ref: ObjectRef): PriorityClass | undefined;
  list(): Iterable<PriorityClass>;
}

/** The cached admission policies. */
export interface AdmissionPolicies {
  bindings(): Iterable<ValidatingAdmissionPolicyBinding>;
  policy(name: string): ValidatingAdmissionPolicy | undefined;
  /** Decides on `authorizer` checks. */
  ask: AskAccess;
}

/** The cached webhook configurations, and the client that calls them. */
export interface AdmissionWebhooks {
  validating(): Iterable<WebhookConfiguration>;
  mutating(): Iterable<WebhookConfiguration>;
  /** Resolves with the answer. Rejects with an Error that names the address and the cause. */
  call(client: WebhookClientConfig, review: unknown, timeoutMs: number): Promise<unknown>;
  /** Returns the uid of the next AdmissionReview. */
  uid(): string;
}

/** Dependencies that all verbs share. */
export interface RegistryDeps {
  store: Store;
  /** Has the Events, and gives access to the objects of `store`. Absent: `store` has them. */
  events?: Store;
  kinds: readonly Kind[];
  customKinds: CustomKinds;
  /** Absent: the custom kinds are not followed. */
  caughtUp?: () => Promise<void>;
  clock: Clock;
  log: Logger;
  /** For uids and generated names. */
  random: Random;
  /** Absent: Pods get no ServiceAccount tokens. */
  findAccount?: FindAccount;
  /** Absent: Services get neither addresses nor ports. */
  services?: ServiceAllocations;
  /** Absent: Pods get no priority. */
  priorityClasses?: PriorityClasses;
  /** Returns the LimitRanges of a namespace, by name. Absent: nothing is limited. */
  limitRanges?: (namespace: string) => readonly LimitRange[];
  /** Absent: nothing is counted. */
  quotas?: Quotas;
  /** Absent: no admission policies. */
  policies?: AdmissionPolicies;
  /** Absent: no admission webhooks. */
  webhooks?: AdmissionWebhooks;
}
