/** Fleets of pretended hosts over TLS against a coordinator process, and what carries as many bare sockets. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench } from '../section.js';
import { measureApply } from './apply.js';
import { FloorFleet } from './floor-fleet.js';
import { HollowFleet } from './hollow-fleet.js';
import { measureIdle } from './idle.js';
import { measureJoin } from './join.js';
import { measureLabel } from './label.js';
import { memoryOf, memoryResult } from './memory.js';
import { measureList, measureWatch } from './reads.js';
import { measureRestart } from './restart.js';
import { measureRollout } from './rollout.js';

export async function measureHollow(bench: Bench): Promise<void> {
  for (const agents of bench.quick ? [500] : [1_000, 10_000]) await measureFleet(bench, agents);
}

/** Starts both servers, without agents yet; they are there while `work` runs. */
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

async function measureFleet(bench: Bench, agents: number): Promise<void> {
  const { quick } = bench;
  const rounds = 5;
  await withFleets(agents, async (floor, product) => {
    const before = await memoryOf(floor, product);
    await measureJoin(bench, floor, product);
    await measureApply(bench, floor, product, rounds);
    await measureLabel(bench, floor, product, quick ? 10 : 20);
    const daemonSet = await measureRollout(bench, floor, product, quick ? 2 : rounds);
    // In a small fleet it is the program's own that is spread over its agents.
    if (agents >= 10_000) bench.report(memoryResult(agents, before, await memoryOf(floor, product)));
    await measureIdle(bench, floor, product, quick ? 1 : rounds);
    await measureList(bench, floor, product, rounds);
    const watch = quick ? { rounds: 1, events: 500 } : { rounds, events: 2_000 };
    await measureWatch(bench, floor, product, watch);
    await measureRestart(bench, floor, product, quick ? 1 : 3);
    await daemonSet.remove();
  });
}
