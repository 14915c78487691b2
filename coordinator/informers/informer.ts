/** An indexed cache of one kind, fed by list and watch. It never stops by itself. */
import type { KubeObject, ObjectRef } from '../../shared/kube/objects/meta.js';

/** `previous` is absent on an addition, `current` on a deletion. Objects are shared: do not change them. */
export interface ObjectChange<T extends KubeObject> {
  previous?: T;
  current?: T;
}

export interface Informer<T extends KubeObject> {
  get(ref: ObjectRef): T | undefined;
  byUid(uid: string): T | undefined;
  list(): Iterable<T>;
  /** Returns the objects under one value of an index, for example Pods of a node. */
  indexed(index: string, value: string): readonly T[];
  /** Calls `handler` for each present object and for each later change, one at a time. */
  onChange(handler: (change: ObjectChange<T>) => void): void;
  /** Resolves after the first list. */
  synced(): Promise<void>;
  /** Resolves when the cache has reached this revision, so that callers can read their own writes. */
  waitFor(revision: number): Promise<void>;
  readonly size: number;
}

/** The cache of a custom kind, which ends with its definition: its objects are reported as deleted first. */
export interface CustomInformer {
  /** The kind as its definition is now. */
  readonly kind: import('../kinds/kind.js').Kind;
  readonly informer: Informer<KubeObject>;
}

/** The caches of all kinds. They advance together in revision order, so they are consistent with each other. */
export interface Informers {
  readonly pods: Informer<import('../../shared/kube/pods/pod-types.js').Pod>;
  readonly nodes: Informer<import('../../shared/kube/nodes/node-types.js').Node>;
  readonly daemonSets: Informer<import('../../shared/kube/daemonsets/daemonset-types.js').DaemonSet>;
  readonly daemonJobs: Informer<import('../../shared/kube/daemonjobs/daemonjob-types.js').DaemonJob>;
  readonly cronDaemonJobs: Informer<
    import('../../shared/kube/daemonjobs/cron-daemonjob-types.js').CronDaemonJob
  >;
  readonly daemonJobResults: Informer<
    import('../../shared/kube/daemonjobs/daemonjob-types.js').DaemonJobResult
  >;
  readonly jobs: Informer<import('../../shared/kube/jobs/job-types.js').Job>;
  readonly cronJobs: Informer<import('../../shared/kube/jobs/job-types.js').CronJob>;
  readonly controllerRevisions: Informer<
    import('../../shared/kube/daemonsets/daemonset-types.js').ControllerRevision
  >;
  readonly deployments: Informer<import('../../shared/kube/workloads/workload-types.js').Deployment>;
  readonly replicaSets: Informer<import('../../shared/kube/workloads/workload-types.js').ReplicaSet>;
  readonly rolloutPolicies: Informer<
    import('../../shared/kube/rollouts/rollout-policy-types.js').RolloutPolicy
  >;
  readonly daemonSetOverrides: Informer<
    import('../../shared/kube/daemonsets/daemonset-override-types.js').DaemonSetOverride
  >;
  readonly hostValues: Informer<import('../../shared/kube/host-values/host-values-types.js').HostValues>;
  readonly rollouts: Informer<import('../../shared/kube/rollouts/rollout-types.js').Rollout>;
  readonly namespaces: Informer<import('../../shared/kube/objects/config-types.js').Namespace>;
  readonly serviceAccounts: Informer<
    import('../../shared/kube/access/service-account-types.js').ServiceAccount
  >;
  readonly priorityClasses: Informer<import('../../shared/kube/pods/priority-class.js').PriorityClass>;
  readonly podDisruptionBudgets: Informer<
    import('../../shared/kube/policy/disruption-budget-types.js').PodDisruptionBudget
  >;
  readonly limitRanges: Informer<import('../../shared/kube/policy/quota-types.js').LimitRange>;
  readonly resourceQuotas: Informer<import('../../shared/kube/policy/quota-types.js').ResourceQuota>;
  readonly roles: Informer<import('../../shared/kube/access/rbac-types.js').Role>;
  readonly clusterRoles: Informer<import('../../shared/kube/access/rbac-types.js').Role>;
  readonly roleBindings: Informer<import('../../shared/kube/access/rbac-types.js').RoleBinding>;
  readonly clusterRoleBindings: Informer<import('../../shared/kube/access/rbac-types.js').RoleBinding>;
  readonly certificateSigningRequests: Informer<
    import('../../shared/kube/access/certificate-signing-request.js').CertificateSigningRequest
  >;
  readonly admissionPolicies: Informer<
    import('../../shared/kube/admission/admission-policy-types.js').ValidatingAdmissionPolicy
  >;
  readonly admissionPolicyBindings: Informer<
    import('../../shared/kube/admission/admission-policy-types.js').ValidatingAdmissionPolicyBinding
  >;
  readonly mutatingWebhooks: Informer<
    import('../../shared/kube/admission/webhook-types.js').WebhookConfiguration
  >;
  readonly validatingWebhooks: Informer<
    import('../../shared/kube/admission/webhook-types.js').WebhookConfiguration
  >;
  /** Type and metadata of the objects of all other served kinds except Events. */
  readonly metadata: ReadonlyMap<import('../kinds/kind.js').Kind, Informer<KubeObject>>;
  readonly customResourceDefinitions: Informer<
    import('../../shared/kube/objects/custom-resource-definition.js').CustomResourceDefinition
  >;
  /** Calls `added` for each custom kind of now and of later. Only type and metadata of its objects are cached. */
  onCustomKind(added: (informer: CustomInformer) => void): void;
  readonly services: Informer<import('../../shared/kube/services/service-types.js').Service>;
  readonly endpointSlices: Informer<import('../../shared/kube/services/endpoint-types.js').EndpointSlice>;
  readonly endpoints: Informer<import('../../shared/kube/services/endpoint-types.js').Endpoints>;
  readonly configMaps: Informer<import('../../shared/kube/objects/config-types.js').ConfigMap>;
  /** Secrets. An agent's credential, which Pods cannot use, contains only the hash of the key. */
  readonly secrets: Informer<import('../../shared/kube/objects/config-types.js').Secret>;
  /** Returns the cache of any followed kind, typed or not. Undefined: the kind is not followed, such as Events. */
  ofKind(kind: Pick<import('../kinds/kind.js').Kind, 'group' | 'resource'>): Informer<KubeObject> | undefined;
  /** Resolves when every cache has reached this revision. */
  waitFor(revision: number): Promise<void>;
  /** The revision that all caches reflect, also while a handler runs. */
  readonly revision: number;
}

/** Names of the indexes. */
export const PODS_BY_NODE = 'pods-by-node';
/**
 * Pods by the node that they are bound to, or that their affinity names (`targetNodeOf`): a superset of PODS_BY_NODE.
 */
export const PODS_BY_TARGET_NODE = 'pods-by-target-node';
/** Unbound Pods by the node on which lower Pods end for them (`status.nominatedNodeName`). */
export const PODS_BY_NOMINATED_NODE = 'pods-by-nominated-node';
/** By uid of the controlling owner. */
export const BY_OWNER = 'by-owner';
/** By uid of each owner, controlling or not. */
export const BY_ANY_OWNER = 'by-any-owner';
export const BY_NAMESPACE = 'by-namespace';
/** Objects without a controlling owner, by namespace: those that a controller may adopt. */
export const ORPHANS_BY_NAMESPACE = 'orphans-by-namespace';
/** EndpointSlices by `namespace/name` of their Service. */
export const SLICES_BY_SERVICE = 'slices-by-service';
/** Bindings by subject (`subjectKeysFor`). */
export const BINDINGS_BY_SUBJECT = 'bindings-by-subject';
