/**
 * Reconciles a whole DaemonSet: revisions, counts, actions of the rolling update, and status. Only the node reconciler
 * writes Pods.
 */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { type ObjectRef, refText } from '../../../shared/kube/objects/meta.js';
import type { LabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { CurrentRevision } from '../../decisions/daemonsets/daemon-node.js';
import { templateGenerationOf } from '../../decisions/daemonsets/daemon-pod.js';
import { daemonSetStatus, isSameStatus } from '../../decisions/daemonsets/daemonset-status.js';
import { chooseReplacements } from '../../decisions/daemonsets/rolling-update.js';
import { isRollingUpdate } from '../../decisions/daemonsets/update-strategy.js';
import { daemonSetKind } from '../../kinds/index.js';
import { fleetSettings } from '../host-values/node-template.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import type { WorkQueue } from '../queue/work-queue.js';
import { NO_ACTIONS, type NodeActions } from '../rollouts/node-actions.js';
import { UNCONSTRAINED } from '../rollouts/rollout-constraints.js';
import { RolloutReconciler } from '../rollouts/rollout-reconciler.js';
import { preconditionsOf } from './controller-ref.js';
import type { DaemonSetDeps } from './daemonset-deps.js';
import { fleetKey, nodeKey, parseKey } from './daemonset-keys.js';
import type { DaemonSetNodeReconciler } from './daemonset-node-reconciler.js';
import { nodeNamesOf } from './daemonset-node-view.js';
import { DaemonSetRevisions } from './daemonset-revisions.js';
import type { CountedDaemonSet, DaemonSetTallies } from './daemonset-tallies.js';
import type { DaemonSetTally, NodeAction } from './daemonset-tally.js';

/** From this number of nodes on, status updates are debounced: each is a commit and an event for every watcher. */
const DEBOUNCE_FROM_NODES = 100;
const STATUS_DEBOUNCE_MS = 50;

/** `{}` selects every Pod of the namespace. Validation refuses it, but older objects may have it. */
function selectsAll(selector: LabelSelector | undefined): boolean {
  return selector !== undefined && Object.keys(selector).length === 0;
}

export class DaemonSetFleetReconciler {
  readonly #deps: DaemonSetDeps;
  readonly #tallies: DaemonSetTallies;
  readonly #nodes: DaemonSetNodeReconciler;
  readonly #nodeQueue: () => WorkQueue;
  readonly #history: DaemonSetRevisions;
  readonly #rollouts: RolloutReconciler;
  /** By fleet key: end of the debounce time, by the monotonic clock. */
  readonly #debounceUntil = new Map<string, number>();

  /** `nodeQueue`: the queue of node keys. `enqueueFleet` enqueues a fleet key. */
  constructor(
    deps: DaemonSetDeps,
    tallies: DaemonSetTallies,
    nodes: DaemonSetNodeReconciler,
    nodeQueue: () => WorkQueue,
    enqueueFleet: (fleetKey: string) => void,
  ) {
    this.#deps = deps;
    this.#tallies = tallies;
    this.#nodes = nodes;
    this.#nodeQueue = nodeQueue;
    this.#history = new DaemonSetRevisions(deps);
    this.#rollouts = new RolloutReconciler(deps, enqueueFleet);
  }

  /** Returns how long the next reconcile has to wait, in ms. Not above 0: no wait. */
  statusDebounceMs(key: string): number {
    return (this.#debounceUntil.get(key) ?? Number.NEGATIVE_INFINITY) - this.#deps.clock.monotonic();
  }

  /**
   * Drops all state in memory. For a DaemonSet that exists, the next reconcile counts all nodes and assigns all waves
   * again.
   */
  forget(ref: ObjectRef): void {
    this.#tallies.forget(ref);
    this.#debounceUntil.delete(refText(ref));
    this.#rollouts.forget({ metadata: ref });
  }

  async reconcile(key: string, context: ReconcileContext): Promise<void> {
    const { ref } = parseKey(key);
    const daemonSet = this.#deps.informers.daemonSets.get(ref);
    if (!daemonSet || daemonSet.metadata.deletionTimestamp) {
      this.forget(ref);
      return;
    }
    if (selectsAll(daemonSet.spec.selector)) {
      const text = 'This daemon set is selecting all pods. A non-empty selector is required.';
      this.#deps.recordEvent(daemonSet, 'Warning', 'SelectingAll', text);
      return;
    }
    // Pods that change their hash must not be counted in a tally of the old hash.
    const stopCounting = () => this.#tallies.forget(ref);
    const { hash, old } = await this.#history.sync(daemonSet, context, stopCounting);
    const counted = await this.#count(daemonSet, hash);
    const { tally } = counted;
    const { actions, rollout } = await this.#chooseActions(daemonSet, counted, context);
    // Values that changed meanwhile begin another rollout. Their hosts must not be updated by the decision about this one.
    if (this.#currentRevision(daemonSet, hash).values !== tally.subject.current.values) {
      context.requeueAfter(0);
      return;
    }
    this.#order(daemonSet, tally, actions);
    for (const name of tally.takeUnfrozen(counted.constraints)) this.#enqueueNode(daemonSet, tally, name);
    await this.#writeStatus(daemonSet, tally, rollout, context);
    const stable = this.#rollouts.stableTemplate(daemonSet, tally.subject.current);
    const isInUse = (one: string) => one === stable || tally.carriedHashes.has(one);
    await this.#history.trim(daemonSet, old, isInUse, context);
  }

  /** Without a policy, changed values start no rollout, so the tally is kept. */
  #currentRevision(daemonSet: DaemonSet, hash: string): CurrentRevision {
    const { updateStrategy } = daemonSet.spec;
    const isGoverned = isRollingUpdate(updateStrategy) && this.#rollouts.policyOf(daemonSet) !== undefined;
    const values = isGoverned ? fleetSettings(this.#deps.informers, daemonSet) : undefined;
    return {
      hash,
      templateGeneration: templateGenerationOf(daemonSet),
      ...(values === undefined ? {} : { values }),
    };
  }

  /** Returns the tally of this generation, hash and values. A new tally counts every node first. */
  async #count(daemonSet: DaemonSet, hash: string): Promise<CountedDaemonSet> {
    const { uid = '', generation = 0 } = daemonSet.metadata;
    const current = this.#currentRevision(daemonSet, hash);
    const counted = this.#tallies.getOrStart(daemonSet.metadata, { uid, generation, current });
    const { tally } = counted;
    if (tally.isComplete) return counted;
    counted.constraints = this.#rollouts.initialConstraints(daemonSet, current);
    const slice = new TimeSlice(this.#deps.clock);
    for (const name of nodeNamesOf(this.#deps.informers, daemonSet)) {
      const { hasWork, requeueAfterMs } = this.#nodes.observe(daemonSet, counted, name);
      if (hasWork) this.#enqueueNode(daemonSet, tally, name);
      else if (requeueAfterMs !== undefined)
        this.#nodeQueue().addAfter(nodeKey(daemonSet, name), requeueAfterMs);
      const pause = slice.yieldIfUsedUp();
      if (pause) await pause;
    }
    tally.isComplete = true;
    return counted;
  }

  #enqueueNode(daemonSet: DaemonSet, tally: DaemonSetTally, nodeName: string): void {
    tally.markInProgress(nodeName);
    this.#nodeQueue().add(nodeKey(daemonSet, nodeName));
  }

  /** Chooses actions by the policy's waves, or like upstream if there is no policy. */
  async #chooseActions(
    daemonSet: DaemonSet,
    counted: CountedDaemonSet,
    context: ReconcileContext,
  ): Promise<{ actions: NodeActions; rollout?: RolloutStatus }> {
    const { tally } = counted;
    const policy = isRollingUpdate(daemonSet.spec.updateStrategy) && this.#rollouts.policyOf(daemonSet);
    if (policy) {
      const step = await this.#rollouts.reconcile(daemonSet, policy, tally, context);
      counted.constraints = step.constraints;
      return { actions: await step.takeActions(), rollout: step.status };
    }
    counted.constraints = UNCONSTRAINED;
    await this.#rollouts.remove(daemonSet, context);
    const actions = isRollingUpdate(daemonSet.spec.updateStrategy)
      ? chooseReplacements(tally, daemonSet.spec.updateStrategy)
      : NO_ACTIONS;
    // Without a policy no node is pinned, so blocked nodes can get their Pod.
    const withdraw = tally.withdrawableHandovers();
    return { actions: { ...actions, withdraw, createFirst: [...tally.nodes.blocked] } };
  }

  #order(
    daemonSet: DaemonSet,
    tally: DaemonSetTally,
    { create, replace, revert = [], withdraw = [], createFirst = [] }: NodeActions,
  ): void {
    const order = (names: readonly string[], action: NodeAction) => {
      for (const name of names) {
        tally.orderAction(name, action);
        this.#nodeQueue().add(nodeKey(daemonSet, name));
      }
    };
    order(create, 'create');
    order(replace, 'replace');
    order(revert, 'revert');
    order(withdraw, 'withdraw');
    for (const name of createFirst) this.#enqueueNode(daemonSet, tally, name);
  }

  async #writeStatus(
    daemonSet: DaemonSet,
    tally: DaemonSetTally,
    status: RolloutStatus | undefined,
    context: ReconcileContext,
  ): Promise<void> {
    const { generation } = tally.subject;
    const rollout = status && { name: daemonSet.metadata.name, status };
    const statusOver = (previous: DaemonSet['status']) =>
      daemonSetStatus(tally.counts, generation, previous, rollout);
    if (isSameStatus(daemonSet.status, statusOver(daemonSet.status))) return;
    const record = await this.#deps.registry.writeStatus(
      daemonSetKind,
      daemonSet.metadata,
      (stored) => {
        const status = statusOver(stored.status);
        return isSameStatus(stored.status, status) ? undefined : status;
      },
      preconditionsOf(daemonSet),
    );
    context.observeWrite(record.object());
    if (tally.desired >= DEBOUNCE_FROM_NODES)
      this.#debounceUntil.set(fleetKey(daemonSet), this.#deps.clock.monotonic() + STATUS_DEBOUNCE_MS);
  }
}
