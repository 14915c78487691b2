/** One wave of a rollout: its nodes by lane, and what they count for. */
import { type Fleet, NODE_UPDATE_STATES } from '../../decisions/daemonsets/rolling-update.js';
import { NODE_ROLLOUT_STATES, type NodeRolloutState } from '../../decisions/rollouts/node-rollout-state.js';
import type { WaveCounts } from '../../decisions/rollouts/rollout-memory.js';

/** Lanes whose nodes hold an old Pod. */
export const OLD_POD_STATES: readonly NodeRolloutState[] = [
  'turned',
  'oldAvailable',
  'oldUnavailable',
  'retiringAvailable',
  'retiringUnavailable',
  'awaitingResyncAvailable',
  'awaitingResyncUnavailable',
  'outOfWindowAvailable',
  'outOfWindowUnavailable',
  'outOfWindowRetiring',
  'pairAvailable',
  'pairUnavailable',
  'deferred',
  'deferredHandover',
  'skipped',
  'staleFailedAvailable',
  'staleFailedUnavailable',
];

/** Lanes whose nodes hold one of the revision, or of one that is to go with it. */
const TOUCHED: readonly NodeRolloutState[] = [
  'newAvailable',
  'awaitingResyncUpdated',
  'outOfWindowUpdated',
  'newUnavailable',
  'pairAvailable',
  'pairUnavailable',
  'failed',
  'again',
  'unheard',
  'staleFailedAvailable',
  'staleFailedUnavailable',
];

/** Lanes of nodes that are being updated at this moment. */
const IN_PROGRESS: readonly NodeRolloutState[] = [
  'turned',
  'underWay',
  'empty',
  'newUnavailable',
  'pairAvailable',
  'pairUnavailable',
  'again',
];

/** Lanes whose nodes are part of the wave for upstream's choice, besides those of situations. */
const HELD: readonly NodeRolloutState[] = [
  'again',
  'staleFailedAvailable',
  'staleFailedUnavailable',
  'deferredHandover',
  'awaitingResyncAvailable',
  'awaitingResyncUnavailable',
  'awaitingResyncUpdated',
  'outOfWindowAvailable',
  'outOfWindowUnavailable',
  'outOfWindowUpdated',
  'outOfWindowBlocked',
];

/** Lanes of `HELD` whose nodes have no available Pod, or may have none at any moment. */
const UNAVAILABLE: readonly NodeRolloutState[] = [
  'again',
  'deferredHandover',
  'awaitingResyncUnavailable',
  'outOfWindowUnavailable',
];

/** Lanes whose old Pod is where none belongs any more. */
const RETIRING: readonly NodeRolloutState[] = ['retiringAvailable', 'retiringUnavailable'];

/** Lanes of nodes that serve. */
const COVERED: readonly NodeRolloutState[] = [
  'newAvailable',
  'oldAvailable',
  'pairAvailable',
  'retiringAvailable',
  'awaitingResyncAvailable',
  'awaitingResyncUpdated',
  'outOfWindowAvailable',
  'outOfWindowUpdated',
  'staleFailedAvailable',
];

/** Lanes of nodes that have yet to have their turn, and wait for their window. */
export const OUT_OF_WINDOW_STATES: readonly NodeRolloutState[] = [
  'outOfWindowAvailable',
  'outOfWindowUnavailable',
  'outOfWindowRetiring',
  'outOfWindowBlocked',
];

type Lanes = Record<NodeRolloutState, Set<string>>;

export class WaveMembers {
  /** How many of `OUTSIDE` are of each zone. */
  readonly outOfWindowByZone = new Map<string, number>();
  readonly byState = Object.fromEntries(
    NODE_ROLLOUT_STATES.map((lane) => [lane, new Set<string>()]),
  ) as Lanes;
  /** Failed nodes that the budget counts. */
  readonly #failures = new Set<string>();
  /** Those of them that took the revision after completion. */
  readonly #lateFailures = new Set<string>();

  /** In the place of the lane `before`. A node that stays where it is keeps its place in the order. */
  put(name: string, lane: NodeRolloutState, before: NodeRolloutState | undefined): void {
    if (before === lane) return;
    if (before) this.remove(name, before);
    this.byState[lane].add(name);
  }

  remove(name: string, lane: NodeRolloutState): void {
    this.byState[lane].delete(name);
    this.uncountFailure(name);
  }

  /** A node in a lane of `OUTSIDE` came, or went, which is of this zone; undefined: it is in no such lane. */
  countOutOfWindow(zone: string | undefined, change: 1 | -1): void {
    if (zone === undefined) return;
    const hosts = (this.outOfWindowByZone.get(zone) ?? 0) + change;
    if (hosts > 0) this.outOfWindowByZone.set(zone, hosts);
    else this.outOfWindowByZone.delete(zone);
  }

  /** The budget counts a failed node. */
  countFailure(name: string, isLate: boolean): void {
    this.#failures.add(name);
    if (isLate) this.#lateFailures.add(name);
  }

  /** The budget does not count it (any more). */
  uncountFailure(name: string): void {
    this.#failures.delete(name);
    this.#lateFailures.delete(name);
  }

  get counts(): WaveCounts {
    const { byState: lanes } = this;
    return {
      nodes: this.#size(NODE_ROLLOUT_STATES),
      updated: lanes.newAvailable.size + lanes.outOfWindowUpdated.size + lanes.awaitingResyncUpdated.size,
      failed: lanes.failed.size,
      deferred: lanes.deferred.size + lanes.deferredHandover.size,
      outsideWindow: this.#size(OUT_OF_WINDOW_STATES),
      skipped: lanes.skipped.size,
      awaited: lanes.awaitingResyncAvailable.size + lanes.awaitingResyncUnavailable.size,
      awaitingResyncUpdated: lanes.awaitingResyncUpdated.size,
      old: this.#size(OLD_POD_STATES),
      onRevision: this.#size(TOUCHED),
      failures: this.#failures.size,
      lateFailures: this.#lateFailures.size,
    };
  }

  /** Nodes that are being updated at this moment. */
  get inProgress(): number {
    return this.#size(IN_PROGRESS);
  }

  /**
   * As upstream's choice takes it; hosts that failed, are out of reach or taken out use none of its budget. Those whose Pod is to
   * go for good count as well: of a wave that has no others a percentage would be none.
   */
  get fleet(): Fleet {
    const { byState: lanes } = this;
    const desired = this.#size(NODE_UPDATE_STATES) + this.#size(HELD);
    const alsoUnavailable = this.#size(UNAVAILABLE);
    const covered = this.#size(COVERED) + this.#size(RETIRING);
    return { nodes: lanes, desired, covered, alsoUnavailable };
  }

  #size(some: readonly NodeRolloutState[]): number {
    return some.reduce((sum, lane) => sum + this.byState[lane].size, 0);
  }
}
