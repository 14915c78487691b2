/**
 * Three coordinators on three members of etcd, with simulated hosts: how long no client can write after a planned
 * handover and after a kill, how soon the hosts are back, and what etcd costs beside a single coordinator with SQLite.
 * All programs share this machine's cores and its disk.
 */
import { join } from 'node:path';
import { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import type { CoordinatorCluster } from '../../harness/cluster/coordinator-cluster.js';
import { startCoordinatorProcess } from '../../harness/processes/everynode-processes.js';
import { percentile, type Result } from '../bench-result.js';
import type { BenchContext } from '../bench-section.js';
import { memoryMegabytes } from '../process-memory.js';
import { ClusterFleet, COORDINATORS } from './cluster-fleet.js';
import { measureReplicatedStore } from './measure-replicated-store.js';
import { measureSharedApply } from './measure-shared-apply.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** About the size of a Node and of a Pod. */
const OBJECT_BYTES = 2_000;

/**
 * Upstream's constants: a lease of 15 s and a retry each 2 s (client-go `leaderelection`), also after a clean stop.
 * Swarm's managers elect after 10 to 20 s (`docker swarm init`: ElectionTick 10, a tick is 1 s, randomized up to twice).
 */
const OTHERS = 'kube-controller-manager: up to 17 s, Swarm: 10 to 20 s';

const section = 'failover';

interface Plan {
  agents: number;
  /** Applies beside a single coordinator; 0: its hosts would need as much memory and time again. */
  applies: number;
  returns: number;
  handovers: number;
  kills: number;
  /** Seconds in which all hosts must be back after a kill of the leader. */
  returnSeconds: number;
}

const QUICK: readonly Plan[] = [
  { agents: 200, applies: 2, returns: 1, handovers: 3, kills: 2, returnSeconds: 15 },
];
const FULL: readonly Plan[] = [
  { agents: 1_000, applies: 3, returns: 2, handovers: 10, kills: 6, returnSeconds: 15 },
  { agents: 10_000, applies: 0, returns: 1, handovers: 10, kills: 3, returnSeconds: 75 },
];

export async function measureFailover(bench: BenchContext): Promise<void> {
  for (const [index, plan] of (bench.quick ? QUICK : FULL).entries()) {
    const fleet = await ClusterFleet.open(plan.agents);
    if (typeof fleet === 'string') {
      bench.skip('several coordinators', fleet);
      return;
    }
    try {
      if (index === 0) await measureWrites(bench, fleet.cluster);
      if (index === 0) await measureReplicatedStore(bench, fleet.cluster.etcd);
      await measureFleet(bench, fleet, plan);
    } finally {
      await fleet.close();
    }
  }
}

async function measureFleet(bench: BenchContext, fleet: ClusterFleet, plan: Plan): Promise<void> {
  const { agents, applies, returns } = plan;
  bench.progress(`${agents} hosts join`);
  await fleet.join();
  if (applies > 0) await measureSharedApply(bench, fleet, applies);
  await measureReturn(bench, fleet, plan);
  bench.progress(`${agents} hosts go offline`);
  await fleet.stopHosts();
  await measureHandovers(bench, fleet, plan);
  await measureKills(bench, fleet, plan);
  if (returns > 0) await reportMemory(bench, fleet);
}

/** The hosts' links end with the leader, and lead to the next one. */
async function measureReturn(
  bench: BenchContext,
  fleet: ClusterFleet,
  { agents, returns, returnSeconds: most }: Plan,
): Promise<void> {
  const { cluster } = fleet;
  const product: number[] = [];
  for (let round = 0; round < returns; round += 1) {
    bench.progress(`${agents} hosts lose their leader, ${round + 1}`);
    const leader = await cluster.untilLeader();
    await fleet.untilOthersFollow(leader);
    const from = performance.now();
    await leader.kill();
    await cluster.untilLeader(leader);
    await fleet.untilAllLive();
    product.push((performance.now() - from) / 1_000);
    leader.start();
    await cluster.untilServes(leader);
    await fleet.untilQuiet();
  }
  const name = `leader killed until ${agents} hosts are connected again`;
  bench.report({ section, name, unit: 's', product, floor: [], goal: { kind: 'product', most } });
}

async function measureHandovers(
  bench: BenchContext,
  fleet: ClusterFleet,
  { agents, handovers }: Plan,
): Promise<void> {
  const { cluster } = fleet;
  const product: number[] = [];
  for (let round = 0; round < handovers; round += 1) {
    bench.progress(`planned handover ${round + 1}`);
    const leader = await cluster.untilLeader();
    const name = await fleet.untilOthersFollow(leader);
    const stepDown = () => cluster.api(leader).request('POST', `${COORDINATORS}/${name}/stepdown`);
    product.push(await fleet.untilWritten(`handover-${round}`, stepDown));
    await cluster.untilLeader(leader);
  }
  const name = `planned handover until a write succeeds, p95, ${agents} hosts stored (${OTHERS})`;
  report(bench, { name, product, most: 2_000 });
}

async function measureKills(
  bench: BenchContext,
  fleet: ClusterFleet,
  { agents, kills }: Plan,
): Promise<void> {
  const { cluster } = fleet;
  for (const [what, most] of [
    ['coordinator', 9_000],
    ['coordinator and etcd leader', 13_000],
  ] as const) {
    const product: number[] = [];
    for (let round = 0; round < kills; round += 1) {
      bench.progress(`kill of the ${what} ${round + 1}`);
      const leader = await cluster.untilLeader();
      await fleet.untilOthersFollow(leader);
      const etcd = what === 'coordinator' ? undefined : cluster.etcd.leader();
      const kill = async () => {
        if (etcd !== undefined) await cluster.etcd.kill(etcd);
        await leader.kill();
      };
      product.push(await fleet.untilWritten(`${what.replaceAll(' ', '-')}-${round}`, kill));
      if (etcd !== undefined) cluster.etcd.restart(etcd);
      leader.start();
      await cluster.untilServes(leader);
    }
    const name = `${what} killed until a write succeeds, p95, ${agents} hosts stored (${OTHERS})`;
    report(bench, { name, product, most });
  }
}

/** After the rounds of this plan, which change every stored object several times. */
async function reportMemory(bench: BenchContext, { cluster, agents }: ClusterFleet): Promise<void> {
  const standbys = await cluster.standbys();
  const standby = Math.max(...standbys.map(({ pid }) => memoryMegabytes(pid).rss));
  const etcd = Math.max(...cluster.etcd.pids.map((pid) => memoryMegabytes(pid).rss));
  for (const [what, rss, most] of [
    ['a standby', standby, 120],
    ['a member of etcd', etcd, 300],
  ] as const) {
    const name = `memory of ${what}, ${agents} hosts stored`;
    const goal = { kind: 'product', most } as const;
    bench.report({ section, name, unit: 'MB', product: [rss], floor: [], goal });
  }
}

function report(
  bench: BenchContext,
  { name, product, most }: Pick<Result, 'name' | 'product'> & { most: number },
) {
  const goal = { kind: 'product', most } as const;
  bench.report({ section, name, unit: 'ms', product: [percentile(product, 0.95)], floor: [], goal });
}

const configMap = (name: string) => ({ metadata: { name }, data: { text: 'x'.repeat(OBJECT_BYTES) } });

/** Single writes, one after another, at both kinds of coordinator alternately. */
async function measureWrites(bench: BenchContext, cluster: CoordinatorCluster): Promise<void> {
  bench.progress('single writes');
  const dataDir = join(temporaryDirectory(), 'single');
  const single = await startCoordinatorProcess(dataDir);
  const alone = new CoordinatorApi(single.kubeconfig);
  const shared = cluster.api(await cluster.untilLeader());
  const [floor, product]: number[][] = [[], []];
  try {
    for (let index = 0; index < (bench.quick ? 100 : 500); index += 1) {
      floor?.push(await timed(() => alone.request('POST', CONFIG_MAPS, configMap(`single-${index}`))));
      product?.push(await timed(() => shared.request('POST', CONFIG_MAPS, configMap(`single-${index}`))));
    }
  } finally {
    alone.close();
    await single.end('SIGTERM');
  }
  const goal = { kind: 'product', most: 6 } as const;
  const name = 'a single write, against one coordinator with SQLite';
  bench.report({ section, name, unit: 'ms', product: product ?? [], floor: floor ?? [], goal });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
