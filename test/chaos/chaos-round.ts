/**
 * One round: users' changes and faults, then the repair of everything, then a wait for the settled state. No DaemonSet
 * may run twice meanwhile.
 */
import { pause } from '../harness/basics/wait-until.js';
import {
  duplicateContainers,
  type ObservedFleet,
  type ObservedHost,
  problemsOf,
  replacedContainers,
} from './chaos-check.js';
import { ChaosFaults } from './chaos-faults.js';
import type { ChaosFleet } from './chaos-fleet.js';
import {
  type Fault,
  type FaultKind,
  isFault,
  OF_CONTAINERS,
  OF_ENGINES,
  type Step,
  type UserStep,
} from './chaos-plan.js';
import type { RequestedState } from './requested-state.js';

/** Interval between two checks of the engines. */
const LOOK_MS = 250;
/** Interval between two checks for the settled state, and how many checks in a row must pass. */
const REST_MS = 300;
const RESTS = 2;

export interface RoundOutcome {
  /** Kinds of the injected faults. */
  faults: FaultKind[];
  /** Time from the end of the last fault to the settled state, ms. */
  settleMs: number;
  /** The first problem of each failed check in order of time, with the time since the end of the last fault. */
  blockedBy: Obstacle[];
  violations: string[];
}

export interface Obstacle {
  problem: string;
  untilMs: number;
}

export interface RoundDeps {
  fleet: ChaosFleet;
  requestedState: RequestedState;
  steps: readonly Step[];
  /** A round that has not settled after this many ms has failed. */
  timeoutMs: number;
}

export async function playRound({
  fleet,
  requestedState: book,
  steps,
  timeoutMs: patienceMs,
}: RoundDeps): Promise<RoundOutcome> {
  const before = await fleet.observeHosts();
  const watch = new DoubleWatch(fleet, book);
  const isDisturbed = disturbed(fleet, steps.filter(isFault));
  const harm = new ChaosFaults(fleet, book, isDisturbed);
  const faults = await carryOut(harm, book, steps);
  const mended = performance.now();
  const { seen, restless, heldUpBy } = await untilRest(fleet, book, patienceMs);
  const restMs = performance.now() - mended;
  const twice = await watch.end();
  return {
    faults: faults.map(({ kind }) => kind),
    settleMs: restMs,
    blockedBy: heldUpBy,
    violations: [
      ...twice,
      ...harm.violations,
      ...restless.map((problem) => `not settled after ${Math.round(restMs / 1_000)} s: ${problem}`),
      ...(seen ? replacedContainers(before, seen, isDisturbed) : []),
    ],
  };
}

/**
 * Runs all steps at their times, users' steps one after another. Resolves with the injected faults when all steps have
 * ended.
 */
async function carryOut(
  harm: ChaosFaults,
  book: RequestedState,
  steps: readonly Step[],
): Promise<({ atMs: number } & Fault)[]> {
  const startMs = performance.now();
  const done: ({ atMs: number } & Fault)[] = [];
  const due = (step: Step) => pause(Math.max(startMs + step.atMs - performance.now(), 0));
  const people = async () => {
    for (const step of steps.filter((each) => !isFault(each))) {
      await due(step);
      await book.carryOut(step as UserStep);
    }
  };
  const faults = steps.filter(isFault).map(async (step) => {
    await due(step);
    if (await harm.carryOut(step)) done.push(step);
  });
  // Wait for all steps before an error ends the run; otherwise steps would continue in the background.
  const ends = await Promise.allSettled([people(), ...faults]);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return done;
}

/** The hosts on which a fault may stop containers. */
function disturbed(fleet: ChaosFleet, faults: readonly Fault[]): (host: string) => boolean {
  const names = faults.map((fault) => {
    const host = 'node' in fault ? fleet.hosts[fault.node] : undefined;
    const isHit =
      OF_CONTAINERS.includes(fault.kind) || (OF_ENGINES.includes(fault.kind) && !host?.keepsContainers);
    return isHit ? host?.name : undefined;
  });
  return (host) => names.includes(host);
}

/** The last check with its problems, and the problems before it. */
async function untilRest(
  fleet: ChaosFleet,
  book: RequestedState,
  patienceMs: number,
): Promise<{ seen: ObservedFleet | undefined; restless: string[]; heldUpBy: Obstacle[] }> {
  const startMs = performance.now();
  const heldUpBy: Obstacle[] = [];
  let seen: ObservedFleet | undefined;
  let problems = ['the API does not respond'];
  for (let rests = 0; rests < RESTS; ) {
    try {
      seen = await fleet.observe();
      problems = problemsOf(seen, {
        daemonSets: [...book.daemonSets.values()],
        belongs: (daemonSet, host) => book.belongs(daemonSet, host),
        clockErrorsMs: fleet.clockErrorsMs,
      });
    } catch (error) {
      problems = [String(error)];
    }
    rests = problems.length === 0 ? rests + 1 : 0;
    const untilMs = performance.now() - startMs;
    const [problem] = problems;
    const last = heldUpBy.at(-1);
    if (problem && problem === last?.problem) last.untilMs = untilMs;
    else if (problem) heldUpBy.push({ problem, untilMs });
    if (untilMs > patienceMs) break;
    if (rests < RESTS) await pause(REST_MS);
  }
  return { seen, restless: problems, heldUpBy };
}

/** Polls every engine: a DaemonSet must never run twice on a host at the same time. */
class DoubleWatch {
  readonly #found = new Set<string>();
  readonly #work: Promise<void>;
  #isOver = false;

  constructor(
    private readonly fleet: ChaosFleet,
    private readonly book: RequestedState,
  ) {
    this.#work = this.#run();
  }

  async end(): Promise<string[]> {
    this.#isOver = true;
    await this.#work;
    return [...this.#found];
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const hosts: ObservedHost[] = await this.fleet.observeHosts();
      for (const { name, containers } of hosts)
        for (const twice of duplicateContainers(containers ?? [], this.book.surging))
          this.#found.add(`${twice} ran twice at the same time on ${name}`);
      await pause(LOOK_MS);
    }
  }
}
