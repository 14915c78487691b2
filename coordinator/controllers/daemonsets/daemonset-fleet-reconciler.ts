/** Key `ds`: history, count, turns of the rolling update, status. It writes no Pod: that is for the nodes' keys. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { type ObjectRef, refText } from '../../../shared/kube/objects/meta.js';
import type { LabelSelector } from '../../../shared/kube/objects/selectors.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { templateGenerationOf } from '../../decisions/daemonsets/daemon-pod.js';
import { daemonSetStatus, isSameStatus } from '../../decisions/daemonsets/daemonset-status.js';
import { chooseReplacements } from '../../decisions/daemonsets/rolling-update.js';
import { isRollingUpdate } from '../../decisions/daemonsets/update-strategy.js';
import { daemonSetKind } from '../../kinds/index.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import type { WorkQueue } from '../queue/work-queue.js';
import { NO_ACTIONS, type NodeActions } from '../rollouts/node-actions.js';
import { RolloutReconciler } from '../rollouts/rollout-reconciler.js';
import { preconditionsOf } from './controller-ref.js';
import type { DaemonSetDeps } from './daemonset-deps.js';
import { fleetKey, nodeKey, parseKey } from './daemonset-keys.js';
import type { DaemonSetNodeReconciler } from './daemonset-node-reconciler.js';
import { nodeNamesOf } from './daemonset-node-view.js';
import { DaemonSetRevisions } from './daemonset-revisions.js';
import type { DaemonSetTallies } from './daemonset-tallies.js';
import type { DaemonSetTally, NodeAction } from './daemonset-tally.js';

/** A DaemonSet on so many hosts tells its figures together: each time is a write, a commit, and news for whoever watches. */
const CROWD = 100;
const REST_MS = 50;

/** `{}` selects every Pod of the namespace: only objects older than that check have it. */
function selectsAll(selector: LabelSelector | undefined): boolean {
  return selector !== undefined && Object.keys(selector).length === 0;
}

/** Reconciles fleet keys. */
export class DaemonSetFleetReconciler {
  readonly #parts: DaemonSetDeps;
  readonly #tallies: DaemonSetTallies;
  readonly #nodes: DaemonSetNodeReconciler;
  readonly #nodeQueue: () => WorkQueue;
  readonly #history: DaemonSetRevisions;
  readonly #rollouts: RolloutReconciler;
  /** By key: until when a crowd's figures rest, by the monotonic clock. */
  readonly #restUntil = new Map<string, number>();

  /** `nodeQueue` takes the keys of nodes, `callFleet` asks for another look at a fleet key. */
  constructor(
    parts: DaemonSetDeps,
    tallies: DaemonSetTallies,
    nodes: DaemonSetNodeReconciler,
    nodeQueue: () => WorkQueue,
    callFleet: (fleetKey: string) => void,
  ) {
    this.#parts = parts;
    this.#tallies = tallies;
    this.#nodes = nodes;
    this.#nodeQueue = nodeQueue;
    this.#history = new DaemonSetRevisions(parts);
    this.#rollouts = new RolloutReconciler(parts, callFleet);
  }

  /** How long another look is to wait, ms: in a fan-out each node calls for one. Not above 0: it need not. */
  statusDebounceMs(key: string): number {
    return (this.#restUntil.get(key) ?? Number.NEGATIVE_INFINITY) - this.#parts.clock.monotonic();
  }

  /** Of a DaemonSet that is there, all is counted and drawn anew with the next look. */
  forget(ref: ObjectRef): void {
    this.#tallies.forget(ref);
    this.#restUntil.delete(refText(ref));
    this.#rollouts.forget({ metadata: ref });
  }

  async reconcile(key: string, turn: ReconcileContext): Promise<void> {
    const { ref } = parseKey(key);
    const daemonSet = this.#parts.informers.daemonSets.get(ref);
    if (!daemonSet || daemonSet.metadata.deletionTimestamp) {
      this.forget(ref);
      return;
    }
    if (selectsAll(daemonSet.spec.selector)) {
      const text = 'This daemon set is selecting all pods. A non-empty selector is required.';
      this.#parts.recordEvent(daemonSet, 'Warning', 'SelectingAll', text);
      return;
    }
    // Pods that change their hash must not be judged by the one that the tally was begun with.
    const stopCounting = () => this.#tallies.forget(ref);
    const { hash, old } = await this.#history.sync(daemonSet, turn, stopCounting);
    const tally = await this.#tally(daemonSet, hash);
    this.#giveTurns(daemonSet, tally, await this.#choose(daemonSet, tally, turn));
    for (const name of tally.takeUnfrozen()) this.#call(daemonSet, tally, name);
    await this.#writeStatus(daemonSet, tally, turn);
    const stable = this.#rollouts.stableRevision(daemonSet, hash);
    const isInUse = (one: string) => one === stable || tally.carriedHashes.has(one);
    await this.#history.trim(daemonSet, old, isInUse, turn);
  }

  /** The tally of this generation and hash; begun anew, every node is counted before it is used. */
  async #tally(daemonSet: DaemonSet, hash: string): Promise<DaemonSetTally> {
    const { uid = '', generation = 0 } = daemonSet.metadata;
    const current = { hash, templateGeneration: templateGenerationOf(daemonSet) };
    const tally = this.#tallies.getOrStart(daemonSet.metadata, { uid, generation, current });
    if (tally.isComplete) return tally;
    this.#rollouts.pinUntilAssigned(daemonSet, tally);
    const slice = new TimeSlice(this.#parts.clock);
    for (const name of nodeNamesOf(this.#parts.informers, daemonSet)) {
      const { hasWork: busy, requeueAfterMs: againMs } = this.#nodes.observe(daemonSet, tally, name);
      if (busy) this.#call(daemonSet, tally, name);
      else if (againMs !== undefined) this.#nodeQueue().addAfter(nodeKey(daemonSet, name), againMs);
      await slice.yieldIfUsedUp();
    }
    tally.isComplete = true;
    return tally;
  }

  #call(daemonSet: DaemonSet, tally: DaemonSetTally, nodeName: string): void {
    tally.markInProgress(nodeName);
    this.#nodeQueue().add(nodeKey(daemonSet, nodeName));
  }

  /** By its policy's waves, where there is one; else as upstream. */
  async #choose(daemonSet: DaemonSet, tally: DaemonSetTally, turn: ReconcileContext): Promise<NodeActions> {
    const policy = isRollingUpdate(daemonSet.spec.updateStrategy) && this.#rollouts.policyOf(daemonSet);
    if (policy) return this.#rollouts.reconcile(daemonSet, policy, tally, turn);
    await this.#rollouts.remove(daemonSet, tally, turn);
    const turns = isRollingUpdate(daemonSet.spec.updateStrategy)
      ? chooseReplacements(tally, daemonSet.spec.updateStrategy)
      : NO_ACTIONS;
    // Nobody holds them to an older revision, which had no place there, any more.
    return { ...turns, withdraw: tally.withdrawableHandovers(), createFirst: [...tally.nodes.blocked] };
  }

  #giveTurns(
    daemonSet: DaemonSet,
    tally: DaemonSetTally,
    { create, replace, revert = [], withdraw = [], createFirst: fill = [] }: NodeActions,
  ): void {
    const give = (names: readonly string[], turn: NodeAction) => {
      for (const name of names) {
        tally.orderAction(name, turn);
        this.#nodeQueue().add(nodeKey(daemonSet, name));
      }
    };
    give(create, 'create');
    give(replace, 'replace');
    give(revert, 'revert');
    give(withdraw, 'withdraw');
    for (const name of fill) this.#call(daemonSet, tally, name);
  }

  async #writeStatus(daemonSet: DaemonSet, tally: DaemonSetTally, turn: ReconcileContext): Promise<void> {
    const { generation } = tally.subject;
    const statusOver = (previous: DaemonSet['status']) => daemonSetStatus(tally.counts, generation, previous);
    if (isSameStatus(daemonSet.status, statusOver(daemonSet.status))) return;
    const record = await this.#parts.registry.writeStatus(
      daemonSetKind,
      daemonSet.metadata,
      (stored) => {
        const status = statusOver(stored.status);
        return isSameStatus(stored.status, status) ? undefined : status;
      },
      preconditionsOf(daemonSet),
    );
    turn.observeWrite(record.object());
    if (tally.desired >= CROWD)
      this.#restUntil.set(fleetKey(daemonSet), this.#parts.clock.monotonic() + REST_MS);
  }
}
