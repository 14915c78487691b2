/** The waves of one rollout as sets of nodes, kept up by the tally: no event costs more than its own node. */
import type { MaintenanceScheduleSpec } from '../../../shared/calendar/maintenance-schedule.js';
import { ALL_TARGETS } from '../../../shared/kube/rollouts/steering-requests.js';
import type { NodeRecord } from '../../decisions/daemonsets/node-record.js';
import type { Fleet, NodeUpdateState } from '../../decisions/daemonsets/rolling-update.js';
import { rolloutDetail } from '../../decisions/rollouts/host-rollout-code.js';
import {
  clampFutureTimes,
  type NodeConnectivity,
  nodeFacts,
  withBoundedWait,
  withConnectivity,
} from '../../decisions/rollouts/node-rollout-facts.js';
import {
  AVAILABLE_STATES,
  deadlineOf,
  earliestHandoverStart,
  type FailureRules,
  failedSince,
  type NodeFacts,
  type NodeRolloutState,
  nodeRolloutState,
} from '../../decisions/rollouts/node-rollout-state.js';
import type { WindowOpening } from '../../decisions/rollouts/rollout-estimate.js';
import type { RolloutMemory, WaveCounts } from '../../decisions/rollouts/rollout-memory.js';
import { DeadlineQueue } from '../queue/deadline-queue.js';
import { PendingHandovers } from './pending-handovers.js';
import { RolloutCodeCounts } from './rollout-code-counts.js';
import { RolloutMilestones } from './rollout-milestones.js';
import { OLD_POD_STATES, OUT_OF_WINDOW_STATES, WaveMembers } from './wave-members.js';
import { earliest, WindowIndex } from './window-index.js';

/** Lanes whose nodes a new turn in the rollout's course may place elsewhere. */
const NOT_DONE: readonly NodeRolloutState[] = [...OLD_POD_STATES, 'failed', 'again'];

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
    { wave: WaveMembers; lane: NodeRolloutState; zone: string | undefined }
  >();
  readonly #zones: WindowIndex;
  readonly #agenda = new DeadlineQueue();
  readonly #turned = new PendingHandovers();
  /** Nodes that hold, or have held since the waves were drawn, a Pod of the revision. */
  readonly #took = new Set<string>();
  /** Nodes that have yet to follow after completion, or have done so. */
  readonly #late = new Set<string>();
  /** Nodes that have failed: those that fail now, and once the revision is barred also those that go back. */
  readonly #failed: Set<string>;
  #isBarred: boolean;
  readonly #course = new RolloutMilestones();
  /** ms since the epoch. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** For the counts by code. */
  readonly codeCounts = new RolloutCodeCounts();

  constructor(options: WaveIndexOptions) {
    this.#options = options;
    this.#waves = Array.from({ length: options.waves }, () => new WaveMembers());
    this.#zones = new WindowIndex(options.times);
    this.#failed = new Set(options.failedAndReverted);
    this.#isBarred = this.#failed.size > 0;
  }

  /** Where the tally sees a node now. */
  update(name: string, situation: NodeUpdateState | undefined, record: NodeRecord | undefined): void {
    this.#turned.update(name, situation, record?.handover);
    if (situation === undefined) {
      this.#facts.delete(name);
      this.#failed.delete(name);
      this.#zones.remove(name);
      this.#place(name, undefined);
      return;
    }
    this.#keep(name, nodeFacts(situation, record, this.#standingOf(name)));
  }

  /** A node went out of contact or came back, or has other labels. True when that moved it. */
  updateConnectivity(name: string): boolean {
    const facts = this.#facts.get(name);
    if (!facts) return false;
    const before = this.#placed.get(name)?.lane;
    this.#keep(name, withConnectivity(facts, this.#standingOf(name)));
    return this.#placed.get(name)?.lane !== before;
  }

  /** Takes over what has changed for nodes; true when some are to be counted anew. */
  applyMemory(memory: RolloutMemory): boolean {
    const { named, hasBegun, hasTurned } = this.#course.update(memory);
    const wasBarred = this.#isBarred;
    this.#isBarred = memory.failure !== undefined;
    // A retry begins with no failed host.
    if (wasBarred && !this.#isBarred) this.#failed.clear();
    const affected = new Set(named.includes(ALL_TARGETS) ? this.#facts.keys() : named);
    const turned: readonly NodeRolloutState[] = hasTurned ? NOT_DONE : hasBegun ? ['failed'] : [];
    for (const { byState: lanes } of this.#waves) {
      for (const name of turned.flatMap((lane) => [...lanes[lane]])) affected.add(name);
    }
    for (const name of affected) this.#judge(name);
    return affected.size > 0;
  }

  /** Moves nodes whose time is up; answers when the next one's is, ms since the epoch. */
  advanceTime(): number | undefined {
    const now = this.#options.now();
    // The clock was set back: what is kept may lie ahead now.
    if (now < this.#lookedAt) for (const [name, facts] of this.#facts) this.#keep(name, facts);
    this.#lookedAt = now;
    for (const name of this.#zones.advance(now)) this.#judge(name);
    for (const name of this.#agenda.takeDue(now)) this.#judge(name);
    return earliest([this.#agenda.next, this.#zones.next]);
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
    return this.#zones.nextWindowOpening(this.#options.now());
  }

  /** Hosts of a wave whose windows are closed and that have yet to have their turn, zone by zone. */
  windowOpenings(wave: number): WindowOpening[] {
    const now = this.#options.now();
    return [...this.#wave(wave).outOfWindowByZone].map(([zone, hosts]) => ({
      at: this.#zones.openingOf(zone, now),
      hosts,
    }));
  }

  /** A wave as upstream's choice takes it; hosts that failed, are out of reach or taken out use none of its budget. */
  fleet(wave: number): Fleet {
    return this.#wave(wave).fleet;
  }

  /** Hosts that have a Pod of the revision that is of no use, and may lose it at this hour. */
  failed(wave: number): string[] {
    const failed = [...this.#wave(wave).byState.failed].filter((name) => this.#mayLose(name));
    return [...failed, ...this.retryPending(wave), ...this.#wave(wave).byState.staleFailedUnavailable];
  }

  /** Hosts that serve with a Pod of an earlier revision that failed. */
  staleFailed(wave: number): string[] {
    return [...this.#wave(wave).byState.staleFailedAvailable];
  }

  /**
   * Hosts that have a turn which they are not to begin: those of waves beyond this one and those that were taken out
   * since, whatever else is known of them, and whose turn is to something that is not wanted any more.
   */
  handoversToWithdraw(openUpTo: number): string[] {
    return this.#turned.handoversToWithdraw((name) => this.waveOf(name) > openUpTo || this.isSkipped(name));
  }

  /** Hosts whose Pod is from before a retry, and may be replaced at this hour. */
  retryPending(wave: number): string[] {
    return [...this.#wave(wave).byState.again].filter((name) => this.#mayLose(name));
  }

  /** Hosts that are to have their first Pod, and have none while the wave is closed. */
  blocked(wave: number): Iterable<string> {
    return this.#wave(wave).byState.withheld;
  }

  /** Hosts that took the revision after completion and failed. */
  failedLate(wave: number): string[] {
    return [...this.#wave(wave).byState.failed].filter((name) => this.#late.has(name) && this.#mayLose(name));
  }

  /** One that failed and is available all the same (it restarted twice, nobody hears it) has its window. */
  #mayLose(name: string): boolean {
    const isAvailable = AVAILABLE_STATES.has(this.#facts.get(name)?.updateState ?? 'empty');
    return !this.#turned.has(name) && !(isAvailable && this.closedWindow(name) !== undefined);
  }

  stateOf(name: string): NodeRolloutState | undefined {
    return this.#placed.get(name)?.lane;
  }

  /** The wave that the node is in, or would be. */
  waveOf(name: string): number {
    const last = this.#waves.length - 1;
    return Math.min(this.#options.plan.get(name) ?? last, last);
  }

  /** Whether a Pod of the revision has been there. */
  hasReceived(name: string): boolean {
    return this.#took.has(name);
  }

  isCatchingUp(name: string): boolean {
    return this.#late.has(name);
  }

  /** What keeps Pods of the node from being replaced, or even made, at this hour; undefined: nothing. */
  closedWindow(name: string): { why: string; create: boolean } | undefined {
    const hours = this.#zones.hoursOf(name);
    if (!hours || hours.replace || this.#course.isOverridden(name)) return undefined;
    return { why: hours.why, create: hours.create };
  }

  isSkipped(name: string): boolean {
    return this.#course.isSkipped(name);
  }

  #wave(index: number): WaveMembers {
    return this.#waves[index] ?? new WaveMembers();
  }

  #standingOf(name: string): NodeConnectivity {
    const standing = this.#options.connectivity(name);
    this.#zones.put(name, standing.labels, this.#options.now());
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
    const { startedAt, retriedAt } = this.#course.times;
    const rules = { ...this.#options.rules, startedAt, retriedAt };
    const isOutside = this.closedWindow(name) !== undefined;
    const isStray = this.#isStray(facts);
    const lane = nodeRolloutState(
      { ...facts, isOutOfWindow: isOutside, isSkipped: this.isSkipped(name), isStaleFailed: isStray },
      now,
      rules,
    );
    if (lane === 'failed') this.#failed.add(name);
    else if (!this.#isBarred) this.#failed.delete(name);
    this.#place(name, lane);
    if (facts.newPodAt !== undefined) this.#took.add(name);
    this.#markLate(name, facts, lane);
    this.#schedule(name, facts, lane, rules);
  }

  /** What failed under a policy may be stable since: without one, upstream brought it to all. */
  #isStray({ oldHash }: NodeFacts): boolean {
    const { failure, stable } = this.#course.times;
    if (oldHash === undefined || oldHash === stable || failure === undefined) return false;
    return this.#options.isBarred?.(oldHash) === true;
  }

  #markLate(name: string, { newPodAt = 0 }: NodeFacts, lane: NodeRolloutState): void {
    const { completedAt } = this.#course.times;
    if (completedAt === undefined) this.#late.delete(name);
    else if (OLD_POD_STATES.includes(lane) || newPodAt > completedAt) this.#late.add(name);
  }

  /** A failure counts for its time; a Pod that is not available yet has its own. */
  #schedule(name: string, facts: NodeFacts, lane: NodeRolloutState, rules: FailureRules): void {
    const now = this.#options.now();
    const wave = this.#placed.get(name)?.wave;
    wave?.uncountFailure(name);
    if (lane !== 'failed') {
      const at = lane === 'deferred' ? earliestHandoverStart(facts) : deadlineOf(facts, rules);
      // One that is up changes nothing any more: the node was taken out, or is to have another Pod.
      this.#agenda.set(name, at !== undefined && at > now ? at : undefined);
      return;
    }
    const { withinMs } = rules;
    const until = withinMs === undefined ? undefined : (failedSince(facts, now, rules) ?? now) + withinMs;
    this.#agenda.set(name, until !== undefined && until > now ? until : undefined);
    if (until !== undefined && until <= now) return;
    wave?.countFailure(name, this.#late.has(name));
  }

  #place(name: string, lane: NodeRolloutState | undefined): void {
    const before = this.#placed.get(name);
    const index = this.waveOf(name);
    const wave = this.#waves[index];
    const facts = this.#facts.get(name);
    const hasFailed = this.#failed.has(name);
    const course = { ...this.#course.times, hasFailed, hasTaken: this.#took.has(name) };
    const remark = facts && lane && rolloutDetail(lane, facts, course);
    const place = lane && { wave: index, state: lane, ...(remark ? { detail: remark } : {}) };
    this.codeCounts.set(name, place, facts?.exists !== false);
    if (before && (lane === undefined || before.wave !== wave)) before.wave.remove(name, before.lane);
    before?.wave.countOutOfWindow(before.zone, -1);
    if (lane === undefined || !wave) {
      this.#placed.delete(name);
      this.#agenda.set(name, undefined);
      return;
    }
    const zone = OUT_OF_WINDOW_STATES.includes(lane) ? this.#zones.keyOf(name) : undefined;
    wave.countOutOfWindow(zone, 1);
    this.#placed.set(name, { wave, lane, zone });
    wave.put(name, lane, before?.wave === wave ? before.lane : undefined);
  }
}
