/** Creates and deletes the Pods of a ReplicaSet, and writes its status (pkg/controller/replicaset). */
import { isDeepStrictEqual } from 'node:util';
import { isGone, unlessGone } from '../../../shared/kube/objects/api-status.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ReplicaSet } from '../../../shared/kube/workloads/workload-types.js';
import {
  availableFrom,
  BURST_REPLICAS,
  isActivePod,
  podsToDelete,
  type ReplicaFailure,
  replicaSetStatus,
} from '../../decisions/workloads/replica-pods.js';
import { BY_OWNER } from '../../informers/informer.js';
import { podKind, replicaSetKind } from '../../kinds/index.js';
import { controllerReference, preconditionsOf } from '../daemonsets/controller-ref.js';
import { isNamespaceEnding } from '../daemonsets/create-gate.js';
import { splitKey } from '../queue/object-key.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import { claimObjects } from './claimed-objects.js';
import { statusTime, textOf, type WorkloadDeps } from './workload-deps.js';

/** Result of the writes of one reconcile. `error` is thrown after the status is written, so that the key is retried. */
interface Outcome {
  failure?: ReplicaFailure;
  error?: unknown;
}

export class ReplicaSetReconciler {
  readonly #deps: WorkloadDeps;

  constructor(deps: WorkloadDeps) {
    this.#deps = deps;
  }

  async reconcile(key: string, context: ReconcileContext): Promise<void> {
    const replicaSet = this.#deps.informers.replicaSets.get(splitKey(key));
    if (!replicaSet) return;
    const candidates = { kind: podKind, informer: this.#deps.informers.pods };
    const owner = { kind: replicaSetKind, object: replicaSet };
    const pods = await claimObjects(this.#deps, owner, candidates, context);
    const outcome = replicaSet.metadata.deletionTimestamp
      ? {}
      : await this.#manage(replicaSet, pods, context);
    await this.#writeStatus(replicaSet, pods, outcome, context);
    if (outcome.error !== undefined) throw outcome.error;
  }

  async #manage(replicaSet: ReplicaSet, pods: readonly Pod[], context: ReconcileContext): Promise<Outcome> {
    const active = pods.filter(isActivePod);
    const missing = (replicaSet.spec.replicas ?? 0) - active.length;
    if (missing > 0) return this.#create(replicaSet, Math.min(missing, BURST_REPLICAS), context);
    if (missing === 0) return {};
    const related = this.#related(replicaSet, active);
    const count = Math.min(-missing, BURST_REPLICAS);
    return this.#delete(replicaSet, podsToDelete(active, related, count, this.#deps.clock.now()), context);
  }

  /** Returns the active Pods of all ReplicaSets of the same owner. */
  #related({ metadata }: ReplicaSet, own: readonly Pod[]): readonly Pod[] {
    const { replicaSets, pods } = this.#deps.informers;
    const owner = controllerOf(metadata);
    if (!owner) return own;
    return replicaSets
      .indexed(BY_OWNER, owner.uid)
      .flatMap((sibling) => pods.indexed(BY_OWNER, sibling.metadata.uid ?? '').filter(isActivePod));
  }

  /** Batches of 1, 2, 4 … (slowStartBatch): a template that is always refused costs one request, not 500. */
  async #create(replicaSet: ReplicaSet, count: number, context: ReconcileContext): Promise<Outcome> {
    for (let made = 0, size = 1; made < count; made += size, size = Math.min(2 * size, count - made)) {
      const writes = Array.from({ length: size }, () => this.#createPod(replicaSet, context));
      const results = await Promise.allSettled(writes);
      const failed = results.find((result) => result.status === 'rejected');
      if (!failed) continue;
      // Nothing can be created in this namespace any more.
      if (isNamespaceEnding(failed.reason)) return {};
      return { failure: { reason: 'FailedCreate', message: textOf(failed.reason) }, error: failed.reason };
    }
    return {};
  }

  async #createPod(replicaSet: ReplicaSet, context: ReconcileContext): Promise<void> {
    const { registry, recordEvent } = this.#deps;
    const { metadata, spec } = structuredClone(replicaSet.spec.template);
    const { labels, annotations, finalizers } = metadata ?? {};
    const pod = {
      metadata: {
        generateName: `${replicaSet.metadata.name}-`,
        ...(labels && { labels }),
        ...(annotations && { annotations }),
        ...(finalizers && { finalizers }),
        ownerReferences: [controllerReference({ kind: replicaSetKind, object: replicaSet })],
      },
      spec,
    };
    try {
      const created = (await registry.create(podKind, replicaSet.metadata.namespace, pod)).object();
      context.observeWrite(created);
      recordEvent(replicaSet, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    } catch (error) {
      if (!isNamespaceEnding(error)) {
        recordEvent(replicaSet, 'Warning', 'FailedCreate', `Error creating: ${textOf(error)}`);
      }
      throw error;
    }
  }

  async #delete(
    replicaSet: ReplicaSet,
    victims: readonly Pod[],
    context: ReconcileContext,
  ): Promise<Outcome> {
    const { registry, recordEvent } = this.#deps;
    const remove = async (pod: Pod) => {
      try {
        const result = await registry.delete(podKind, pod.metadata, { preconditions: preconditionsOf(pod) });
        context.observeWrite(result.object);
        recordEvent(replicaSet, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
      } catch (error) {
        if (isGone(error)) return;
        recordEvent(replicaSet, 'Warning', 'FailedDelete', `Error deleting: ${textOf(error)}`);
        throw error;
      }
    };
    const results = await Promise.allSettled(victims.map(remove));
    const failed = results.find((result) => result.status === 'rejected');
    if (!failed) return {};
    return { failure: { reason: 'FailedDelete', message: textOf(failed.reason) }, error: failed.reason };
  }

  async #writeStatus(
    replicaSet: ReplicaSet,
    pods: readonly Pod[],
    { failure }: Outcome,
    context: ReconcileContext,
  ): Promise<void> {
    const time = statusTime(this.#deps);
    const next = replicaSetStatus(replicaSet, pods, failure, time);
    const waits = pods
      .filter((pod) => !isPodTerminal(pod))
      .map((pod) => (availableFrom(pod, replicaSet.spec.minReadySeconds ?? 0) ?? 0) - time.now)
      .filter((wait) => wait > 0);
    if (waits.length > 0) context.requeueAfter(Math.min(...waits));
    if (isDeepStrictEqual(replicaSet.status, next)) return;
    await unlessGone(async () => {
      const { registry } = this.#deps;
      const record = await registry.writeStatus(
        replicaSetKind,
        replicaSet.metadata,
        (stored) => (isDeepStrictEqual(stored.status, next) ? undefined : next),
        preconditionsOf(replicaSet),
      );
      context.observeWrite(record.object());
    });
  }
}
