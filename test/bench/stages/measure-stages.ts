/** Follows the Pods of one apply through the coordinator: how often each stage runs per Pod, and the CPU time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchDaemonSet } from '../bench-daemonset.js';
import type { BenchContext } from '../bench-section.js';
import { HollowFleet } from '../hollow/hollow-fleet.js';
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
    const cpuMs = [];
    for (let apply = 0; apply < applies; apply += 1) {
      cpuMs.push(await applied(fleet, (work) => fleet.cost.during(work)));
    }
    const measured = { section: 'stages', floor: [] } as const;
    const [first = Number.NaN, ...later] = cpuMs.map((each) => (each * 1_000) / agents);
    report({
      ...{ ...measured, name: 'first apply until its last Event is stored' },
      ...{ unit: 'µs CPU a Pod', product: [first] },
    });
    report({
      ...{ ...measured, name: 'later applies until the last Event is stored' },
      ...{ unit: 'µs CPU a Pod', product: later },
    });
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
