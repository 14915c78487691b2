/** One watch on the registry feeds the caches of all kinds that the controllers and the hub use. */

import type { CertificateSigningRequest } from '../../shared/kube/access/certificate-signing-request.js';
import type { Role, RoleBinding } from '../../shared/kube/access/rbac-types.js';
import type { ServiceAccount } from '../../shared/kube/access/service-account-types.js';
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../shared/kube/admission/admission-policy-types.js';
import type { WebhookConfiguration } from '../../shared/kube/admission/webhook-types.js';
import type { CronDaemonJob } from '../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import type { DaemonJob, DaemonJobResult } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import type { DaemonSetOverride } from '../../shared/kube/daemonsets/daemonset-override-types.js';
import type { ControllerRevision, DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { HostValues } from '../../shared/kube/host-values/host-values-types.js';
import type { CronJob, Job } from '../../shared/kube/jobs/job-types.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import { ApiError } from '../../shared/kube/objects/api-status.js';
import type { ConfigMap, Namespace, Secret } from '../../shared/kube/objects/config-types.js';
import type { CustomResourceDefinition } from '../../shared/kube/objects/custom-resource-definition.js';
import { type KubeObject, refText } from '../../shared/kube/objects/meta.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { PriorityClass } from '../../shared/kube/pods/priority-class.js';
import type { PodDisruptionBudget } from '../../shared/kube/policy/disruption-budget-types.js';
import type { LimitRange, ResourceQuota } from '../../shared/kube/policy/quota-types.js';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import type { EndpointSlice, Endpoints } from '../../shared/kube/services/endpoint-types.js';
import type { Service } from '../../shared/kube/services/service-types.js';
import type { Deployment, ReplicaSet } from '../../shared/kube/workloads/workload-types.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { TimeSlice } from '../../shared/process/time/time-slice.js';
import { CREDENTIAL_SECRET_TYPE } from '../kinds/config/secret-kind.js';
import {
  certificateSigningRequestKind,
  clusterRoleBindingKind,
  clusterRoleKind,
  configMapKind,
  controllerRevisionKind,
  cronDaemonJobKind,
  cronJobKind,
  customResourceDefinitionKind,
  daemonJobKind,
  daemonJobResultKind,
  daemonSetKind,
  daemonSetOverrideKind,
  deploymentKind,
  endpointSliceKind,
  endpointsKind,
  hostValuesKind,
  jobKind,
  limitRangeKind,
  mutatingWebhookConfigurationKind,
  namespaceKind,
  nodeKind,
  podDisruptionBudgetKind,
  podKind,
  priorityClassKind,
  replicaSetKind,
  resourceQuotaKind,
  roleBindingKind,
  roleKind,
  rolloutKind,
  rolloutPolicyKind,
  secretKind,
  serviceAccountKind,
  serviceKind,
  validatingAdmissionPolicyBindingKind,
  validatingAdmissionPolicyKind,
  validatingWebhookConfigurationKind,
} from '../kinds/index.js';
import { type Kind, withoutConversion } from '../kinds/kind.js';
import type { KindTail, ObjectRecord, Registry } from '../registry/registry.js';
import { resourcePath } from '../registry/storage-keys.js';
import { CachedInformer } from './cached-informer.js';
import { sharingEqualParts } from './equal-parts.js';
import type { CustomInformer, Informer, Informers } from './informer.js';
import {
  BINDING_INDEXES,
  COMMON_INDEXES,
  type IndexFunctions,
  POD_INDEXES,
  REPLICA_SET_INDEXES,
  SLICE_INDEXES,
} from './informer-indexes.js';
import { RevisionWaiters } from './revision-waiters.js';

interface InformersOptions {
  registry: Registry;
  clock: Clock;
  log: Logger;
}

/** Delay before the next attempt if the registry fails. A relist after Expired starts at once. */
const RETRY_MS = 1_000;

/** Returns informers that follow the registry until `stop()`. They recover from all errors. */
export function createInformers(options: InformersOptions): Informers & { stop(): Promise<void> } {
  return new FollowingInformers(options);
}

/** The operations of a feed on a cache of any type. */
interface Feed {
  kind: Kind;
  apply(record: ObjectRecord, type: 'ADDED' | 'MODIFIED' | 'DELETED'): void;
  /** Lists the objects at this revision, or the present ones. Returns the revision. */
  relist(revision: string | undefined): Promise<string>;
}

interface CustomFeed extends CustomInformer {
  kind: Kind;
  cache: CachedInformer<KubeObject>;
}

function metadataOnly({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata };
}

/** There is one credential a node. Only its metadata and the hash of the node's key are needed in memory. */
function withoutCredential(secret: Secret): Secret {
  if (secret.type !== CREDENTIAL_SECRET_TYPE) return secret;
  const { data, ...rest } = secret;
  if (data?.key === undefined) return rest;
  const { key, 'not-after': end } = data;
  return { ...rest, data: { key, ...(end === undefined ? {} : { 'not-after': end }) } };
}

class FollowingInformers implements Informers {
  readonly pods: CachedInformer<Pod>;
  readonly nodes: CachedInformer<Node>;
  readonly cronDaemonJobs: CachedInformer<CronDaemonJob>;
  readonly daemonJobs: CachedInformer<DaemonJob>;
  readonly daemonJobResults: CachedInformer<DaemonJobResult>;
  readonly daemonSets: CachedInformer<DaemonSet>;
  readonly jobs: CachedInformer<Job>;
  readonly cronJobs: CachedInformer<CronJob>;
  readonly controllerRevisions: CachedInformer<ControllerRevision>;
  readonly deployments: CachedInformer<Deployment>;
  readonly replicaSets: CachedInformer<ReplicaSet>;
  readonly rolloutPolicies: CachedInformer<RolloutPolicy>;
  readonly rollouts: CachedInformer<Rollout>;
  readonly daemonSetOverrides: CachedInformer<DaemonSetOverride>;
  readonly hostValues: CachedInformer<HostValues>;
  readonly namespaces: CachedInformer<Namespace>;
  readonly serviceAccounts: CachedInformer<ServiceAccount>;
  readonly priorityClasses: CachedInformer<PriorityClass>;
  readonly podDisruptionBudgets: CachedInformer<PodDisruptionBudget>;
  readonly limitRanges: CachedInformer<LimitRange>;
  readonly resourceQuotas: CachedInformer<ResourceQuota>;
  readonly roles: CachedInformer<Role>;
  readonly clusterRoles: CachedInformer<Role>;
  readonly roleBindings: CachedInformer<RoleBinding>;
  readonly clusterRoleBindings: CachedInformer<RoleBinding>;
  readonly certificateSigningRequests: CachedInformer<CertificateSigningRequest>;
  readonly customResourceDefinitions: CachedInformer<CustomResourceDefinition>;
  readonly admissionPolicies: CachedInformer<ValidatingAdmissionPolicy>;
  readonly admissionPolicyBindings: CachedInformer<ValidatingAdmissionPolicyBinding>;
  readonly mutatingWebhooks: CachedInformer<WebhookConfiguration>;
  readonly validatingWebhooks: CachedInformer<WebhookConfiguration>;
  readonly metadata: ReadonlyMap<Kind, CachedInformer<KubeObject>>;
  readonly services: CachedInformer<Service>;
  readonly endpointSlices: CachedInformer<EndpointSlice>;
  readonly endpoints: CachedInformer<Endpoints>;
  readonly configMaps: CachedInformer<ConfigMap>;
  readonly secrets: CachedInformer<Secret>;
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** By resource path. */
  readonly #feeds = new Map<string, Feed>();
  /** By resource path. */
  readonly #caches = new Map<string, Informer<KubeObject>>();
  readonly #custom = new Map<string, CustomFeed>();
  readonly #onCustom: ((informer: CustomInformer) => void)[] = [];
  readonly #waiters = new RevisionWaiters();
  readonly #stopping = new AbortController();
  /** Revision of the change that the caches have applied last, also within a batch. */
  #applied = -1;
  #tail: KindTail | undefined;
  readonly #running: Promise<void>;

  constructor({ registry, clock, log }: InformersOptions) {
    this.#registry = registry;
    this.#clock = clock;
    this.#log = log.child({ component: 'informers' });
    // First, because the custom kinds are listed after it.
    this.customResourceDefinitions = this.#cache(customResourceDefinitionKind, COMMON_INDEXES);
    this.customResourceDefinitions.onChange(({ previous, current }) => {
      if (current) registry.customKinds.put(current);
      else if (previous) registry.customKinds.remove(previous.metadata.name);
    });
    this.nodes = this.#cache(nodeKind, {}, sharingEqualParts());
    this.namespaces = this.#cache(namespaceKind, {});
    this.cronDaemonJobs = this.#cache(cronDaemonJobKind, COMMON_INDEXES);
    this.daemonJobs = this.#cache(daemonJobKind, COMMON_INDEXES);
    this.daemonJobResults = this.#cache(daemonJobResultKind, COMMON_INDEXES);
    this.daemonSets = this.#cache(daemonSetKind, COMMON_INDEXES);
    this.controllerRevisions = this.#cache(controllerRevisionKind, COMMON_INDEXES);
    this.jobs = this.#cache(jobKind, COMMON_INDEXES);
    this.cronJobs = this.#cache(cronJobKind, COMMON_INDEXES);
    this.deployments = this.#cache(deploymentKind, COMMON_INDEXES);
    this.replicaSets = this.#cache(replicaSetKind, REPLICA_SET_INDEXES);
    this.rolloutPolicies = this.#cache(rolloutPolicyKind, COMMON_INDEXES);
    this.rollouts = this.#cache(rolloutKind, COMMON_INDEXES);
    this.daemonSetOverrides = this.#cache(daemonSetOverrideKind, COMMON_INDEXES);
    this.hostValues = this.#cache(hostValuesKind, COMMON_INDEXES);
    this.certificateSigningRequests = this.#cache(certificateSigningRequestKind, COMMON_INDEXES);
    this.configMaps = this.#cache(configMapKind, COMMON_INDEXES);
    this.services = this.#cache(serviceKind, COMMON_INDEXES);
    this.endpointSlices = this.#cache(endpointSliceKind, SLICE_INDEXES);
    this.endpoints = this.#cache(endpointsKind, COMMON_INDEXES);
    this.secrets = this.#cache(secretKind, COMMON_INDEXES, withoutCredential);
    this.serviceAccounts = this.#cache(serviceAccountKind, COMMON_INDEXES);
    this.priorityClasses = this.#cache(priorityClassKind, COMMON_INDEXES);
    this.podDisruptionBudgets = this.#cache(podDisruptionBudgetKind, COMMON_INDEXES);
    this.limitRanges = this.#cache(limitRangeKind, COMMON_INDEXES);
    this.resourceQuotas = this.#cache(resourceQuotaKind, COMMON_INDEXES);
    this.roles = this.#cache(roleKind, COMMON_INDEXES);
    this.clusterRoles = this.#cache(clusterRoleKind, COMMON_INDEXES);
    this.roleBindings = this.#cache(roleBindingKind, BINDING_INDEXES);
    this.clusterRoleBindings = this.#cache(clusterRoleBindingKind, BINDING_INDEXES);
    this.admissionPolicies = this.#cache(validatingAdmissionPolicyKind, COMMON_INDEXES);
    this.admissionPolicyBindings = this.#cache(validatingAdmissionPolicyBindingKind, COMMON_INDEXES);
    this.mutatingWebhooks = this.#cache(mutatingWebhookConfigurationKind, COMMON_INDEXES);
    this.validatingWebhooks = this.#cache(validatingWebhookConfigurationKind, COMMON_INDEXES);
    this.pods = this.#cache(podKind, POD_INDEXES, sharingEqualParts());
    const others = registry.kinds.filter(
      (other) => other.kind !== 'Event' && !this.#feeds.has(resourcePath(other)),
    );
    this.metadata = new Map(others.map((other) => [other, this.#cache(other, COMMON_INDEXES, metadataOnly)]));
    this.#running = this.#run();
  }

  get revision(): number {
    return Math.max(this.#applied, this.#waiters.reached);
  }

  ofKind(kind: Pick<Kind, 'group' | 'resource'>): Informer<KubeObject> | undefined {
    return this.#caches.get(resourcePath(kind));
  }

  waitFor(revision: number): Promise<void> {
    return this.#waiters.wait(revision);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#tail?.close();
    this.#waiters.close();
    await this.#running;
  }

  #cache<T extends KubeObject>(
    kind: Kind<T>,
    indexes: IndexFunctions<T>,
    keep?: (object: T, previous?: T) => T,
  ): CachedInformer<T> {
    const progress = {
      // The first revision reached is the revision of the first complete list.
      synced: () => this.#waiters.wait(0),
      waitFor: (revision: number) => this.waitFor(revision),
    };
    const cache = new CachedInformer<T>(indexes, progress, this.#log, keep);
    this.#caches.set(resourcePath(kind), cache as unknown as Informer<KubeObject>);
    this.#feeds.set(resourcePath(kind), {
      kind: kind as Kind,
      apply: (record, type) => cache.apply(record as ObjectRecord<T>, type),
      relist: (revision) => this.#relist(withoutConversion(kind), cache, revision),
    });
    return cache;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#follow(await this.#relistAll());
      } catch (error) {
        if (error instanceof ApiError && error.reason === 'Expired') continue;
        this.#log.warn({ err: error }, 'informers lost the connection to the registry and will list again');
        await this.#pause(RETRY_MS);
      }
    }
  }

  /** Resolves after `ms`, or when the informers stop. */
  #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping;
    return new Promise((resolve) => {
      const done = () => {
        timer.cancel();
        // The signal lives longer than this wait, so remove the listener.
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.#clock.after(ms, done);
      signal.addEventListener('abort', done);
    });
  }

  /** Lists all kinds at one revision, so that the caches are consistent with each other. */
  async #relistAll(): Promise<number> {
    let revision: string | undefined;
    // A map also visits the feeds that are added meanwhile: those of the custom kinds.
    for (const feed of this.#feeds.values()) {
      revision = await feed.relist(revision);
      if (feed.kind.resource === customResourceDefinitionKind.resource) this.#followCustomKinds();
    }
    this.#waiters.reach(Number(revision ?? 0));
    return Number(revision ?? 0);
  }

  async #relist<T extends KubeObject>(
    kind: Kind<T>,
    cache: CachedInformer<T>,
    revision: string | undefined,
  ): Promise<string> {
    const exact =
      revision && revision !== '0' ? { resourceVersion: revision, resourceVersionMatch: 'Exact' } : {};
    const { records, resourceVersion } = await this.#registry.list(kind, exact);
    const slice = new TimeSlice(this.#clock);
    const keys = new Set<string>();
    for (const record of records) {
      const { metadata } = record.object();
      // Computed objects have no changes to follow.
      if (kind.reader && kind.reader.namespace === metadata.namespace) continue;
      keys.add(refText(metadata));
      if (cache.get(metadata)?.metadata.resourceVersion !== String(record.revision))
        cache.apply(record, 'MODIFIED');
      await slice.yieldIfUsedUp();
    }
    cache.retain(keys);
    return resourceVersion;
  }

  /** Adds and removes caches, so that there is one for each custom kind. Returns the new feeds. */
  #followCustomKinds(): Feed[] {
    const served = new Map(this.#registry.customKinds.stored().map((kind) => [resourcePath(kind), kind]));
    for (const [path, { cache }] of this.#custom) {
      if (served.has(path)) continue;
      this.#feeds.delete(path);
      this.#caches.delete(path);
      this.#custom.delete(path);
      cache.retain(new Set());
    }
    return [...served].flatMap(([path, kind]) => {
      const known = this.#custom.get(path);
      // The definition may have changed, for example its conversion.
      if (known) known.kind = kind;
      if (this.#feeds.has(path)) return [];
      const cache = this.#cache(kind, COMMON_INDEXES, metadataOnly);
      const informer = { kind, informer: cache, cache };
      this.#custom.set(path, informer);
      for (const added of this.#onCustom) added(informer);
      const feed = this.#feeds.get(path);
      return feed ? [feed] : [];
    });
  }

  onCustomKind(added: (informer: CustomInformer) => void): void {
    this.#onCustom.push(added);
    for (const informer of this.#custom.values()) added(informer);
  }

  async #follow(revision: number): Promise<void> {
    const tail = this.#registry.follow((path) => this.#feeds.get(path)?.kind, revision);
    this.#tail = tail;
    if (this.#stopping.signal.aborted) tail.close();
    const slice = new TimeSlice(this.#clock);
    for await (const batch of tail) {
      for (const { kind, record, type } of batch.changes) {
        // A handler may send what it sees under this revision, and the loop may pause before the batch is complete.
        this.#applied = record.revision;
        this.#feeds.get(resourcePath(kind))?.apply(record, type);
        // Always awaited, so that the slice includes what the handlers start. Otherwise that would run as one block later.
        await slice.yieldIfUsedUp();
      }
      const hasDefinitions = batch.changes.some(({ kind }) => kind.kind === 'CustomResourceDefinition');
      // At the end of the batch, whose changes were read before the new kinds were known.
      const added = hasDefinitions ? this.#followCustomKinds() : [];
      for (const feed of added) await feed.relist(String(batch.revision));
      this.#waiters.reach(batch.revision);
    }
  }
}
