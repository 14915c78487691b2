/** Runs one history: its steps, then the repair of all faults, then the wait until nothing changes. */

import type { FleetFault } from '../coordinators/fleet-faults.js';
import type { Request, UserDeps } from '../histories/api-request-steps.js';
import type { Fault, History, Step, UserStep } from '../histories/history.js';
import { HistoryFaults } from '../histories/history-faults.js';
import { isUserStep } from '../histories/history-mixes.js';
import { repairJobs } from '../histories/job-steps.js';
import { repairPods, repairPolicy, repairRollouts } from '../histories/policy-steps.js';
import { returnRoom } from '../histories/priority-steps.js';
import { repairImages, requestsOf } from '../histories/user-requests.js';
import { repairValues } from '../histories/value-steps.js';
import { SeededRandom } from '../machines/seeded-random.js';
import { type Sabotage, SimulatedWorld } from '../machines/simulated-world.js';
import { SETTLED_RULE, unsettledProblems } from '../rules/rest-rules.js';
import { count, type EventCounts } from './event-counts.js';

/** Number of attempts of a client while the coordinator does not respond. */
const TRIES = 20;
const TRY_AGAIN_MS = 3_000;
/** How often rest is looked for, and how long at most: the longest back-off is five minutes. */
const LOOK_MS = 20_000;
const PATIENCE_MS = 40 * 60_000;

/** All hosts are back by then. */
const SETTLED_MS = 150_000;

const FAILOVERS_AT_REST = 3;
const LEADER_FAULTS: readonly FleetFault[] = [
  ...(['kill -9', 'power cut', 'freeze of 10 s', 'cut off from etcd', 'leases lost', 'step down'] as const),
  'answers lost one way',
];

export interface HistoryOutcome {
  /** The rule that the history broke. Absent: none. */
  violation?: string;
  /** Of everything that happened: equal for equal runs. */
  digest: string;
  lines: readonly string[];
  tallies: EventCounts;
  frames: number;
  framesLost: number;
  simulatedMs: number;
}

export async function runHistory(history: History, sabotage: Sabotage = {}): Promise<HistoryOutcome> {
  const run = new Run(history, sabotage);
  const leaked: string[] = [];
  const onRejection = (reason: unknown) =>
    void leaked.push(String(reason instanceof Error ? reason.stack : reason));
  process.on('unhandledRejection', onRejection);
  try {
    await run.play();
  } finally {
    process.off('unhandledRejection', onRejection);
  }
  return run.outcome(leaked);
}

class Run {
  readonly #world: SimulatedWorld;
  readonly #history: History;
  readonly #faults: HistoryFaults;
  #restless: string[] = [];

  constructor(history: History, sabotage: Sabotage) {
    this.#history = history;
    this.#world = new SimulatedWorld(history, sabotage);
    this.#faults = new HistoryFaults(this.#world);
  }

  async play(): Promise<void> {
    const { timeline } = this.#world;
    this.#world.start();
    await this.#until(3_000);
    for (const step of this.#history.steps) {
      await this.#until(timeline.now + step.afterMs);
      if (this.#isBroken()) return;
      count(this.#world.tallies.steps, step.kind);
      this.#begin(step);
    }
    // Every fault in progress ends by itself within this time.
    await this.#until(timeline.now + 180_000);
    this.#faults.end();
    void this.#mendObjects();
    await this.#untilRest();
    await this.#failOverAtRest();
  }

  outcome(leaked: readonly string[]): HistoryOutcome {
    const { violation, chronicle, network, timeline, tallies } = this.#world;
    const error = chronicle.errors[0];
    const broken =
      violation ??
      (timeline.isBusy
        ? ['a program works without end and without a pause', ...leaked].join(': ')
        : undefined) ??
      (error && `a program met what it did not expect: ${error}`) ??
      (leaked[0] && `a promise was rejected and nobody cared: ${leaked[0]}`) ??
      (this.#restless.length > 0 ? `${SETTLED_RULE}: ${this.#restless.join('; ')}` : undefined);
    return {
      ...(broken && { violation: broken }),
      digest: chronicle.digest(),
      lines: chronicle.lines,
      tallies,
      ...network,
      simulatedMs: timeline.now,
    };
  }

  #isBroken(): boolean {
    const { violation, chronicle, timeline } = this.#world;
    return violation !== undefined || chronicle.errors.length > 0 || timeline.isBusy;
  }

  #until(ms: number): Promise<void> {
    return this.#world.timeline.until(ms, () => this.#isBroken());
  }

  async #untilRest(): Promise<void> {
    const { timeline, hosts, disk, fleet } = this.#world;
    const end = timeline.now + PATIENCE_MS;
    for (let revision = -1; timeline.now < end && !this.#isBroken(); ) {
      await this.#until(timeline.now + LOOK_MS);
      this.#restless = [
        ...unsettledProblems(this.#world, [...hosts.keys()]),
        ...(fleet?.problems(disk.content) ?? []),
      ];
      count(this.#world.tallies.checks, SETTLED_RULE);
      // Twice the same: what is at rest stays so.
      if (this.#restless.length === 0 && disk.content.revision === revision) return;
      revision = this.#restless.length === 0 ? disk.content.revision : -1;
    }
    if (this.#restless.length === 0 && !this.#isBroken()) this.#restless = ['the store never comes to rest'];
  }

  /** Leaders change while all else is at rest, so that whatever happens to a container is due to that. */
  async #failOverAtRest(): Promise<void> {
    const { fleet, timeline } = this.#world;
    if (!fleet || this.#isBroken() || this.#restless.length > 0) return;
    this.#world.failoverAlone = true;
    const random = new SeededRandom(`${this.#history.seed}/failovers at rest`);
    for (let failover = 0; failover < FAILOVERS_AT_REST && !this.#isBroken(); failover++) {
      fleet.fail(random.pick(LEADER_FAULTS), 'leader', random);
      await this.#until(timeline.now + random.integer(10_000, 100_000));
    }
    fleet.endFaults();
    await this.#untilRest();
  }

  #begin(step: Step): void {
    const { afterMs: _, ...what } = step;
    this.#world.chronicle.record('history', JSON.stringify(what));
    if (isUserStep(step)) void this.#use(step);
    else this.#faults.start(step as Fault);
  }

  /** Replaces images that cannot run, releases delayed rollouts, and gives failed rollouts another revision. */
  async #mendObjects(): Promise<void> {
    for (const request of repairImages(this.#user())) await this.#ask('a person', 'mend an image', request);
    for (const request of repairPolicy(this.#user())) await this.#ask('a person', 'mend the policy', request);
    for (const request of repairJobs(this.#user())) await this.#ask('a person', 'mend a job', request);
    if (this.#world.stored.policy)
      for (const request of repairValues(this.#user())) await this.#ask('a person', 'mend values', request);
    for (const request of returnRoom(this.#user())) await this.#ask('a person', 'return room', request);
    await new Promise<void>((resolve) => this.#world.timeline.after(SETTLED_MS, resolve));
    // Controllers that were disconnected or idle may have created Pods from the template before its repair.
    for (const request of repairImages(this.#user())) await this.#ask('a person', 'mend an image', request);
    for (const request of repairPods(this.#user())) await this.#ask('a person', 'mend a Pod', request);
    for (const request of repairRollouts(this.#user()))
      await this.#ask('a person', 'mend a rollout', request);
  }

  async #use(step: UserStep): Promise<void> {
    for (const request of requestsOf(step, this.#user())) await this.#ask('a person', step.kind, request);
  }

  #user(): UserDeps {
    const deleting = ({ metadata }: { metadata: { uid?: string } }, isForced: boolean) => {
      this.#world.userRequests.deleted.add(metadata.uid ?? '');
      if (isForced) this.#world.userRequests.forced.add(metadata.uid ?? '');
    };
    return { stored: this.#world.stored, now: () => this.#world.coordinatorNowMs, deleting };
  }

  async #ask(who: string, what: string, request: Request): Promise<void> {
    const { coordinators, chronicle, timeline } = this.#world;
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = await coordinators.call(request);
      count(this.#world.tallies.requests, answer.kind);
      const isFull = answer.kind === 'refused' && answer.error.code >= 500;
      if (answer.kind === 'acknowledged') {
        chronicle.record(who, `${what}: done`);
        for (const write of answer.value) this.#world.acknowledged(write);
        return;
      }
      if (answer.kind === 'refused' && !isFull) {
        chronicle.record(who, `${what}: refused, ${answer.error.message}`);
        return;
      }
      await new Promise<void>((resolve) => timeline.after(TRY_AGAIN_MS, resolve));
    }
    chronicle.record(who, `${what}: given up`);
  }
}
