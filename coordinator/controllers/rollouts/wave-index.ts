/** The waves of one rollout as sets of nodes, kept up by the tally: no event costs more than its own node. */
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
  /** The wave of each node. One that is not named joins the last. */
  plan: ReadonlyMap<string, number>;
  waves: number;
  connectivity: (node: string) => NodeConnectivity;
  times: MaintenanceScheduleSpec;
  rules: FailureRules;
  /** Whether a revision failed before the one on its way came. */
  isBarred?: ((hash: string) => boolean) | undefined;
  /** Hosts that failed with this revision, which is barred for that, before these waves were drawn; absent: none. */
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
  /** Nodes that hold, or have held since the waves were drawn, a Pod of the revision. */
  readonly #received = new Set<string>();
  /** Nodes that have yet to follow after completion, or have done so. */
  readonly #late = new Set<string>();
  /** Nodes that have failed: those that fail now, and once the revision is barred also those that go back. */
  readonly #failed: Set<string>;
  #isBarred: boolean;
  readonly #milestones = new RolloutMilestones();
  /** ms since the epoch. */
  #lastNow = Number.NEGATIVE_INFINITY;
  /** For the counts by code. */
  readonly hostStates = new HostStateCounts();

  constructor(options: WaveIndexOptions) {
    this.#options = options;
    this.#waves = Array.from({ length: options.waves }, () => new WaveMembers());
    this.#windows = new WindowIndex(options.times);
    this.#failed = new Set(options.failedAndReverted);
    this.#isBarred = this.#failed.size > 0;
  }

  /** Where the tally sees a node now. */
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

  /** A node went out of contact or came back, or has other labels. True when that moved it. */
  updateConnectivity(name: string): boolean {
    const facts = this.#facts.get(name);
    if (!facts) return false;
    const before = this.#placed.get(name)?.state;
    this.#keep(name, withConnectivity(facts, this.#connectivityOf(name)));
    return this.#placed.get(name)?.state !== before;
  }

  /** Takes over what has changed for nodes; true when some are to be counted anew. */
  applyMemory(memory: RolloutMemory): boolean {
    const { named, hasBegun, hasTurned } = this.#milestones.update(memory);
    const wasBarred = this.#isBarred;
    this.#isBarred = memory.failure !== undefined;
    // A retry begins with no failed host.
    if (wasBarred && !this.#isBarred) this.#failed.clear();
    const affected = new Set(named.includes(ALL_TARGETS) ? this.#facts.keys() : named);
    const isAffected = hasTurned ? isUnfinished : hasBegun ? isFailed : undefined;
    if (isAffected)
      for (const wave of this.#waves) for (const name of wave.select(isAffected)) affected.add(name);
    for (const name of affected) this.#judge(name);
    return affected.size > 0;
  }

  /** Moves nodes whose time is up; answers when the next one's is, ms since the epoch. */
  advanceTime(): number | undefined {
    const now = this.#options.now();
    // The clock was set back: what is kept may lie ahead now.
    if (now < this.#lastNow) for (const [name, facts] of this.#facts) this.#keep(name, facts);
    this.#lastNow = now;
    for (const name of this.#windows.advance(now)) this.#judge(name);
    for (const name of this.#deadlines.takeDue(now)) this.#judge(name);
    return earliest([this.#deadlines.next, this.#windows.next]);
  }

  /** Nodes that have failed, also those that have their earlier revision again; by name, at most so many. */
  failedNames(most: number): string[] {
    return [...this.#failed].slice(0, most).sort();
  }

  counts(): WaveCounts[] {
    return this.#waves.map(({ counts }) => counts);
  }

  /** Nodes that are being updated at this moment, in all waves. */
  get inProgress(): number {
    return this.#waves.reduce((total, { inProgress }) => total + inProgress, 0);
  }

  /** When the first node that is outside its window may go on, ms since the epoch. */
  get nextWindowOpening(): number | undefined {
    return this.#windows.nextWindowOpening(this.#options.now());
  }

  /** Hosts of a wave whose windows are closed and that have yet to have their turn, zone by zone. */
  windowOpenings(wave: number): WindowOpening[] {
    const now = this.#options.now();
    return [...this.#wave(wave).outOfWindowByZone].map(([zone, hosts]) => ({
      at: this.#windows.openingOf(zone, now),
      hosts,
    }));
  }

  /** A wave as upstream's choice takes it; hosts that failed, are out of reach or taken out use none of its budget. */
  fleet(wave: number): Fleet {
    return this.#wave(wave).fleet;
  }

  /** Hosts that have a Pod of the revision that is of no use, and may lose it at this hour. */
  failed(wave: number): string[] {
    const failed = this.#wave(wave)
      .select(isFailed)
      .filter((name) => this.#mayLose(name));
    const stale = this.#wave(wave).select(isStaleFailed('oldUnavailable'));
    return [...failed, ...this.retryPending(wave), ...stale];
  }

  /** Hosts that serve with a Pod of an earlier revision that failed. */
  staleFailed(wave: number): string[] {
    return this.#wave(wave).select(isStaleFailed('oldAvailable'));
  }

  /**
   * Hosts that have a turn which they are not to begin: those of waves beyond this one and those that were taken out
   * since, whatever else is known of them, and whose turn is to something that is not wanted any more.
   */
  handoversToWithdraw(openUpTo: number): string[] {
    return this.#handovers.toWithdraw((name) => this.waveOf(name) > openUpTo || this.isSkipped(name));
  }

  /** Hosts whose Pod is from before a retry, and may be replaced at this hour. */
  retryPending(wave: number): string[] {
    return this.#wave(wave)
      .select(isRetryPending)
      .filter((name) => this.#mayLose(name));
  }

  /** Hosts that are to have their first Pod, and have none while the wave is closed. */
  blocked(wave: number): Iterable<string> {
    return this.#wave(wave).fleet.nodes.blocked;
  }

  /** Hosts that took the revision after completion and failed. */
  failedLate(wave: number): string[] {
    return this.#wave(wave)
      .select(isFailed)
      .filter((name) => this.#late.has(name) && this.#mayLose(name));
  }

  /** One that failed and is available all the same (it restarted twice, nobody hears it) has its window. */
  #mayLose(name: string): boolean {
    const isAvailable = isNewAvailable(this.#facts.get(name)?.updateState ?? 'empty');
    return !this.#handovers.has(name) && !(isAvailable && this.closedWindow(name) !== undefined);
  }

  stateOf(name: string): NodeRolloutState | undefined {
    return this.#placed.get(name)?.state;
  }

  /** The wave that the node is in, or would be. */
  waveOf(name: string): number {
    const last = this.#waves.length - 1;
    return Math.min(this.#options.plan.get(name) ?? last, last);
  }

  /** Whether a Pod of the revision has been there. */
  hasReceived(name: string): boolean {
    return this.#received.has(name);
  }

  isCatchingUp(name: string): boolean {
    return this.#late.has(name);
  }

  /** What keeps Pods of the node from being replaced, or even made, at this hour; undefined: nothing. */
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
    const standing = this.#options.connectivity(name);
    this.#windows.put(name, standing.labels, this.#options.now());
    return standing;
  }

  #keep(name: string, facts: NodeFacts): void {
    const before = this.#facts.get(name);
    const now = this.#options.now();
    this.#facts.set(name, withBoundedWait(clampFutureTimes(facts, before, now), before, now));
    this.#judge(name);
  }

  #judge(name: string): void {
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

  /** What failed under a policy may be stable since: without one, upstream brought it to all. */
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

  /** A failure counts for its time; a Pod that is not available yet has its own. */
  #schedule(name: string, facts: NodeFacts, state: NodeRolloutState, rules: FailureRules): void {
    const now = this.#options.now();
    const wave = this.#placed.get(name)?.wave;
    wave?.uncountFailure(name);
    if (!isFailed(state)) {
      const at = state.condition === 'deferred' ? earliestHandoverStart(facts) : deadlineOf(facts, rules);
      // One that is up changes nothing any more: the node was taken out, or is to have another Pod.
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
