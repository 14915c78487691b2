/** Deletes objects without owners, and removes the finalizers of owners when their dependents are handled. */

import { isNotFound, unlessGone } from '../../../shared/kube/objects/api-status.js';
import { type KubeObject, type OwnerReference, refText } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import {
  dependentStep,
  FOREGROUND_FINALIZER,
  type GarbageStep,
  handlesDependents,
  ORPHAN_FINALIZER,
  type OwnerState,
  ownerStep,
  withoutOwners,
} from '../../decisions/gc/garbage-steps.js';
import { BY_ANY_OWNER, type Informer, type Informers, type ObjectChange } from '../../informers/informer.js';
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
} from '../../kinds/index.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import { resourcePath } from '../../registry/storage-keys.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { splitKey } from '../queue/object-key.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';

interface GarbageCollectorDeps {
  registry: Registry;
  informers: Informers;
  clock: Clock;
  log: Logger;
}

/** A watched kind. Its objects can be owners and dependents. */
interface Watched {
  kind: Kind;
  informer: Informer<KubeObject>;
}

interface Dependent {
  kind: Kind;
  object: KubeObject;
}

/** Returns every served kind except Events, like upstream (`DefaultIgnoredResources`). */
function watchedKinds({
  pods,
  nodes,
  namespaces,
  cronDaemonJobs,
  daemonJobs,
  daemonJobResults,
  daemonSets,
  jobs,
  cronJobs,
  deployments,
  replicaSets,
  controllerRevisions,
  configMaps,
  secrets,
  rolloutPolicies,
  rollouts,
  serviceAccounts,
  priorityClasses,
  roles,
  clusterRoles,
  roleBindings,
  clusterRoleBindings,
  certificateSigningRequests,
  services,
  endpointSlices,
  endpoints,
  podDisruptionBudgets,
  limitRanges,
  resourceQuotas,
  customResourceDefinitions,
  admissionPolicies,
  admissionPolicyBindings,
  mutatingWebhooks,
  validatingWebhooks,
  daemonSetOverrides,
  hostValues,
  metadata,
}: Informers): Watched[] {
  const whole = [
    { kind: podKind, informer: pods },
    { kind: nodeKind, informer: nodes },
    { kind: namespaceKind, informer: namespaces },
    { kind: daemonSetKind, informer: daemonSets },
    { kind: cronDaemonJobKind, informer: cronDaemonJobs },
    { kind: daemonJobKind, informer: daemonJobs },
    { kind: daemonJobResultKind, informer: daemonJobResults },
    { kind: jobKind, informer: jobs },
    { kind: cronJobKind, informer: cronJobs },
    { kind: deploymentKind, informer: deployments },
    { kind: replicaSetKind, informer: replicaSets },
    { kind: controllerRevisionKind, informer: controllerRevisions },
    { kind: configMapKind, informer: configMaps },
    { kind: secretKind, informer: secrets },
    { kind: daemonSetOverrideKind, informer: daemonSetOverrides },
    { kind: hostValuesKind, informer: hostValues },
    { kind: rolloutPolicyKind, informer: rolloutPolicies },
    { kind: rolloutKind, informer: rollouts },
    { kind: serviceAccountKind, informer: serviceAccounts },
    { kind: priorityClassKind, informer: priorityClasses },
    { kind: roleKind, informer: roles },
    { kind: clusterRoleKind, informer: clusterRoles },
    { kind: roleBindingKind, informer: roleBindings },
    { kind: clusterRoleBindingKind, informer: clusterRoleBindings },
    { kind: certificateSigningRequestKind, informer: certificateSigningRequests },
    { kind: serviceKind, informer: services },
    { kind: endpointSliceKind, informer: endpointSlices },
    { kind: endpointsKind, informer: endpoints },
    { kind: podDisruptionBudgetKind, informer: podDisruptionBudgets },
    { kind: limitRangeKind, informer: limitRanges },
    { kind: resourceQuotaKind, informer: resourceQuotas },
    { kind: customResourceDefinitionKind, informer: customResourceDefinitions },
    { kind: validatingAdmissionPolicyKind, informer: admissionPolicies },
    { kind: validatingAdmissionPolicyBindingKind, informer: admissionPolicyBindings },
    { kind: mutatingWebhookConfigurationKind, informer: mutatingWebhooks },
    { kind: validatingWebhookConfigurationKind, informer: validatingWebhooks },
  ];
  return [...(whole as Watched[]), ...Array.from(metadata, ([kind, informer]) => ({ kind, informer }))];
}

/**
 * Returns the uids of owners that the object no longer blocks. Such an owner may wait for nothing else (`graph_builder.go`
 * addUnblockedOwnersToDeleteQueue).
 */
function unblockedOwners(previous: KubeObject | undefined, current: KubeObject): string[] {
  const blocked = blockedOwners(previous);
  if (blocked.length === 0) return blocked;
  const still = blockedOwners(current);
  return blocked.filter((uid) => !still.includes(uid));
}

function blockedOwners(object: KubeObject | undefined): string[] {
  const references = object?.metadata.ownerReferences ?? [];
  return references.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid);
}

export class GarbageCollector {
  readonly #deps: GarbageCollectorDeps;
  readonly #worker: Worker;
  /** By resource path. */
  readonly #watched = new Map<string, Watched>();

  constructor(deps: GarbageCollectorDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'garbage-collector',
      reconcile: (key, context) => this.#reconcile(key, context),
      ...deps,
      concurrency: 20,
    });
    for (const watched of watchedKinds(deps.informers)) this.#watch(watched);
    deps.informers.onCustomKind((watched) => this.#watch(watched));
  }

  #watch(watched: Watched): void {
    const path = resourcePath(watched.kind);
    this.#watched.set(path, watched);
    watched.informer.onChange((change) => this.#changed(path, change));
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  #changed(resource: string, { previous, current }: ObjectChange<KubeObject>): void {
    if (current) {
      if (handlesDependents(current) || this.#isLost(current)) this.#queue(resource, current);
      for (const uid of unblockedOwners(previous, current)) this.#queueOwner(uid);
      return;
    }
    if (!previous) return;
    this.#queueDependents(previous);
    for (const { uid } of previous.metadata.ownerReferences ?? []) this.#queueOwner(uid);
  }

  /** An object that is being deleted needs no other deletion. */
  #isLost({ metadata: { deletionTimestamp, ownerReferences = [] } }: KubeObject): boolean {
    return !deletionTimestamp && ownerReferences.some(({ uid }) => this.#ownerState(uid) !== 'present');
  }

  #queue(resource: string, { metadata }: KubeObject): void {
    this.#worker.queue.add(`${resource}:${refText(metadata)}`);
  }

  /** Dependents that are being deleted already need nothing. There are as many as a DaemonSet has Pods. */
  #queueDependents(owner: KubeObject): void {
    for (const { kind, object } of this.#dependentsOf(owner)) {
      if (!object.metadata.deletionTimestamp) this.#queue(resourcePath(kind), object);
    }
  }

  /** An owner in foreground deletion may have no dependents left. */
  #queueOwner(uid: string): void {
    for (const [resource, { informer }] of this.#watched) {
      const owner = informer.byUid(uid);
      if (!owner) continue;
      if (handlesDependents(owner)) this.#queue(resource, owner);
      return;
    }
  }

  #dependentsOf(owner: KubeObject): Dependent[] {
    const { uid = '' } = owner.metadata;
    const dependents: Dependent[] = [];
    for (const { kind, informer } of this.#watched.values()) {
      for (const object of informer.indexed(BY_ANY_OWNER, uid)) dependents.push({ kind, object });
    }
    return dependents;
  }

  /** State in the caches. `gone` may also mean that the kind is not cached. */
  #ownerState(uid: string): OwnerState {
    for (const { informer } of this.#watched.values()) {
      const owner = informer.byUid(uid);
      if (owner) return stateOf(owner);
    }
    return 'gone';
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const [resource = '', name = ''] = key.split(':');
    const watched = this.#watched.get(resource);
    const object = watched?.informer.get(splitKey(name));
    if (!watched || !object) return;
    await this.#handleDependents(watched.kind, object, context);
    const references = object.metadata.ownerReferences ?? [];
    const owners = await Promise.all(
      references.map(async (reference) => ({ reference, state: await this.#confirm(reference, object) })),
    );
    const hasDependents = this.#dependentsOf(object).length > 0;
    await this.#perform(watched.kind, object, dependentStep(object, owners, hasDependents), context);
  }

  async #handleDependents(kind: Kind, owner: KubeObject, context: ReconcileContext): Promise<void> {
    const dependents = this.#dependentsOf(owner);
    const step = ownerStep(
      owner,
      dependents.map(({ object }) => object),
    );
    switch (step) {
      case 'nothing':
        return;
      case 'wait':
        this.#queueDependents(owner);
        return;
      case 'orphan':
        for (const dependent of dependents) {
          await this.#disown(dependent.kind, dependent.object, [owner.metadata.uid ?? ''], context);
        }
        await this.#dropFinalizer(kind, owner, ORPHAN_FINALIZER, context);
        return;
      case 'release':
        await this.#dropFinalizer(kind, owner, FOREGROUND_FINALIZER, context);
        return;
    }
  }

  /** Confirms a missing owner with the registry, because caches may lag and do not contain every kind. */
  async #confirm(
    { apiVersion, kind: kindName, name, uid }: OwnerReference,
    object: KubeObject,
  ): Promise<OwnerState> {
    const cached = this.#ownerState(uid);
    if (cached !== 'gone') return cached;
    const { registry } = this.#deps;
    const kind = registry.allKinds().find((one) => one.kind === kindName && apiVersionOf(one) === apiVersion);
    // The kind is not served, so the owner may exist elsewhere.
    if (!kind) return 'present';
    const { namespace } = object.metadata;
    try {
      const owner = (
        await registry.get(kind, kind.namespaced && namespace ? { namespace, name } : { name })
      ).object();
      return owner.metadata.uid === uid ? stateOf(owner) : 'gone';
    } catch (error) {
      if (isNotFound(error)) return 'gone';
      throw error;
    }
  }

  async #perform(
    kind: Kind,
    object: KubeObject,
    step: GarbageStep,
    context: ReconcileContext,
  ): Promise<void> {
    switch (step.step) {
      case 'keep':
        return;
      case 'disown':
        await this.#disown(kind, object, step.uids, context);
        return;
      case 'delete':
        await unlessGone(async () => {
          const { propagationPolicy } = step;
          const options = { propagationPolicy, preconditions: preconditionsOf(object) };
          const result = await this.#deps.registry.delete(kind, object.metadata, options);
          context.observeWrite(result.object);
        });
    }
  }

  async #disown(kind: Kind, object: KubeObject, uids: string[], context: ReconcileContext): Promise<void> {
    await this.#modify(kind, object, context, (stored) => {
      const references = withoutOwners(stored.metadata.ownerReferences, uids);
      if (references.length > 0) stored.metadata.ownerReferences = references;
      else delete stored.metadata.ownerReferences;
    });
  }

  async #dropFinalizer(
    kind: Kind,
    object: KubeObject,
    finalizer: string,
    context: ReconcileContext,
  ): Promise<void> {
    await this.#modify(kind, object, context, (stored) => {
      stored.metadata.finalizers = stored.metadata.finalizers?.filter((one) => one !== finalizer) ?? [];
    });
  }

  async #modify(
    kind: Kind,
    object: KubeObject,
    context: ReconcileContext,
    change: (stored: KubeObject) => void,
  ): Promise<void> {
    await unlessGone(async () => {
      const record = await this.#deps.registry.modify(
        kind,
        object.metadata,
        (stored) => {
          change(stored);
          return undefined;
        },
        { preconditions: preconditionsOf(object) },
      );
      context.observeWrite(record.object());
    });
  }
}

function stateOf({ metadata }: KubeObject): OwnerState {
  const isWaiting = metadata.deletionTimestamp && metadata.finalizers?.includes(FOREGROUND_FINALIZER);
  return isWaiting ? 'waiting' : 'present';
}
