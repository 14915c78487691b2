/** Deletes Pods of a deleted node, because no agent can confirm that they stopped (pkg/controller/podgc). */

import { isNotFound, unlessGone } from '../../../shared/kube/objects/api-status.js';
import { withCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod, type PodStatus } from '../../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';
import { nodeKind, podKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';

interface PodGarbageCollectorDeps {
  registry: Registry;
  informers: Informers;
  clock: Clock;
  log: Logger;
}

/**
 * Delay before the Pods of a missing node are deleted. The node may be created again under the same name, or the
 * informer may show its Pods before the node.
 */
const QUARANTINE_MS = 40_000;

/** Keys are names of missing nodes. */
export class PodGarbageCollector {
  readonly #deps: PodGarbageCollectorDeps;
  readonly #worker: Worker;

  constructor(deps: PodGarbageCollectorDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'pod-garbage-collector',
      reconcile: (nodeName, context) => this.#reconcile(nodeName, context),
      ...deps,
    });
    const { nodes, pods } = deps.informers;
    nodes.onChange(({ previous, current }) => {
      if (current) this.#worker.queue.cancelDelay(current.metadata.name);
      else if (previous) this.#worker.queue.addAfter(previous.metadata.name, QUARANTINE_MS);
    });
    pods.onChange(({ previous, current }) => {
      const nodeName = current?.spec.nodeName;
      if (!nodeName || previous?.spec.nodeName === nodeName || nodes.get({ name: nodeName })) return;
      this.#worker.queue.addAfter(nodeName, QUARANTINE_MS);
    });
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  async #reconcile(nodeName: string, context: ReconcileContext): Promise<void> {
    if (await this.#exists(nodeName)) return;
    for (const pod of this.#deps.informers.pods.indexed(PODS_BY_NODE, nodeName)) {
      await unlessGone(() => this.#remove(pod, context));
    }
  }

  async #exists(name: string): Promise<boolean> {
    if (this.#deps.informers.nodes.get({ name })) return true;
    try {
      await this.#deps.registry.get(nodeKind, { name });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async #remove(pod: Pod, context: ReconcileContext): Promise<void> {
    const { registry, log } = this.#deps;
    const preconditions = preconditionsOf(pod);
    log.info({ pod: pod.metadata.name, node: pod.spec.nodeName }, 'deleting a Pod of a deleted node');
    await registry.writeStatus(podKind, pod.metadata, (stored) => this.#lost(stored), preconditions);
    const result = await registry.delete(podKind, pod.metadata, { gracePeriodSeconds: 0, preconditions });
    context.observeWrite(result.object);
  }

  #lost(pod: Pod): PodStatus | undefined {
    if (isPodTerminal(pod)) return undefined;
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
    } as const;
    const now = toTimestamp(this.#deps.clock.now());
    const conditions = withCondition(pod.status?.conditions, condition, now);
    return { ...pod.status, phase: 'Failed', conditions };
  }
}
