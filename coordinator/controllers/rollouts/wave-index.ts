/** The waves of one rollout as sets of nodes. An event updates only its node. */
import type { MaintenanceScheduleSpec } from '../../../shared/calendar/maintenance-schedule.js';
import { ALL_TARGETS } from '../../../shared/kube/rollouts/steering-requests.js';
import type { NodeRecord } from '../../decisions/daemonsets/node-record.js';
import type { Fleet, NodeUpdateState } from '../../decisions/daemonsets/rolling-update.js';
import { type HostRolloutState, rolloutDetail } from '../../decisions/rollouts/host-rollout-code.js';
import {
  clampFutureTimes,
  type NodeConnectivity,
  type NodeFacts,
  nodeFacts,
  withBoundedWait,
  withConnectivity,
} from '../../decisions/rollouts/node-rollout-facts.js';
import {
  awaitsWindow,
  deadlineOf,
  earliestHandoverStart,
  type FailureRules,
  failedSince,
  hasOldPod,
  isNewAvailable,
  isUnfinished,
  type NodeRolloutState,
  nodeRolloutState,
} from '../../decisions/rollouts/node-rollout-state.js';
import type { RolloutMemory, WaveCounts } from '../../decisions/rollouts/rollout-memory.js';
import type { WindowOpening } from '../../decisions/rollouts/rollout-progress.js';
import { DeadlineQueue } from '../queue/deadline-queue.js';
import { RolloutMilestones } from './rollout-milestones.js';
import { HostStateCounts, PendingHandovers, WaveMembers } from './wave-members.js';
import { earliest, WindowIndex } from './window-index.js';

export interface WaveIndexOptions {
  /** The wave of each node. Other nodes are in the last wave. */
  plan: ReadonlyMap<string, number>;
  waves: number;
  connectivity: (node: string) => NodeConnectivity;
  times: MaintenanceScheduleSpec;
  rules: FailureRules;
  /** Returns true if a revision failed in an earlier rollout. */
  isBarred?: ((hash: string) => boolean) | undefined;
  /** Hosts that failed with this revision before the waves were assigned. Absent: none. */
  failedAndReverted?: readonly string[] | undefined;
  now: () => number;
}

export class WaveIndex {
  readonly #options: WaveIndexOptions;
  readonly #waves: WaveMembers[];
  readonly #facts = new Map<string, NodeFacts>();
  readonly #placed = new Map<
    string,
    { wave: WaveMembers; state: NodeRolloutState; zone: string | undefined }
  >();
  readonly #windows: WindowIndex;
  readonly #deadlines = new DeadlineQueue();
  readonly #handovers = new PendingHandovers();
  /** Nodes that have had a Pod of the revision since the waves were assigned. */
  readonly #received = new Set<string>();
  /** Nodes that were not updated at completion. */
  readonly #late = new Set<string>();
  /** Nodes that fail now. If the revision is barred, also nodes that failed and rolled back. */
  readonly #failed: Set<string>;
  #isBarred: boolean;
  readonly #milestones = new RolloutMilestones();
  /** In ms since the epoch. */
  #lastNow = Number.NEGATIVE_INFINITY;
  readonly hostStates = new HostStateCounts();

  constructor(options: WaveIndexOptions) {
    this.#options = options;
    this.#waves = Array.from({ length: options.waves }, () => new WaveMembers());
    this.#windows = new WindowIndex(options.times);
    this.#failed = new Set(options.failedAndReverted);
    this.#isBarred = this.#failed.size > 0;
  }

  /** `updateState`: undefined for a node that left the update. */
  update(name: string, updateState: NodeUpdateState | undefined, record: NodeRecord | undefined): void {
    this.#handovers.update(name, updateState, record?.handover);
    if (updateState === undefined) {
      this.#facts.delete(name);
      this.#failed.delete(name);
      this.#windows.remove(name);
      this.#place(name, undefined);
      return;
    }
    this.#keep(name, nodeFacts(updateState, record, this.#connectivityOf(name)));
  }

  /** Updates connectivity and labels. Returns true if the node's state changed. */
  updateConnectivity(name: string): boolean {
    const facts = this.#facts.get(name);
    if (!facts) return false;
    const before = this.#placed.get(name)?.state;
    this.#keep(name, withConnectivity(facts, this.#connectivityOf(name)));
    return this.#placed.get(name)?.state !== before;
  }

  /** Applies changes of the memory to nodes. Returns true if the counts may have changed. */
  applyMemory(memory: RolloutMemory): boolean {
    const { named, hasStarted, hasEnded } = this.#milestones.update(memory);
    const wasBarred = this.#isBarred;
    this.#isBarred = memory.failure !== undefined;
    // A retry starts without failed hosts.
    if (wasBarred && !this.#isBarred) this.#failed.clear();
    const affected = new Set(named.includes(ALL_TARGETS) ? this.#facts.keys() : named);
    const isAffected = hasEnded ? isUnfinished : hasStarted ? isFailed : undefined;
    if (isAffected)
      for (const wave of this.#waves) for (const name of wave.select(isAffected)) affected.add(name);
    for (const name of affected) this.#evaluate(name);
    return affected.size > 0;
  }

  /** Updates nodes with a passed deadline. Returns the next deadline, in ms since the epoch. */
  advanceTime(): number | undefined {
    const now = this.#options.now();
    // The clock was set back, so stored facts may have future times.
    if (now < this.#lastNow) for (const [name, facts] of this.#facts) this.#keep(name, facts);
    this.#lastNow = now;
    for (const name of this.#windows.advance(now)) this.#evaluate(name);
    for (const name of this.#deadlines.takeDue(now)) this.#evaluate(name);
    return earliest([this.#deadlines.next, this.#windows.next]);
  }

  /** Returns at most `limit` names of failed nodes, also of nodes that rolled back, sorted. */
  failedNames(limit: number): string[] {
    return [...this.#failed].slice(0, limit).sort();
  }

  counts(): WaveCounts[] {
    return this.#waves.map(({ counts }) => counts);
  }

  /** Number of nodes in all waves that are being updated. */
  get inProgress(): number {
    return this.#waves.reduce((total, { inProgress }) => total + inProgress, 0);
  }

  /** When the first node outside its window may be updated, in ms since the epoch. */
  get nextWindowOpening(): number | undefined {
    return this.#windows.nextWindowOpening(this.#options.now());
  }

  /** Returns the hosts of a wave that wait for their window, by zone. */
  windowOpenings(wave: number): WindowOpening[] {
    const now = this.#options.now();
    return [...this.#wave(wave).outOfWindowByZone].map(([zone, hosts]) => ({
      at: this.#windows.openingOf(zone, now),
      hosts,
    }));
  }

  /** The wave in the form that upstream's choice needs. Failed, offline and skipped hosts use none of its budget. */
  fleet(wave: number): Fleet {
    return this.#wave(wave).fleet;
  }

  /** Returns hosts with a useless Pod of the revision that may be deleted now. */
  failed(wave: number): string[] {
    const failed = this.#wave(wave)
      .select(isFailed)
      .filter((name) => this.#mayLose(name));
    const stale = this.#wave(wave).select(isStaleFailed('oldUnavailable'));
    return [...failed, ...this.retryPending(wave), ...stale];
  }

  /** Returns hosts with an available Pod of an earlier failed revision. */
  staleFailed(wave: number): string[] {
    return this.#wave(wave).select(isStaleFailed('oldAvailable'));
  }

  /** Returns hosts that must not start their handover: in a wave above `openUpTo`, skipped, or with an outdated handover. */
  handoversToWithdraw(openUpTo: number): string[] {
    return this.#handovers.toWithdraw((name) => this.waveOf(name) > openUpTo || this.isSkipped(name));
  }

  /** Returns hosts that failed before a retry and may get another Pod now. */
  retryPending(wave: number): string[] {
    return this.#wave(wave)
      .select(isRetryPending)
      .filter((name) => this.#mayLose(name));
  }

  /** Returns hosts that get no first Pod while their wave is closed. */
  blocked(wave: number): Iterable<string> {
    return this.#wave(wave).fleet.nodes.blocked;
  }

  /** Returns hosts that received the revision after completion and failed. */
  failedLate(wave: number): string[] {
    return this.#wave(wave)
      .select(isFailed)
      .filter((name) => this.#late.has(name) && this.#mayLose(name));
  }

  /** A failed host can have an available Pod: after two restarts, or while it is offline. Its window then applies. */
  #mayLose(name: string): boolean {
    const isAvailable = isNewAvailable(this.#facts.get(name)?.updateState ?? 'empty');
    return !this.#handovers.has(name) && !(isAvailable && this.closedWindow(name) !== undefined);
  }

  stateOf(name: string): NodeRolloutState | undefined {
    return this.#placed.get(name)?.state;
  }

  /** Returns the wave of the node, also if it is not part of the rollout. */
  waveOf(name: string): number {
    const last = this.#waves.length - 1;
    return Math.min(this.#options.plan.get(name) ?? last, last);
  }

  /** Returns true if the node has had a Pod of the revision. */
  hasReceived(name: string): boolean {
    return this.#received.has(name);
  }

  isCatchingUp(name: string): boolean {
    return this.#late.has(name);
  }

  /**
   * Returns why Pods of the node may not be replaced now, and whether they may be created. Undefined: no restriction.
   */
  closedWindow(name: string): { why: string; create: boolean } | undefined {
    const hours = this.#windows.hoursOf(name);
    if (!hours || hours.replace || this.#milestones.isOverridden(name)) return undefined;
    return { why: hours.why, create: hours.create };
  }

  isSkipped(name: string): boolean {
    return this.#milestones.isSkipped(name);
  }

  #wave(index: number): WaveMembers {
    return this.#waves[index] ?? new WaveMembers();
  }

  #connectivityOf(name: string): NodeConnectivity {
    const connectivity = this.#options.connectivity(name);
    this.#windows.put(name, connectivity.labels, this.#options.now());
    return connectivity;
  }

  #keep(name: string, facts: NodeFacts): void {
    const before = this.#facts.get(name);
    const now = this.#options.now();
    this.#facts.set(name, withBoundedWait(clampFutureTimes(facts, before, now), before, now));
    this.#evaluate(name);
  }

  #evaluate(name: string): void {
    const facts = this.#facts.get(name);
    if (!facts) return;
    const now = this.#options.now();
    const { startedAt, retriedAt } = this.#milestones.times;
    const rules = { ...this.#options.rules, startedAt, retriedAt };
    const state = nodeRolloutState(
      {
        ...facts,
        isOutOfWindow: this.closedWindow(name) !== undefined,
        isSkipped: this.isSkipped(name),
        isStaleFailed: this.#isStaleFailed(facts),
      },
      now,
      rules,
    );
    if (isFailed(state)) this.#failed.add(name);
    else if (!this.#isBarred) this.#failed.delete(name);
    this.#place(name, state);
    if (facts.newPodAt !== undefined) this.#received.add(name);
    this.#markLate(name, facts, state);
    this.#schedule(name, facts, state, rules);
  }

  /**
   * A revision that failed under a policy can be stable: without a policy, upstream's rules brought it to all nodes.
   */
  #isStaleFailed({ oldHash }: NodeFacts): boolean {
    const { failure, stable } = this.#milestones.times;
    if (oldHash === undefined || oldHash === stable || failure === undefined) return false;
    return this.#options.isBarred?.(oldHash) === true;
  }

  #markLate(name: string, { newPodAt = 0 }: NodeFacts, state: NodeRolloutState): void {
    const { completedAt } = this.#milestones.times;
    if (completedAt === undefined) this.#late.delete(name);
    else if (hasOldPod(state) || newPodAt > completedAt) this.#late.add(name);
  }

  /** Schedules the next change without an event: the end of a failure's time, or the deadline of an unavailable Pod. */
  #schedule(name: string, facts: NodeFacts, state: NodeRolloutState, rules: FailureRules): void {
    const now = this.#options.now();
    const wave = this.#placed.get(name)?.wave;
    wave?.uncountFailure(name);
    if (!isFailed(state)) {
      const at = state.condition === 'deferred' ? earliestHandoverStart(facts) : deadlineOf(facts, rules);
      // A past deadline changes nothing: the node was skipped, or gets another Pod.
      this.#deadlines.set(name, at !== undefined && at > now ? at : undefined);
      return;
    }
    const { withinMs } = rules;
    const until = withinMs === undefined ? undefined : (failedSince(facts, now, rules) ?? now) + withinMs;
    this.#deadlines.set(name, until !== undefined && until > now ? until : undefined);
    if (until !== undefined && until <= now) return;
    wave?.countFailure(name, this.#late.has(name));
  }

  #place(name: string, state: NodeRolloutState | undefined): void {
    const before = this.#placed.get(name);
    const index = this.waveOf(name);
    const wave = this.#waves[index];
    this.hostStates.set(
      name,
      state && this.#hostState(name, index, state),
      this.#facts.get(name)?.exists !== false,
    );
    if (before && (!state || before.wave !== wave)) before.wave.remove(name, before.state);
    before?.wave.countOutOfWindow(before.zone, -1);
    if (!state || !wave) {
      this.#placed.delete(name);
      this.#deadlines.set(name, undefined);
      return;
    }
    const zone = awaitsWindow(state) ? this.#windows.keyOf(name) : undefined;
    wave.countOutOfWindow(zone, 1);
    this.#placed.set(name, { wave, state, zone });
    wave.put(name, state, before?.wave === wave ? before.state : undefined);
  }

  #hostState(name: string, wave: number, state: NodeRolloutState): HostRolloutState {
    const facts = this.#facts.get(name);
    const hasReceived = this.#received.has(name);
    const history = { ...this.#milestones.times, hasFailed: this.#failed.has(name), hasReceived };
    const detail = facts && rolloutDetail(state, facts, history);
    return detail ? { wave, state, detail } : { wave, state };
  }
}

function isFailed({ condition }: NodeRolloutState): boolean {
  return condition === 'failed';
}

function isRetryPending({ condition }: NodeRolloutState): boolean {
  return condition === 'retryPending';
}

function isStaleFailed(pods: NodeUpdateState): (state: NodeRolloutState) => boolean {
  return (state) => state.condition === 'staleFailed' && state.pods === pods;
}
