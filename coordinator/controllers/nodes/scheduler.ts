/** Binds unbound Pods: bare Pods, and DaemonSet Pods that did not fit on their node when they were created. */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import { findCondition, withCondition } from '../../../shared/kube/objects/conditions.js';
import { refText, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import {
  DEFAULT_SCHEDULER,
  FitRefusals,
  fitRefusals,
  NOT_THE_PINNED_NODE,
  nodeScore,
  pinnedNode,
} from '../../decisions/placement/pod-fit.js';
import type { Informers, ObjectChange } from '../../informers/informer.js';
import { podKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { splitKey } from '../queue/object-key.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import type { NodeReservations } from './node-reservations.js';

interface SchedulerDeps {
  registry: Registry;
  informers: Informers;
  reservations: NodeReservations;
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
}

/** Without any change, upstream retries unschedulable Pods after five minutes. */
const RETRY_MS = 300_000;

/** Key for Pods that are not pinned to a node. */
const NO_NODE = '';

type Verdict = { node: string } | { message: string };

export class Scheduler {
  readonly #deps: SchedulerDeps;
  readonly #worker: Worker;
  /** Unbound Pods by the node that they are pinned to. Other Pods are under NO_NODE. */
  readonly #pending = new Map<string, Set<string>>();

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'scheduler',
      reconcile: (key, context) => this.#schedule(key, context),
      ...deps,
      concurrency: 4,
    });
    deps.informers.pods.onChange((change) => this.#podChanged(change));
    deps.informers.nodes.onChange(({ previous, current }) =>
      this.#capacityChanged((current ?? previous)?.metadata.name ?? NO_NODE),
    );
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  #podChanged({ previous, current }: ObjectChange<Pod>): void {
    if (current && isSchedulable(current)) {
      const key = refText(current.metadata);
      this.#pendingOn(pinnedNode(current)).add(key);
      // A change of the Pod's own conditions does not affect its scheduling.
      if (!previous || !sameSpec(previous, current)) this.#worker.queue.add(key);
      return;
    }
    if (previous && isSchedulable(previous)) this.#forget(previous);
    const left = current && !isPodTerminal(current) ? undefined : (current ?? previous);
    if (left?.spec.nodeName) this.#capacityChanged(left.spec.nodeName);
  }

  #capacityChanged(nodeName: string): void {
    for (const key of this.#pending.get(nodeName) ?? []) this.#worker.queue.add(key);
    for (const key of this.#pending.get(NO_NODE) ?? []) this.#worker.queue.add(key);
  }

  #pendingOn(nodeName = NO_NODE): Set<string> {
    const keys = this.#pending.get(nodeName) ?? new Set();
    this.#pending.set(nodeName, keys);
    return keys;
  }

  #forget(pod: Pod): void {
    const nodeName = pinnedNode(pod) ?? NO_NODE;
    const keys = this.#pending.get(nodeName);
    keys?.delete(refText(pod.metadata));
    if (keys?.size === 0) this.#pending.delete(nodeName);
  }

  async #schedule(key: string, context: ReconcileContext): Promise<void> {
    const pod = this.#deps.informers.pods.get(splitKey(key));
    if (!pod || !isSchedulable(pod)) return;
    const verdict = await this.#verdict(pod);
    if ('node' in verdict) await this.#bind(pod, verdict.node, context);
    else await this.#refuse(pod, verdict.message, context);
  }

  async #verdict(pod: Pod): Promise<Verdict> {
    const { nodes } = this.#deps.informers;
    const pinned = pinnedNode(pod);
    const candidates = pinned === undefined ? nodes.list() : [nodes.get({ name: pinned })];
    const refusals = new FitRefusals();
    const slice = new TimeSlice(this.#deps.clock);
    let best: { node: string; score: number } | undefined;
    let checked = 0;
    for (const node of candidates) {
      if (!node) continue;
      checked += 1;
      const score = this.#score(pod, node, refusals);
      if (score !== undefined && (!best || score < best.score)) best = { node: node.metadata.name, score };
      await slice.yieldIfUsedUp();
    }
    if (best) return best;
    if (checked < nodes.size) refusals.add([NOT_THE_PINNED_NODE], nodes.size - checked);
    return { message: refusals.message() };
  }

  /** Returns the node's score if the Pod fits. Otherwise counts the reasons. */
  #score(pod: Pod, node: Node, refusals: FitRefusals): number | undefined {
    const taken = this.#deps.reservations.usageOf(node.metadata.name);
    const reasons = fitRefusals(pod, node, taken);
    if (reasons.length === 0) return nodeScore(pod, node, taken);
    refusals.add(reasons);
    return undefined;
  }

  async #bind(pod: Pod, nodeName: string, context: ReconcileContext): Promise<void> {
    const reservation = this.#deps.reservations.tryReserve(pod, nodeName);
    if (!reservation.bound) {
      // Another reconcile has used the capacity since the verdict.
      context.requeueAfter(1);
      return;
    }
    let bound: Pod | undefined;
    try {
      await unlessGone(async () => {
        const record = await this.#deps.registry.bind(pod.metadata, nodeName, preconditionsOf(pod));
        bound = record.object();
        context.observeWrite(bound);
      });
    } finally {
      reservation.settle(bound);
    }
  }

  async #refuse(pod: Pod, message: string, context: ReconcileContext): Promise<void> {
    context.requeueAfter(RETRY_MS);
    const present = findCondition(pod.status?.conditions, 'PodScheduled');
    if (present?.status === 'False' && present.message === message) return;
    this.#deps.recordEvent(pod, 'Warning', 'FailedScheduling', message);
    await unlessGone(() => this.#markUnschedulable(pod, message, context));
  }

  async #markUnschedulable(pod: Pod, message: string, context: ReconcileContext): Promise<void> {
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message } as const;
    const now = toTimestamp(this.#deps.clock.now());
    const record = await this.#deps.registry.writeStatus(
      podKind,
      pod.metadata,
      ({ spec, status }) =>
        spec.nodeName
          ? undefined
          : { ...status, conditions: withCondition(status?.conditions, condition, now) },
      preconditionsOf(pod),
    );
    context.observeWrite(record.object());
  }
}

/** True for an unbound, live Pod of the default scheduler. */
function isSchedulable(pod: Pod): boolean {
  const { schedulerName = DEFAULT_SCHEDULER, nodeName } = pod.spec;
  return (
    !nodeName && schedulerName === DEFAULT_SCHEDULER && !pod.metadata.deletionTimestamp && !isPodTerminal(pod)
  );
}

/** True if no field changed that decides where the Pod may run. */
function sameSpec(previous: Pod, current: Pod): boolean {
  return JSON.stringify(previous.spec) === JSON.stringify(current.spec);
}
