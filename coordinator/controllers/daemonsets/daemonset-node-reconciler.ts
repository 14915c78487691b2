/** Reconciles one DaemonSet on one node. No other code creates or deletes its Pods. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { DaemonNode, DaemonPod } from '../../decisions/daemonsets/daemon-node.js';
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
import type { DaemonSetTally, OrderedAction } from './daemonset-tally.js';

/** Requests of the node reconciler for other reconciles. */
interface NodeSignals {
  /** A tally has changed, so the DaemonSet has to be reconciled. */
  tallyMoved(fleetKey: string): void;
  wakeNode(nodeKey: string): void;
}

/** The state of a node, and what it needs. */
interface NodeObservation extends DaemonNodeView {
  step: NodeStep;
  updateStatus?: NodeUpdateStatus;
  hasWork: boolean;
  /** Name of the old Pod whose host acknowledged that its handover was withdrawn. */
  settledHandover?: string;
  /** When the state changes without an event, in ms from now. */
  requeueAfterMs?: number;
}

/** State in memory only delays writes, so it may be lost. */
export class DaemonSetNodeReconciler {
  readonly #deps: DaemonSetDeps;
  readonly #tallies: DaemonSetTallies;
  readonly #signals: NodeSignals;
  /** Keys with writes that the informers may not show yet. The next reconcile of a key removes it. */
  readonly #writing = new Set<string>();
  readonly #capacity: HandoverCapacity;
  readonly #writes: DaemonPodWrites;

  constructor(deps: DaemonSetDeps, tallies: DaemonSetTallies, signals: NodeSignals) {
    const templates = new DaemonPodTemplates(deps.registry, deps.informers);
    const hostHandovers = new HandoverWrites(deps.registry, templates);
    this.#capacity = new HandoverCapacity(deps, hostHandovers);
    this.#writes = new DaemonPodWrites(deps, { templates, hostHandovers, capacity: this.#capacity }, (key) =>
      signals.wakeNode(key),
    );
    this.#deps = deps;
    this.#tallies = tallies;
    this.#signals = signals;
  }

  /** Updates the tally with the node's state. `hasWork`: the node has to be reconciled. */
  observe(daemonSet: DaemonSet, { tally, constraints }: CountedDaemonSet, nodeName: string): NodeObservation {
    const { clock, informers, restoredEpoch, timeOf } = this.#deps;
    const { current } = tally.subject;
    const now = clock.now();
    const view = observeNode(informers, daemonSet, current, nodeName, {
      restoredEpoch,
      pinnedTo: constraints.pinnedRevision(nodeName)?.daemonSet,
      timeOf,
    });
    const { claims } = view;
    const node = this.#capacity.markLackingCapacity(daemonSet, tally, view.node);
    const backoff = tally.backoffs.get(nodeName);
    const step = nodeStep({ node, spec: daemonSet.spec, current, backoff, now });
    const record = recordNode(node, daemonSet.spec.minReadySeconds ?? 0, now);
    this.#recordRefusedValues(daemonSet, tally, node);
    if (tally.record(nodeName, record)) this.#signals.tallyMoved(fleetKey(daemonSet));
    if (this.#writing.has(nodeKey(daemonSet, nodeName))) tally.markInProgress(nodeName);
    const settled = node.pods.find(
      ({ handover, terminating }) => handover?.withdrawn === 'Acknowledged' && !terminating,
    )?.name;
    const capacityAt = tally.lackingCapacitySince.has(nodeName) ? now + CAPACITY_RECHECK_MS : undefined;
    const times = [record.requeueAt, step.requeueAt, capacityAt].filter((time) => time !== undefined);
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

  /**
   * Records one Event for each new message. A current Pod runs on, but would not be replaced if it were lost. A node that
   * is not eligible keeps an outdated Pod only because of the message.
   */
  #recordRefusedValues(daemonSet: DaemonSet, { refusedValues }: DaemonSetTally, node: DaemonNode): void {
    const { createRefusal, updateRefusal, name, pods, shouldRun } = node;
    const live = pods.filter(({ terminating }) => !terminating);
    const isCurrent = live.some(({ updated }) => updated);
    const refusal = updateRefusal ?? (isCurrent ? undefined : createRefusal);
    const kept = live.length > 0 ? updateRefusal : undefined;
    const message = shouldRun ? refusal : kept;
    const isNews = message !== undefined && refusedValues.get(name) !== message;
    if (message === undefined) refusedValues.delete(name);
    else refusedValues.set(name, message);
    if (isNews) this.#deps.recordEvent(daemonSet, 'Warning', 'FailedCreate', `Error creating: ${message}`);
  }

  /** Forgets a deleted DaemonSet. */
  forget(uid: string): void {
    this.#writes.forget(uid);
  }

  async reconcile(key: string, context: ReconcileContext): Promise<void> {
    this.#writing.delete(key);
    const { ref, nodeName } = parseKey(key);
    const daemonSet = this.#deps.informers.daemonSets.get(ref);
    // Without a tally of this generation there is nothing to do: the fleet reconciler starts one and visits every node.
    const counted = daemonSet && this.#tallies.of(daemonSet);
    if (!daemonSet || !counted || daemonSet.metadata.deletionTimestamp) return;
    const { tally } = counted;
    const subject = { daemonSet, tally, counted, nodeName, context };
    try {
      const acting = this.#act(subject);
      if (acting) await acting;
    } finally {
      this.#writes.wakeWaiting(tally.subject.uid);
    }
  }

  /**
   * One change at a time, in this order: ownership, missing and surplus Pods, the ordered action. Returns undefined if
   * there is nothing to change.
   */
  #act(subject: NodeSubject): Promise<void> | undefined {
    const { daemonSet, tally, counted, nodeName, context } = subject;
    const order = tally.takeAction(nodeName);
    const observed = this.observe(daemonSet, counted, nodeName);
    if (observed.requeueAfterMs !== undefined) context.requeueAfter(observed.requeueAfterMs);
    if (!observed.hasWork && !order) return undefined;
    const isHandoverEnd = order?.action === 'withdraw' || observed.settledHandover !== undefined;
    if (!isHandoverEnd && tally.deferIfFrozen(nodeName, counted.constraints)) return undefined;
    // Until the next reconcile has seen the writes of this one, the node counts as in progress.
    tally.markInProgress(nodeName);
    this.#writing.add(nodeKey(daemonSet, nodeName));
    if (observed.settledHandover !== undefined)
      return this.#writes.endHandover(subject, observed.settledHandover, 'settle');
    if (observed.claims.length > 0) return this.#writes.claim(subject, observed.claims);
    if (!isIdle(observed.step)) return this.#perform(subject, observed.step);
    return order && this.#replace(subject, observed, order);
  }

  /** Performs the action, if it is still possible. */
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
    // An unavailable Pod is deleted regardless of the budget. `asSeen` spares it if it becomes available first.
    const asSeen = updateStatus?.covered !== true;
    if (isOfUseAgain && (action === 'replace' || action === 'revert')) subject.context.requeueAfter(0);
    else if (action === 'revert' && newPod) await this.#writes.delete(subject, newPod.name, asSeen);
    else if (action === 'revert' && isOfNoUse(subject, only))
      await this.#writes.delete(subject, only.name, asSeen);
    else if (action === 'withdraw' && updateStatus?.oldPod)
      await this.#writes.endHandover(subject, updateStatus.oldPod, 'withdraw');
    else if (action === 'replace' && updateStatus?.oldPod) {
      // A node that should not run the DaemonSet gets no successor.
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

/** True if the Pod has to be replaced by one of the revision to which the node is pinned. */
function isOfNoUse({ counted, nodeName }: NodeSubject, pod: DaemonPod | undefined): pod is DaemonPod {
  const wanted = counted.constraints.pinnedRevision(nodeName)?.hash;
  return pod !== undefined && wanted !== undefined && pod.hash !== wanted;
}
