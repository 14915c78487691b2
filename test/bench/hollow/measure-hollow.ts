/** Fleets of simulated hosts over TLS with a coordinator process, compared with the same number of bare sockets. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchContext } from '../bench-section.js';
import { FloorFleet } from './floor-fleet.js';
import { HollowFleet } from './hollow-fleet.js';
import { measureApply } from './measure-apply.js';
import { measureIdle } from './measure-idle.js';
import { measureJoin } from './measure-join.js';
import { measureKubectl } from './measure-kubectl.js';
import { measureLabel } from './measure-label.js';
import { memoryOf, memoryResult } from './measure-memory.js';
import { measurePreemption } from './measure-preemption.js';
import { measureList, measureWatch } from './measure-reads.js';
import { measureRestart } from './measure-restart.js';
import { measureRollout } from './measure-rollout.js';
import { measureWaves } from './measure-waves.js';

/**
 * Repetitions of each measure for one fleet size. A large fleet is slow, so a small one measures what does not depend
 * on the size.
 */
interface Plan {
  agents: number;
  applies: number;
  labels: number;
  rollouts: number;
  /** Releases by waves. */
  releases: number;
  /** Preemptions on all hosts. */
  preemptions: number;
  idleWindows: number;
  lists: number;
  watches?: { rounds: number; events: number };
  restarts: number;
  /** Only with large fleets: in a small one the program's own memory dominates the memory per agent. */
  reportsMemory?: boolean;
}

const QUICK: readonly Plan[] = [
  {
    ...{ agents: 400, applies: 3, labels: 10, idleWindows: 1, lists: 3, restarts: 1 },
    ...{ rollouts: 1, releases: 1, preemptions: 1 },
    watches: { rounds: 1, events: 500 },
  },
];
const LARGE: Plan = {
  // Several idle windows: one can contain a collection of garbage, which takes seconds of CPU with this fleet.
  ...{ agents: 10_000, applies: 1, labels: 10, idleWindows: 3, lists: 3, restarts: 1 },
  // No release by waves: it takes minutes with this fleet, and the whole section may take fifteen.
  ...{ rollouts: 1, releases: 0, preemptions: 0 },
  reportsMemory: true,
};
const FULL: readonly Plan[] = [
  {
    ...{ agents: 1_000, applies: 5, labels: 20, idleWindows: 2, lists: 5, restarts: 1 },
    ...{ rollouts: 2, releases: 2, preemptions: 2 },
    watches: { rounds: 3, events: 1_000 },
  },
  LARGE,
];

export async function measureHollow(bench: BenchContext): Promise<void> {
  for (const plan of plansOf(bench)) await measureFleet(bench, plan);
}

function plansOf({ quick, agents }: BenchContext): readonly Plan[] {
  if (agents !== undefined) return [{ ...LARGE, agents }];
  return quick ? QUICK : FULL;
}

/** Starts both servers without agents and stops them after `work`. */
export async function withFleets(
  agents: number,
  work: (floor: FloorFleet, product: HollowFleet) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'enbench-'));
  const floor = await FloorFleet.start(join(folder, 'floor'), agents);
  try {
    const product = await HollowFleet.start(join(folder, 'product'), agents);
    try {
      await work(floor, product);
    } finally {
      await product.stop();
    }
  } finally {
    await floor.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureFleet(bench: BenchContext, plan: Plan): Promise<void> {
  const { agents } = plan;
  const now = (what: string) => bench.progress(`${agents} agents: ${what}`);
  await withFleets(agents, async (floor, product) => {
    const before = await memoryOf(floor, product);
    now('join');
    await measureJoin(bench, floor, product);
    now('apply');
    const daemonSet = await measureApply(bench, floor, product, plan.applies, async () => {
      if (plan.reportsMemory) bench.report(memoryResult(agents, before, await memoryOf(floor, product)));
    });
    now('label of one node');
    await measureLabel(bench, floor, product, plan.labels);
    now('rolling update');
    await measureRollout(bench, floor, product, daemonSet, plan.rollouts);
    if (plan.releases > 0) now('release by waves');
    if (plan.releases > 0) await measureWaves(bench, product, daemonSet, plan.releases);
    if (plan.preemptions > 0) now('preemption');
    if (plan.preemptions > 0) await measurePreemption(bench, product, plan.preemptions);
    now('idle');
    await measureIdle(bench, floor, product, plan.idleWindows);
    now('lists');
    await measureList(bench, floor, product, plan.lists);
    await measureKubectl(bench, product);
    if (plan.watches) now('watches');
    if (plan.watches) await measureWatch(bench, floor, product, plan.watches);
    now('restart of the coordinator');
    await measureRestart(bench, floor, product, plan.restarts);
  });
}
