/** Binds unbound Pods: bare Pods, and DaemonSet Pods that did not fit on their node when they were created. */

import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import { findCondition, withCondition } from '../../../shared/kube/objects/conditions.js';
import { refText, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { podPriority } from '../../../shared/kube/pods/priority-class.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { hasNomination, type Nomination, withNomination } from '../../decisions/placement/nomination.js';
import {
  FitRefusals,
  fitRefusal,
  isSchedulable,
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
import { PodPreemptor, type PreemptionPlan, type RefusedNodes } from './pod-preemptor.js';

interface SchedulerDeps {
  registry: Registry;
  informers: Informers;
  reservations: NodeReservations;
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
  /** Set if the store was restored: see `DaemonSetDeps`. */
  restoredEpoch?: string;
}

/** Without any change, upstream retries unschedulable Pods after five minutes. */
const RETRY_MS = 300_000;

/** Key for Pods that are not pinned to a node. */
const NO_NODE = '';

/** `siblings`: Pods of the same owner on the node when it was chosen. */
type Verdict = { node: string; siblings: number } | { refusals: FitRefusals; refused: RefusedNodes };

export class Scheduler {
  readonly #deps: SchedulerDeps;
  readonly #worker: Worker;
  readonly #preemptor: PodPreemptor;
  /** Unbound Pods by the node that they are pinned to. Other Pods are under NO_NODE. */
  readonly #pending = new Map<string, Set<string>>();

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#preemptor = new PodPreemptor(deps);
    this.#worker = new Worker({
      name: 'scheduler',
      reconcile: (key, context) => this.#schedule(key, context),
      ...deps,
      concurrency: 4,
      rankOf: (key) => this.#rankOf(key),
    });
    deps.informers.pods.onChange((change) => this.#podChanged(change));
    deps.informers.nodes.onChange(({ previous, current }) =>
      this.#capacityChanged((current ?? previous)?.metadata.name ?? NO_NODE),
    );
  }

  /** Pods of higher priority are bound first (queuesort PrioritySort). */
  #rankOf(key: string): number {
    const pod = this.#deps.informers.pods.get(splitKey(key));
    return pod ? -podPriority(pod) : 0;
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  #podChanged({ previous, current }: ObjectChange<Pod>): void {
    const nominated = nominatedNode(previous);
    // Capacity that was kept for the Pod may be free for others now.
    if (nominated !== undefined && nominated !== nominatedNode(current)) this.#capacityChanged(nominated);
    if (current && isSchedulable(current)) {
      const key = refText(current.metadata);
      this.#pendingOn(pinnedNode(current)).add(key);
      // A change of the Pod's own conditions does not affect its scheduling. The loss of its nomination does.
      const isUnchanged = previous && sameSpec(previous, current);
      if (!isUnchanged || (nominated !== undefined && !nominatedNode(current))) this.#worker.queue.add(key);
      return;
    }
    if (previous && isSchedulable(previous)) this.#forget(previous);
    const left = current && !isPodTerminal(current) ? undefined : (current ?? previous);
    if (left?.spec.nodeName) this.#capacityChanged(left.spec.nodeName);
  }

  #capacityChanged(nodeName: string): void {
    const keys = [nodeName, NO_NODE].flatMap((name) => [...(this.#pending.get(name) ?? [])]);
    // Idle workers take keys as they are added, so the order matters here as well.
    const ranked = keys.map((key) => ({ key, rank: this.#rankOf(key) })).sort((a, b) => a.rank - b.rank);
    for (const { key } of ranked) this.#worker.queue.add(key);
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
    if ('node' in verdict) await this.#bind(pod, verdict, context);
    else await this.#refuse(pod, verdict, context);
  }

  async #verdict(pod: Pod): Promise<Verdict> {
    const { nodes } = this.#deps.informers;
    const pinned = pinnedNode(pod);
    const candidates = pinned === undefined ? nodes.list() : [nodes.get({ name: pinned })];
    const refusals = new FitRefusals();
    const curable: string[] = [];
    const slice = new TimeSlice(this.#deps.clock);
    const siblings = pinned === undefined ? this.#deps.reservations.siblings(pod) : undefined;
    let best: { node: string; score: number; siblings: number } | undefined;
    for (const node of candidates) {
      if (!node) continue;
      const { name } = node.metadata;
      const taken = this.#deps.reservations.usageFor(pod, name);
      const refusal = fitRefusal(pod, node, taken);
      const score = refusal ? undefined : nodeScore(pod, node, taken, siblings?.get(name));
      if (refusal) refusals.add(refusal.reasons);
      if (refusal && !refusal.isFinal) curable.push(name);
      if (score !== undefined && (!best || score < best.score))
        best = { node: name, score, siblings: siblings?.get(name) ?? 0 };
      await slice.yieldIfUsedUp();
    }
    if (best) return best;
    if (refusals.nodes < nodes.size) refusals.add([NOT_THE_PINNED_NODE], nodes.size - refusals.nodes);
    return { refusals, refused: { count: refusals.nodes, curable } };
  }

  async #bind(
    pod: Pod,
    { node: nodeName, siblings }: Extract<Verdict, { node: string }>,
    context: ReconcileContext,
  ): Promise<void> {
    const isPinned = pinnedNode(pod) !== undefined;
    if (!isPinned && (this.#deps.reservations.siblings(pod).get(nodeName) ?? 0) > siblings) {
      // Another reconcile has placed a Pod of the same owner there since the verdict.
      context.requeueAfter(1);
      return;
    }
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

  async #refuse(
    pod: Pod,
    { refusals, refused }: Extract<Verdict, { refusals: FitRefusals }>,
    context: ReconcileContext,
  ): Promise<void> {
    context.requeueAfter(RETRY_MS);
    const plan = refused.count === 0 ? undefined : await this.#preemptor.plan(pod, refused);
    if (plan?.outcome === 'retry') {
      context.requeueAfter(1);
      return;
    }
    const text = plan && plan.outcome !== 'found' ? ` preemption: ${plan.text}` : '';
    const message = `${refusals.message()}${text}`;
    if (plan?.outcome === 'found') await this.#preempt(pod, plan, message, context);
    else await this.#report(pod, message, plan?.outcome === 'waits' ? 'keep' : 'clear', context);
  }

  /** Nominates the node before the victims end. If the Pod is gone or bound by now, they stay. */
  async #preempt(
    pod: Pod,
    { candidate, settle }: Extract<PreemptionPlan, { outcome: 'found' }>,
    message: string,
    context: ReconcileContext,
  ): Promise<void> {
    let nominated: Pod | undefined;
    try {
      nominated = await this.#report(pod, message, { node: candidate.node }, context);
    } finally {
      settle(nominated);
    }
    if (nominated?.status?.nominatedNodeName === candidate.node && !nominated.spec.nodeName) {
      await this.#preemptor.execute(nominated, candidate, context);
    }
  }

  /** Records why the Pod is not bound, and its nomination. Returns the stored Pod, or undefined if it is gone. */
  async #report(
    pod: Pod,
    message: string,
    nomination: Nomination,
    context: ReconcileContext,
  ): Promise<Pod | undefined> {
    const present = findCondition(pod.status?.conditions, 'PodScheduled');
    const isReported = present?.status === 'False' && present.message === message;
    if (!isReported) this.#deps.recordEvent(pod, 'Warning', 'FailedScheduling', message);
    if (isReported && hasNomination(pod, nomination)) return pod;
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message } as const;
    const now = toTimestamp(this.#deps.clock.now());
    let written: Pod | undefined;
    await unlessGone(async () => {
      const record = await this.#deps.registry.writeStatus(
        podKind,
        pod.metadata,
        ({ spec, status }) =>
          spec.nodeName
            ? undefined
            : {
                ...withNomination(status, nomination),
                conditions: withCondition(status?.conditions, condition, now),
              },
        preconditionsOf(pod),
      );
      written = record.object();
      context.observeWrite(written);
    });
    return written;
  }
}

function nominatedNode(pod: Pod | undefined): string | undefined {
  return (pod && isSchedulable(pod) && pod.status?.nominatedNodeName) || undefined;
}

/** True if no field changed that decides where the Pod may run. */
function sameSpec(previous: Pod, current: Pod): boolean {
  return JSON.stringify(previous.spec) === JSON.stringify(current.spec);
}
