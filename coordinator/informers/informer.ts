/** An indexed cache of one kind, fed by list + watch, and never ending by itself. */
import type { KubeObject, ObjectRef } from '../../shared/kube/objects/meta.js';

/** What handlers hear. `previous` is absent on an addition, `current` on a deletion. Objects are shared: do not change them. */
export interface ObjectChange<T extends KubeObject> {
  previous?: T;
  current?: T;
}

export interface Informer<T extends KubeObject> {
  get(ref: ObjectRef): T | undefined;
  byUid(uid: string): T | undefined;
  list(): Iterable<T>;
  /** Objects under one value of a named index, e.g. Pods by node. */
  indexed(index: string, value: string): readonly T[];
  /** Called for each object present now and for each change after; runs to its end before the next. */
  onChange(handler: (change: ObjectChange<T>) => void): void;
  /** Resolves when the first list has been taken in. */
  synced(): Promise<void>;
  /** Resolves when the cache holds everything up to this revision: read your own writes. */
  waitFor(revision: number): Promise<void>;
  readonly size: number;
}

/** All caches advance together in revision order, so what one has seen, the others have too. */
export interface Informers {
  readonly pods: Informer<import('../../shared/kube/pods/pod-types.js').Pod>;
  readonly nodes: Informer<import('../../shared/kube/nodes/node-types.js').Node>;
  readonly daemonSets: Informer<import('../../shared/kube/daemonsets/daemonset-types.js').DaemonSet>;
  readonly controllerRevisions: Informer<
    import('../../shared/kube/daemonsets/daemonset-types.js').ControllerRevision
  >;
  readonly rolloutPolicies: Informer<
    import('../../shared/kube/rollouts/rollout-policy-types.js').RolloutPolicy
  >;
  readonly rollouts: Informer<import('../../shared/kube/rollouts/rollout-types.js').Rollout>;
  readonly namespaces: Informer<import('../../shared/kube/objects/config-types.js').Namespace>;
  readonly serviceAccounts: Informer<import('../../shared/kube/objects/service-types.js').ServiceAccount>;
  readonly roles: Informer<import('../../shared/kube/access/rbac-types.js').Role>;
  readonly clusterRoles: Informer<import('../../shared/kube/access/rbac-types.js').Role>;
  readonly roleBindings: Informer<import('../../shared/kube/access/rbac-types.js').RoleBinding>;
  readonly clusterRoleBindings: Informer<import('../../shared/kube/access/rbac-types.js').RoleBinding>;
  readonly certificateSigningRequests: Informer<
    import('../../shared/kube/access/certificate-signing-request.js').CertificateSigningRequest
  >;
  /** Every other kind that is served but Events, of each object its type and metadata alone; by kind. */
  readonly metadata: ReadonlyMap<import('../kinds/kind.js').Kind, Informer<KubeObject>>;
  readonly configMaps: Informer<import('../../shared/kube/objects/config-types.js').ConfigMap>;
  /** Of the agents' credentials, which no Pod may be given, of the data the key's hash alone. */
  readonly secrets: Informer<import('../../shared/kube/objects/config-types.js').Secret>;
  /** Waits until every cache has passed this revision. */
  waitFor(revision: number): Promise<void>;
  /** The revision that all caches have passed. */
  readonly revision: number;
}

/** Names of the indexes that informers keep. */
export const PODS_BY_NODE = 'pods-by-node';
/** Pods by the node they are bound to, else pinned to by affinity (`targetNodeOf`): a superset of PODS_BY_NODE. */
export const PODS_BY_TARGET_NODE = 'pods-by-target-node';
/** By uid of the controlling owner. */
export const BY_OWNER = 'by-owner';
/** By uid of each owner, controlling or not. */
export const BY_ANY_OWNER = 'by-any-owner';
export const BY_NAMESPACE = 'by-namespace';
/** Bindings by whom they grant to (`subjectKeysFor`). */
export const BINDINGS_BY_SUBJECT = 'bindings-by-subject';
