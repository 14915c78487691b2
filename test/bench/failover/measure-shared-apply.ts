/** An apply to all hosts of three coordinators, beside the same apply to the hosts of a single coordinator. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchDaemonSet } from '../bench-daemonset.js';
import type { BenchContext } from '../bench-section.js';
import { HollowFleet } from '../hollow/hollow-fleet.js';
import { cpuMeter } from '../process-memory.js';
import type { ClusterFleet } from './cluster-fleet.js';

/** An apply may cost this much more with etcd. */
const GOAL = { kind: 'ratio', most: 1.15 } as const;

interface Cost {
  cpuMs: number;
  wallMs: number;
}

/** Leaves the fleet of several coordinators with one Pod on each host. The single coordinator ends. */
export async function measureSharedApply(
  bench: BenchContext,
  shared: ClusterFleet,
  rounds: number,
): Promise<void> {
  const { agents, cluster } = shared;
  const folder = mkdtempSync(join(tmpdir(), 'enbench-'));
  const single = await HollowFleet.start(join(folder, 'single'), agents);
  const costs: { floor: Cost[]; product: Cost[] } = { floor: [], product: [] };
  try {
    await single.join();
    // The first round runs code that is not compiled yet, and is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      bench.progress(`${agents} hosts: apply ${round}`);
      const leader = await cluster.untilLeader();
      costs.floor.push(
        await apply(agents, single.api, single.coordinator.pid, () => single.untilQuiet(), true),
      );
      const isLast = round === rounds;
      const api = cluster.api(leader);
      costs.product.push(await apply(agents, api, leader.pid, () => shared.untilQuiet(), !isLast));
    }
  } finally {
    await single.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const [floor, product] = [costs.floor.slice(1), costs.product.slice(1)];
  const name = `apply to ${agents} hosts, against a single coordinator`;
  bench.report({
    ...{ section: 'failover', name: `${name}: CPU of the leader`, unit: 'CPU ms', goal: GOAL },
    floor: floor.map(({ cpuMs }) => cpuMs),
    product: product.map(({ cpuMs }) => cpuMs),
  });
  bench.report({
    ...{ section: 'failover', name: `${name}: until all Pods are ready`, unit: 'ms', goal: GOAL },
    floor: floor.map(({ wallMs }) => wallMs),
    product: product.map(({ wallMs }) => wallMs),
  });
}

async function apply(
  agents: number,
  api: ConstructorParameters<typeof BenchDaemonSet>[0],
  pid: number,
  untilQuiet: () => Promise<void>,
  isRemoved: boolean,
): Promise<Cost> {
  const daemonSet = new BenchDaemonSet(api);
  await untilQuiet();
  const cpu = cpuMeter(pid);
  const from = performance.now();
  await daemonSet.create();
  await daemonSet.untilReady(agents);
  const cost = { cpuMs: cpu(), wallMs: performance.now() - from };
  if (isRemoved) {
    await daemonSet.remove();
    await untilQuiet();
  }
  return cost;
}
