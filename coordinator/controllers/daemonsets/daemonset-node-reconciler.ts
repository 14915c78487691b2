/** Key `ds@node`: place, remove and replace one DaemonSet's Pods on one node. Nobody else creates or deletes them. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { DaemonPod } from '../../decisions/daemonsets/daemon-node.js';
import { recordNode } from '../../decisions/daemonsets/node-record.js';
import { isIdle, type NodeStep, nodeStep } from '../../decisions/daemonsets/node-step.js';
import type { NodeUpdateStatus } from '../../decisions/daemonsets/rolling-update.js';
import { CAPACITY_RECHECK_MS, HandoverCapacity } from '../handovers/handover-capacity.js';
import { HandoverWrites } from '../handovers/handover-writes.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import { DaemonPodTemplates } from './daemon-pod-templates.js';
import { DaemonPodWrites, type NodeSubject } from './daemon-pod-writes.js';
import type { DaemonSetDeps } from './daemonset-deps.js';
import { fleetKey, nodeKey, parseKey } from './daemonset-keys.js';
import { type DaemonNodeView, observeNode } from './daemonset-node-view.js';
import type { CountedDaemonSet, DaemonSetTallies } from './daemonset-tallies.js';
import type { OrderedAction } from './daemonset-tally.js';

/** How the node controller calls for other observeds. */
interface NodeSignals {
  /** The tally of a DaemonSet moved. */
  tallyMoved(fleetKey: string): void;
  /** Look at a node again. */
  wakeNode(nodeKey: string): void;
}

/** One observed at a node: what stands there, and what it asks for. */
interface NodeObservation extends DaemonNodeView {
  step: NodeStep;
  updateStatus?: NodeUpdateStatus;
  hasWork: boolean;
  /** Name of the old Pod whose host has said that it knows that its turn was taken back. */
  settledHandover?: string;
  /** Time alone changes something after so many ms. */
  requeueAfterMs?: number;
}

/** Reconciles nodes' keys; what it keeps in memory only slows or delays, and may be lost. */
export class DaemonSetNodeReconciler {
  readonly #parts: DaemonSetDeps;
  readonly #tallies: DaemonSetTallies;
  readonly #signals: NodeSignals;
  /** Keys whose writes the informers may not show yet: they end with the next observed of that key. */
  readonly #writing = new Set<string>();
  readonly #room: HandoverCapacity;
  readonly #writes: DaemonPodWrites;

  constructor(parts: DaemonSetDeps, tallies: DaemonSetTallies, signals: NodeSignals) {
    const models = new DaemonPodTemplates(parts.registry);
    const hostHandovers = new HandoverWrites(parts.registry, models);
    this.#room = new HandoverCapacity(parts, hostHandovers);
    this.#writes = new DaemonPodWrites(parts, { models, hostHandovers, room: this.#room }, (key) =>
      signals.wakeNode(key),
    );
    this.#parts = parts;
    this.#tallies = tallies;
    this.#signals = signals;
  }

  /** Takes the node's state into the tally. `busy`: there is something to do there, which is for the node's key. */
  observe(daemonSet: DaemonSet, { tally, constraints }: CountedDaemonSet, nodeName: string): NodeObservation {
    const { clock, informers, restoredEpoch, timeOf } = this.#parts;
    const { current } = tally.subject;
    const now = clock.now();
    const view = observeNode(informers, daemonSet, current, nodeName, {
      restoredEpoch,
      pinnedTo: constraints.pinnedRevision(nodeName)?.daemonSet,
      timeOf,
    });
    const { claims } = view;
    const node = this.#room.markLackingCapacity(daemonSet, tally, view.node);
    const backoff = tally.backoffs.get(nodeName);
    const step = nodeStep({ node, spec: daemonSet.spec, current, backoff, now });
    const record = recordNode(node, daemonSet.spec.minReadySeconds ?? 0, now);
    if (tally.record(nodeName, record)) this.#signals.tallyMoved(fleetKey(daemonSet));
    if (this.#writing.has(nodeKey(daemonSet, nodeName))) tally.markInProgress(nodeName);
    const settled = node.pods.find(
      ({ handover: turn, terminating }) => turn?.withdrawn === 'Acknowledged' && !terminating,
    )?.name;
    const roomAt = tally.lackingCapacitySince.has(nodeName) ? now + CAPACITY_RECHECK_MS : undefined;
    const times = [record.requeueAt, step.requeueAt, roomAt].filter((time) => time !== undefined);
    return {
      node,
      claims,
      step,
      ...(record.updateStatus ? { updateStatus: record.updateStatus } : {}),
      hasWork: claims.length > 0 || !isIdle(step) || settled !== undefined,
      ...(settled === undefined ? {} : { settledHandover: settled }),
      ...(times.length > 0 ? { requeueAfterMs: Math.min(...times) - now } : {}),
    };
  }

  /** Forgets what is kept in memory of a DaemonSet that is gone. */
  forget(uid: string): void {
    this.#writes.forget(uid);
  }

  async reconcile(key: string, context: ReconcileContext): Promise<void> {
    this.#writing.delete(key);
    const { ref, nodeName } = parseKey(key);
    const daemonSet = this.#parts.informers.daemonSets.get(ref);
    // Without a tally of this generation, the fleet key has yet to begin one, and that visits every node.
    const counted = daemonSet && this.#tallies.of(daemonSet);
    if (!daemonSet || !counted || daemonSet.metadata.deletionTimestamp) return;
    const { tally } = counted;
    const subject = { daemonSet, tally, counted, nodeName, context };
    try {
      await this.#act(subject);
    } finally {
      this.#writes.wakeWaiting(tally.subject.uid);
    }
  }

  /** First whose the Pods are, then what must be there, then what the rolling update wants: one of them a time. */
  async #act(subject: NodeSubject): Promise<void> {
    const { daemonSet, tally, counted, nodeName, context } = subject;
    const order = tally.takeAction(nodeName);
    const observed = this.observe(daemonSet, counted, nodeName);
    if (observed.requeueAfterMs !== undefined) context.requeueAfter(observed.requeueAfterMs);
    if (!observed.hasWork && !order) return;
    const isHandoverEnd = order?.action === 'withdraw' || observed.settledHandover !== undefined;
    if (!isHandoverEnd && tally.deferIfFrozen(nodeName, counted.constraints)) return;
    // Until its own writes have been seen and observeded at, the node counts as under way.
    tally.markInProgress(nodeName);
    this.#writing.add(nodeKey(daemonSet, nodeName));
    if (observed.settledHandover !== undefined)
      await this.#writes.endHandover(subject, observed.settledHandover, 'settle');
    else if (observed.claims.length > 0) await this.#writes.claim(subject, observed.claims);
    else if (!isIdle(observed.step)) await this.#perform(subject, observed.step);
    else if (order) await this.#replace(subject, observed, order);
  }

  /** Carries out a turn, if it still makes sense. */
  async #replace(
    subject: NodeSubject,
    { node, updateStatus }: NodeObservation,
    order: OrderedAction,
  ): Promise<void> {
    const { action } = order;
    const live = node.pods.filter((pod) => !pod.terminating);
    const [newPod] = live.filter(({ updated }) => updated);
    const [only] = live.length === 1 ? live : [];
    const isOfUseAgain = !order.wasCovered && updateStatus?.covered === true && live.length === 1;
    // It goes whatever the budget as long as it is of no use: one that becomes ready at this moment stays.
    const asSeen = updateStatus?.covered !== true;
    if (isOfUseAgain && (action === 'replace' || action === 'revert')) subject.context.requeueAfter(0);
    else if (action === 'revert' && newPod) await this.#writes.delete(subject, newPod.name, asSeen);
    else if (action === 'revert' && isOfNoUse(subject, only))
      await this.#writes.delete(subject, only.name, asSeen);
    else if (action === 'withdraw' && updateStatus?.oldPod)
      await this.#writes.endHandover(subject, updateStatus.oldPod, 'withdraw');
    else if (action === 'replace' && updateStatus?.oldPod) {
      // Where none belongs any more there is nothing that a host could put in its place.
      const terms =
        live.length === 1 && node.shouldRun
          ? subject.counted.constraints.handoverTerms(node.name)
          : undefined;
      if (terms) await this.#writes.requestHandover(subject, updateStatus.oldPod, terms);
      else await this.#writes.delete(subject, updateStatus.oldPod, asSeen);
    } else if (action === 'create' && updateStatus?.oldPod && live.length === 1)
      await this.#writes.create(subject);
    else subject.context.requeueAfter(0);
  }

  async #perform(subject: NodeSubject, step: NodeStep): Promise<void> {
    const { tally, nodeName } = subject;
    if (step.backoff) tally.backoffs.set(nodeName, step.backoff);
    for (const deletion of step.delete) {
      this.#writes.recordDeletionReason(subject, deletion);
      await this.#writes.delete(subject, deletion.name);
    }
    if (step.create) await this.#writes.create(subject);
  }
}

/** Whether a Pod is to make room for one of the revision that the node is held to. */
function isOfNoUse({ counted, nodeName }: NodeSubject, pod: DaemonPod | undefined): pod is DaemonPod {
  const wanted = counted.constraints.pinnedRevision(nodeName)?.hash;
  return pod !== undefined && wanted !== undefined && pod.hash !== wanted;
}
