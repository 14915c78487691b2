/** The nodes of a rollout, grouped by state, so that counts and choices cost no visit to each node. */
import type { RolloutReasonCode } from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import type { NodeRecord } from '../../decisions/daemonsets/node-record.js';
import {
  type Fleet,
  NODE_UPDATE_STATES,
  type NodeUpdateState,
} from '../../decisions/daemonsets/rolling-update.js';
import type { HostRolloutState } from '../../decisions/rollouts/host-rollout-code.js';
import {
  awaitsWindow,
  hasOldPod,
  isAlsoUnavailable,
  isCovered,
  isDeferred,
  isInProgress,
  isUpdated,
  mayHoldBarredPod,
  type NodeRolloutState,
  rolloutState,
  usesBudget,
} from '../../decisions/rollouts/node-rollout-state.js';
import type { WaveCounts } from '../../decisions/rollouts/rollout-memory.js';

type StatePredicate = (state: NodeRolloutState) => boolean;

/** The nodes of one wave. */
export class WaveMembers {
  /** Number of nodes that wait for their maintenance window, by the window's zone. */
  readonly outOfWindowByZone = new Map<string, number>();
  readonly #byState = new Map<NodeRolloutState, Set<string>>();
  /** The sets of nodes without a condition: upstream's choice picks from these. */
  readonly #unconditional: Record<NodeUpdateState, Set<string>>;
  /** Failed nodes that the failure budget counts. */
  readonly #failures = new Set<string>();
  /** Nodes of `#failures` that received the revision after the rollout was completed. */
  readonly #lateFailures = new Set<string>();

  constructor() {
    const sets = NODE_UPDATE_STATES.map((pods) => [pods, this.#members(rolloutState(pods))] as const);
    this.#unconditional = Object.fromEntries(sets) as Record<NodeUpdateState, Set<string>>;
  }

  /** Moves the node from the state `before`. If the state does not change, the node keeps its place in the order. */
  put(name: string, state: NodeRolloutState, before: NodeRolloutState | undefined): void {
    if (before === state) return;
    if (before) this.remove(name, before);
    this.#members(state).add(name);
  }

  remove(name: string, state: NodeRolloutState): void {
    this.#byState.get(state)?.delete(name);
    this.uncountFailure(name);
  }

  /** `zone`: undefined if the node does not wait for a window. */
  countOutOfWindow(zone: string | undefined, change: 1 | -1): void {
    if (zone === undefined) return;
    const hosts = (this.outOfWindowByZone.get(zone) ?? 0) + change;
    if (hosts > 0) this.outOfWindowByZone.set(zone, hosts);
    else this.outOfWindowByZone.delete(zone);
  }

  countFailure(name: string, isLate: boolean): void {
    this.#failures.add(name);
    if (isLate) this.#lateFailures.add(name);
  }

  uncountFailure(name: string): void {
    this.#failures.delete(name);
    this.#lateFailures.delete(name);
  }

  /** Returns the nodes in states that fulfil the predicate. */
  select(predicate: StatePredicate): string[] {
    return [...this.#byState].flatMap(([state, names]) => (predicate(state) ? [...names] : []));
  }

  get counts(): WaveCounts {
    const isWaiting: StatePredicate = ({ condition }) => condition === 'awaitingResync';
    return {
      nodes: this.#count(() => true),
      updated: this.#count(isUpdated),
      failed: this.#count(({ condition }) => condition === 'failed'),
      deferred: this.#count(isDeferred),
      outsideWindow: this.#count(awaitsWindow),
      skipped: this.#count(({ condition }) => condition === 'skipped'),
      awaitingResync: this.#count((state) => isWaiting(state) && !isUpdated(state)),
      awaitingResyncUpdated: this.#count((state) => isWaiting(state) && isUpdated(state)),
      old: this.#count(hasOldPod),
      onRevision: this.#count(mayHoldBarredPod),
      failures: this.#failures.size,
      lateFailures: this.#lateFailures.size,
    };
  }

  get inProgress(): number {
    return this.#count(isInProgress);
  }

  /**
   * The wave in the form that upstream's choice needs. Retiring Pods count as desired and covered: otherwise a percentage of a
   * wave with only retiring Pods would be 0, and its update would never end.
   */
  get fleet(): Fleet {
    const { retiringAvailable, retiringUnavailable } = this.#unconditional;
    return {
      nodes: this.#unconditional,
      desired: this.#count(usesBudget),
      covered: this.#count(isCovered) + retiringAvailable.size + retiringUnavailable.size,
      alsoUnavailable: this.#count(isAlsoUnavailable),
    };
  }

  #members(state: NodeRolloutState): Set<string> {
    const present = this.#byState.get(state);
    if (present) return present;
    const names = new Set<string>();
    this.#byState.set(state, names);
    return names;
  }

  #count(predicate: StatePredicate): number {
    let count = 0;
    for (const [state, names] of this.#byState) if (names.size > 0 && predicate(state)) count += names.size;
    return count;
  }
}

/** The states of all hosts of a rollout, and how many hosts share each. */
export class HostStateCounts {
  readonly #states = new Map<string, HostRolloutState>();
  readonly #counts = new Map<string, { state: HostRolloutState; count: number }>();
  /** Hosts of `#states` that have a Node object. */
  readonly #existing = new Set<string>();

  /** `state`: undefined for a host that is not part of the rollout. */
  set(name: string, state: HostRolloutState | undefined, exists: boolean): void {
    const before = this.#states.get(name);
    if (before) this.#count(before, -1);
    if (state) {
      this.#states.set(name, state);
      this.#count(state, 1);
    } else this.#states.delete(name);
    if (state && exists) this.#existing.add(name);
    else this.#existing.delete(name);
  }

  /** Returns undefined for a host that is not part of the rollout. */
  of(name: string): HostRolloutState | undefined {
    return this.#states.get(name);
  }

  /** Number of hosts of the rollout that have a Node object. */
  get existing(): number {
    return this.#existing.size;
  }

  /** Returns hosts by reason code, one map for each wave. */
  codes(
    waves: number,
    codeOf: (state: HostRolloutState) => RolloutReasonCode,
  ): Map<RolloutReasonCode, number>[] {
    const codes = Array.from({ length: waves }, () => new Map<RolloutReasonCode, number>());
    for (const { state, count } of this.#counts.values()) {
      const code = codeOf(state);
      const wave = codes[state.wave];
      wave?.set(code, (wave.get(code) ?? 0) + count);
    }
    return codes;
  }

  /**
   * Counts hosts of a wave that failed and got their earlier revision back. `outOfWindow` of them wait for a window.
   */
  failedBefore(wave: number): { failed: number; outOfWindow: number } {
    const total = { failed: 0, outOfWindow: 0 };
    for (const { state, count } of this.#counts.values()) {
      if (state.wave !== wave || state.detail !== 'FailedBefore') continue;
      total.failed += count;
      if (awaitsWindow(state.state)) total.outOfWindow += count;
    }
    return total;
  }

  #count(state: HostRolloutState, sign: 1 | -1): void {
    const { pods, condition } = state.state;
    const key = `${state.wave}/${pods}/${condition}/${state.detail ?? ''}`;
    const count = (this.#counts.get(key)?.count ?? 0) + sign;
    if (count > 0) this.#counts.set(key, { state, count });
    else this.#counts.delete(key);
  }
}

/** Nodes with a handover that the host is not known to have started. */
export class PendingHandovers {
  readonly #nodes = new Set<string>();
  /** Nodes with a handover that was not withdrawn yet. */
  readonly #withdrawable = new Map<string, { isOutdated: boolean }>();

  update(name: string, updateState: NodeUpdateState | undefined, handover: NodeRecord['handover']): void {
    const isHandedOver = updateState === 'handedOver';
    if (isHandedOver) this.#nodes.add(name);
    else this.#nodes.delete(name);
    if (isHandedOver && !handover?.withdrawn)
      this.#withdrawable.set(name, { isOutdated: handover?.isOutdated === true });
    else this.#withdrawable.delete(name);
  }

  has(name: string): boolean {
    return this.#nodes.has(name);
  }

  /** Returns nodes with an outdated handover, and nodes for which `isRevoked` is true. */
  toWithdraw(isRevoked: (name: string) => boolean): string[] {
    return [...this.#withdrawable].flatMap(([name, { isOutdated }]) =>
      isOutdated || isRevoked(name) ? name : [],
    );
  }
}
