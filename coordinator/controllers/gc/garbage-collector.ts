/** Deletes what its owners leave behind, and lets owners go once their dependents are seen to. */

import { isNotFound, unlessGone } from '../../../shared/kube/objects/api-status.js';
import { type KubeObject, type OwnerReference, refText } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import {
  dependentStep,
  FOREGROUND_FINALIZER,
  type GarbageStep,
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
  daemonSetKind,
  namespaceKind,
  nodeKind,
  podKind,
  roleBindingKind,
  roleKind,
  rolloutKind,
  rolloutPolicyKind,
  secretKind,
  serviceAccountKind,
} from '../../kinds/index.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { splitKey } from '../queue/object-key.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';

interface GarbageCollectorDeps {
  registry: Registry;
  informers: Informers;
  clock: Clock;
  log: Logger;
}

/** Kinds that are watched for owners and dependents. */
interface Watched {
  kind: Kind;
  informer: Informer<KubeObject>;
}

interface Dependent {
  kind: Kind;
  object: KubeObject;
}

/** Every kind that is served but Events, as upstream (`DefaultIgnoredResources`). */
function watchedKinds({
  pods,
  nodes,
  namespaces,
  daemonSets,
  controllerRevisions,
  configMaps,
  secrets,
  rolloutPolicies,
  rollouts,
  serviceAccounts,
  roles,
  clusterRoles,
  roleBindings,
  clusterRoleBindings,
  certificateSigningRequests,
  metadata,
}: Informers): Watched[] {
  const whole = [
    { kind: podKind, informer: pods },
    { kind: nodeKind, informer: nodes },
    { kind: namespaceKind, informer: namespaces },
    { kind: daemonSetKind, informer: daemonSets },
    { kind: controllerRevisionKind, informer: controllerRevisions },
    { kind: configMapKind, informer: configMaps },
    { kind: secretKind, informer: secrets },
    { kind: rolloutPolicyKind, informer: rolloutPolicies },
    { kind: rolloutKind, informer: rollouts },
    { kind: serviceAccountKind, informer: serviceAccounts },
    { kind: roleKind, informer: roles },
    { kind: clusterRoleKind, informer: clusterRoles },
    { kind: roleBindingKind, informer: roleBindings },
    { kind: clusterRoleBindingKind, informer: clusterRoleBindings },
    { kind: certificateSigningRequestKind, informer: certificateSigningRequests },
  ];
  return [...(whole as Watched[]), ...Array.from(metadata, ([kind, informer]) => ({ kind, informer }))];
}

export class GarbageCollector {
  readonly #parts: GarbageCollectorDeps;
  readonly #worker: Worker;
  readonly #watched: ReadonlyMap<string, Watched>;

  constructor(parts: GarbageCollectorDeps) {
    this.#parts = parts;
    this.#watched = new Map(watchedKinds(parts.informers).map((watched) => [watched.kind.resource, watched]));
    this.#worker = new Worker({
      name: 'garbage-collector',
      reconcile: (key, turn) => this.#reconcile(key, turn),
      ...parts,
      concurrency: 20,
    });
    for (const [resource, { informer }] of this.#watched) {
      informer.onChange((change) => this.#changed(resource, change));
    }
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  #changed(resource: string, { previous, current }: ObjectChange<KubeObject>): void {
    if (current) {
      const { deletionTimestamp, ownerReferences } = current.metadata;
      const isLost = ownerReferences?.some(({ uid }) => this.#ownerState(uid) !== 'present');
      if (deletionTimestamp || isLost) this.#queue(resource, current);
      return;
    }
    if (!previous) return;
    this.#queueDependents(previous);
    for (const { uid } of previous.metadata.ownerReferences ?? []) this.#queueOwner(uid);
  }

  #queue(resource: string, { metadata }: KubeObject): void {
    this.#worker.queue.add(`${resource}:${refText(metadata)}`);
  }

  #queueDependents(owner: KubeObject): void {
    for (const { kind, object } of this.#dependentsOf(owner)) this.#queue(kind.resource, object);
  }

  /** An owner that waits for its dependents has one less. */
  #queueOwner(uid: string): void {
    for (const [resource, { informer }] of this.#watched) {
      const owner = informer.byUid(uid);
      if (owner?.metadata.deletionTimestamp) this.#queue(resource, owner);
    }
  }

  #dependentsOf(owner: KubeObject): Dependent[] {
    const { uid = '' } = owner.metadata;
    return [...this.#watched.values()].flatMap(({ kind, informer }) =>
      informer.indexed(BY_ANY_OWNER, uid).map((object) => ({ kind, object })),
    );
  }

  /** As the caches have it; `gone` may also mean a kind that is not cached. */
  #ownerState(uid: string): OwnerState {
    for (const { informer } of this.#watched.values()) {
      const owner = informer.byUid(uid);
      if (owner) return stateOf(owner);
    }
    return 'gone';
  }

  async #reconcile(key: string, turn: ReconcileContext): Promise<void> {
    const [resource = '', name = ''] = key.split(':');
    const watched = this.#watched.get(resource);
    const object = watched?.informer.get(splitKey(name));
    if (!watched || !object) return;
    await this.#seeToDependents(watched.kind, object, turn);
    const references = object.metadata.ownerReferences ?? [];
    const owners = await Promise.all(
      references.map(async (reference) => ({ reference, state: await this.#confirm(reference, object) })),
    );
    const hasDependents = this.#dependentsOf(object).length > 0;
    await this.#perform(watched.kind, object, dependentStep(object, owners, hasDependents), turn);
  }

  async #seeToDependents(kind: Kind, owner: KubeObject, turn: ReconcileContext): Promise<void> {
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
          await this.#disown(dependent.kind, dependent.object, [owner.metadata.uid ?? ''], turn);
        }
        await this.#dropFinalizer(kind, owner, ORPHAN_FINALIZER, turn);
        return;
      case 'release':
        await this.#dropFinalizer(kind, owner, FOREGROUND_FINALIZER, turn);
        return;
    }
  }

  /** Asks the registry before anything is called gone: caches may lag, and do not hold every kind. */
  async #confirm(
    { apiVersion, kind: kindName, name, uid }: OwnerReference,
    object: KubeObject,
  ): Promise<OwnerState> {
    const cached = this.#ownerState(uid);
    if (cached !== 'gone') return cached;
    const { registry } = this.#parts;
    const kind = registry.kinds.find((one) => one.kind === kindName && apiVersionOf(one) === apiVersion);
    // Nobody knows whether an object of a kind that is not served exists.
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

  async #perform(kind: Kind, object: KubeObject, step: GarbageStep, turn: ReconcileContext): Promise<void> {
    switch (step.step) {
      case 'keep':
        return;
      case 'disown':
        await this.#disown(kind, object, step.uids, turn);
        return;
      case 'delete':
        await unlessGone(async () => {
          const { propagationPolicy } = step;
          const options = { propagationPolicy, preconditions: preconditionsOf(object) };
          const result = await this.#parts.registry.delete(kind, object.metadata, options);
          turn.observeWrite(result.object);
        });
    }
  }

  async #disown(kind: Kind, object: KubeObject, uids: string[], turn: ReconcileContext): Promise<void> {
    await this.#modify(kind, object, turn, (stored) => {
      const references = withoutOwners(stored.metadata.ownerReferences, uids);
      if (references.length > 0) stored.metadata.ownerReferences = references;
      else delete stored.metadata.ownerReferences;
    });
  }

  async #dropFinalizer(
    kind: Kind,
    object: KubeObject,
    finalizer: string,
    turn: ReconcileContext,
  ): Promise<void> {
    await this.#modify(kind, object, turn, (stored) => {
      stored.metadata.finalizers = stored.metadata.finalizers?.filter((one) => one !== finalizer) ?? [];
    });
  }

  async #modify(
    kind: Kind,
    object: KubeObject,
    turn: ReconcileContext,
    change: (stored: KubeObject) => void,
  ): Promise<void> {
    await unlessGone(async () => {
      const record = await this.#parts.registry.modify(
        kind,
        object.metadata,
        (stored) => {
          change(stored);
          return undefined;
        },
        { preconditions: preconditionsOf(object) },
      );
      turn.observeWrite(record.object());
    });
  }
}

function stateOf({ metadata }: KubeObject): OwnerState {
  const isWaiting = metadata.deletionTimestamp && metadata.finalizers?.includes(FOREGROUND_FINALIZER);
  return isWaiting ? 'waiting' : 'present';
}
