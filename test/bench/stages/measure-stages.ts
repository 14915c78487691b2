/** Follows the Pods of one apply through the coordinator: how often each stage runs per Pod, and the CPU time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchDaemonSet } from '../bench-daemonset.js';
import type { BenchContext } from '../bench-section.js';
import { HollowFleet } from '../hollow/hollow-fleet.js';
import { mainThreadMs } from '../process-memory.js';
import { callsPerPod, POD_STAGES } from './pod-stages.js';

const PLANS = { quick: { agents: 300, applies: 3 }, full: { agents: 1_000, applies: 7 } };

export async function measureStages({ quick, report, progress }: BenchContext): Promise<void> {
  const { agents, applies } = PLANS[quick ? 'quick' : 'full'];
  const folder = mkdtempSync(join(tmpdir(), 'enstages-'));
  const fleet = await HollowFleet.start(join(folder, 'product'), agents);
  try {
    progress(`${agents} agents: join`);
    await fleet.join();
    progress('applies');
    const costs: ApplyCost[] = [];
    for (let apply = 0; apply < applies; apply += 1) {
      costs.push(await applied(fleet, (work) => costOf(fleet, work)));
    }
    const measured = { section: 'stages', floor: [] } as const;
    const reportCpu = (name: string, cpuMs: readonly number[]) =>
      report({
        ...{ ...measured, name, unit: 'µs CPU a Pod' },
        product: cpuMs.map((each) => (each * 1_000) / agents),
      });
    const [first, later] = [costs.slice(0, 1), costs.slice(1)];
    reportCpu('first apply until its last Event is stored', first.map(allThreads));
    reportCpu('of that, other threads than the main one (first apply)', first.map(otherThreads));
    reportCpu('later applies until the last Event is stored', later.map(allThreads));
    reportCpu('of that, other threads than the main one (later applies)', later.map(otherThreads));
    progress('counts');
    const counts = await applied(fleet, (work) => fleet.cost.callsDuring(work));
    for (const stage of POD_STAGES) {
      const product = [callsPerPod(stage, counts, agents)];
      report({ ...measured, name: stage.name, unit: 'a Pod', product });
    }
  } finally {
    await fleet.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** CPU ms of the coordinator. V8 compiles and collects garbage in other threads, and one thread writes to the disk. */
interface ApplyCost {
  all: number;
  main: number;
}

const allThreads = ({ all }: ApplyCost): number => all;
const otherThreads = ({ all, main }: ApplyCost): number => all - main;

async function costOf(fleet: HollowFleet, work: () => Promise<void>): Promise<ApplyCost> {
  const { pid } = fleet.coordinator;
  const before = mainThreadMs(pid).ran;
  const all = await fleet.cost.during(work);
  return { all, main: mainThreadMs(pid).ran - before };
}

/** Measures one apply to all hosts until the coordinator is idle, and removes its Pods. */
async function applied<T>(
  fleet: HollowFleet,
  measure: (work: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const daemonSet = new BenchDaemonSet(fleet.api);
  const measured = await measure(async () => {
    await daemonSet.create();
    await daemonSet.untilReady(fleet.agents);
    await fleet.untilQuiet();
  });
  await daemonSet.remove();
  await fleet.untilQuiet();
  return measured;
}
