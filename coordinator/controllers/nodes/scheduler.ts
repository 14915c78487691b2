/** Binds Pods that nobody has bound: bare ones, and DaemonSet Pods whose node had no room when they were made. */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import { findCondition, withCondition } from '../../../shared/kube/objects/conditions.js';
import { refText, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
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
import type { RecordEvent } from '../events/event-recorder.js';
import { splitKey } from '../queue/object-key.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import type { NodeReservations } from './node-reservations.js';

interface SchedulerDeps {
  registry: Registry;
  informers: Informers;
  reservations: NodeReservations;
  /** As `default-scheduler`. */
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
}

/** Without any news upstream tries unschedulable Pods again after five minutes. */
const RETRY_MS = 300_000;

/** Where Pods are kept that may go anywhere. */
const NO_NODE = '';

type Verdict = { node: string } | { message: string };

export class Scheduler {
  readonly #parts: SchedulerDeps;
  readonly #worker: Worker;
  /** Unbound Pods by the node they are pinned to, the others under NO_NODE. */
  readonly #pending = new Map<string, Set<string>>();

  constructor(parts: SchedulerDeps) {
    this.#parts = parts;
    this.#worker = new Worker({
      name: 'scheduler',
      reconcile: (key, turn) => this.#schedule(key, turn),
      ...parts,
      concurrency: 4,
    });
    parts.informers.pods.onChange((change) => this.#podChanged(change));
    parts.informers.nodes.onChange(({ previous, current }) =>
      this.#roomChanged((current ?? previous)?.metadata.name ?? NO_NODE),
    );
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  #podChanged({ previous, current }: ObjectChange<Pod>): void {
    if (current && isOurs(current)) {
      const key = refText(current.metadata);
      this.#pendingOn(pinnedNode(current)).add(key);
      // Its own conditions are news to others only.
      if (!previous || !sameSpec(previous, current)) this.#worker.queue.add(key);
      return;
    }
    if (previous && isOurs(previous)) this.#forget(previous);
    const left = current && !isPodTerminal(current) ? undefined : (current ?? previous);
    if (left?.spec.nodeName) this.#roomChanged(left.spec.nodeName);
  }

  #roomChanged(nodeName: string): void {
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

  async #schedule(key: string, turn: ReconcileContext): Promise<void> {
    const pod = this.#parts.informers.pods.get(splitKey(key));
    if (!pod || !isOurs(pod)) return;
    const verdict = await this.#verdict(pod);
    if ('node' in verdict) await this.#bind(pod, verdict.node, turn);
    else await this.#refuse(pod, verdict.message, turn);
  }

  async #verdict(pod: Pod): Promise<Verdict> {
    const { nodes } = this.#parts.informers;
    const pinned = pinnedNode(pod);
    const candidates = pinned === undefined ? nodes.list() : [nodes.get({ name: pinned })];
    const refusals = new FitRefusals();
    const slice = new TimeSlice(this.#parts.clock);
    let best: { node: string; score: number } | undefined;
    let asked = 0;
    for (const node of candidates) {
      if (!node) continue;
      asked += 1;
      const score = this.#judge(pod, node, refusals);
      if (score !== undefined && (!best || score < best.score)) best = { node: node.metadata.name, score };
      await slice.yieldIfUsedUp();
    }
    if (best) return best;
    if (asked < nodes.size) refusals.add([NOT_THE_PINNED_NODE], nodes.size - asked);
    return { message: refusals.message() };
  }

  /** The node's score if the Pod fits; else counts why not. */
  #judge(pod: Pod, node: Node, refusals: FitRefusals): number | undefined {
    const taken = this.#parts.reservations.usageOf(node.metadata.name);
    const reasons = fitRefusals(pod, node, taken);
    if (reasons.length === 0) return nodeScore(pod, node, taken);
    refusals.add(reasons);
    return undefined;
  }

  async #bind(pod: Pod, nodeName: string, turn: ReconcileContext): Promise<void> {
    const reservation = this.#parts.reservations.tryReserve(pod, nodeName);
    if (!reservation.bound) {
      // Another key took the room since the verdict.
      turn.requeueAfter(1);
      return;
    }
    let bound: Pod | undefined;
    try {
      await unlessGone(async () => {
        const record = await this.#parts.registry.bind(pod.metadata, nodeName, preconditionsOf(pod));
        bound = record.object();
        turn.observeWrite(bound);
      });
    } finally {
      reservation.settle(bound);
    }
  }

  async #refuse(pod: Pod, message: string, turn: ReconcileContext): Promise<void> {
    turn.requeueAfter(RETRY_MS);
    const present = findCondition(pod.status?.conditions, 'PodScheduled');
    if (present?.status === 'False' && present.message === message) return;
    this.#parts.recordEvent(pod, 'Warning', 'FailedScheduling', message);
    await unlessGone(() => this.#markUnschedulable(pod, message, turn));
  }

  async #markUnschedulable(pod: Pod, message: string, turn: ReconcileContext): Promise<void> {
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message } as const;
    const now = toTimestamp(this.#parts.clock.now());
    const record = await this.#parts.registry.writeStatus(
      podKind,
      pod.metadata,
      ({ spec, status }) =>
        spec.nodeName
          ? undefined
          : { ...status, conditions: withCondition(status?.conditions, condition, now) },
      preconditionsOf(pod),
    );
    turn.observeWrite(record.object());
  }
}

/** Unbound, alive, and not another scheduler's. */
function isOurs(pod: Pod): boolean {
  const { schedulerName = DEFAULT_SCHEDULER, nodeName } = pod.spec;
  return (
    !nodeName && schedulerName === DEFAULT_SCHEDULER && !pod.metadata.deletionTimestamp && !isPodTerminal(pod)
  );
}

/** Whether nothing changed that decides where the Pod may go. */
function sameSpec(previous: Pod, current: Pod): boolean {
  return JSON.stringify(previous.spec) === JSON.stringify(current.spec);
}
