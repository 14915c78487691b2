/**
 * Three coordinators on three members of etcd: how long nobody can write after a planned handover and after a kill, and
 * what a write costs beside a single coordinator with SQLite. All programs share this machine's cores and its disk.
 */
import { join } from 'node:path';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { CoordinatorCluster } from '../../harness/cluster/coordinator-cluster.js';
import type { CoordinatorMember } from '../../harness/cluster/coordinator-member.js';
import { startCoordinatorProcess } from '../../harness/processes/everynode-processes.js';
import { percentile, type Result } from '../bench-result.js';
import type { BenchContext } from '../bench-section.js';
import { memoryMegabytes } from '../process-memory.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const COORDINATORS = `/apis/${FLEET_GROUP}/v1/coordinators`;
/** About the size of a Node and of a Pod. */
const OBJECT_BYTES = 2_000;
const WRITERS = 32;

/** Upstream's constants: a lease of 15 s and a retry each 2 s (client-go `leaderelection`), also after a clean stop. */
const KUBERNETES = 'kube-controller-manager: up to 17 s';

const section = 'failover';

export async function measureFailover(bench: BenchContext): Promise<void> {
  const cluster = await CoordinatorCluster.open({ etcdMembers: 3 });
  if (typeof cluster === 'string') {
    bench.skip('several coordinators', cluster);
    return;
  }
  try {
    await measureWrites(bench, cluster);
    const objects = bench.quick ? 1_000 : 20_000;
    bench.progress(`${objects} objects are stored`);
    await store(cluster, objects);
    await measureHandovers(bench, cluster, objects);
    await measureKills(bench, cluster, objects);
    const standby = (await cluster.standbys())[0];
    const rss = memoryMegabytes(standby?.pid ?? 0).rss;
    const name = `memory of a standby, ${objects} objects`;
    bench.report({
      section,
      name,
      unit: 'MB',
      product: [rss],
      floor: [],
      goal: { kind: 'product', most: 120 },
    });
  } finally {
    await cluster.close();
  }
}

const configMap = (name: string) => ({ metadata: { name }, data: { text: 'x'.repeat(OBJECT_BYTES) } });

async function store(cluster: CoordinatorCluster, count: number): Promise<void> {
  const api = cluster.api(await cluster.untilLeader());
  let next = 0;
  const write = async () => {
    while (next < count) await api.request('POST', CONFIG_MAPS, configMap(`stored-${next++}`));
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

/** The time from `disturb` until a write succeeds at any address. */
async function gap(
  cluster: CoordinatorCluster,
  name: string,
  disturb: () => Promise<unknown>,
): Promise<number> {
  const from = performance.now();
  await disturb();
  const { code } = await cluster.send('POST', CONFIG_MAPS, configMap(name));
  if (code !== 201 && code !== 409) throw new Error(`${name}: ${code}`);
  return performance.now() - from;
}

async function measureHandovers(
  bench: BenchContext,
  cluster: CoordinatorCluster,
  objects: number,
): Promise<void> {
  const product: number[] = [];
  for (let round = 0; round < (bench.quick ? 3 : 10); round += 1) {
    bench.progress(`planned handover ${round + 1}`);
    const leader = await cluster.untilLeader();
    const name = await untilOthersFollow(cluster, leader);
    const stepDown = () => cluster.api(leader).request('POST', `${COORDINATORS}/${name}/stepdown`);
    product.push(await gap(cluster, `handover-${round}`, stepDown));
    await cluster.untilLeader(leader);
  }
  const name = `planned handover until a write succeeds, p95, ${objects} objects (${KUBERNETES})`;
  report(bench, { name, product, most: 2_000 });
}

async function measureKills(
  bench: BenchContext,
  cluster: CoordinatorCluster,
  objects: number,
): Promise<void> {
  for (const [what, most] of [
    ['coordinator', 9_000],
    ['coordinator and etcd leader', 13_000],
  ] as const) {
    const product: number[] = [];
    for (let round = 0; round < (bench.quick ? 2 : 6); round += 1) {
      bench.progress(`kill of the ${what} ${round + 1}`);
      const leader = await cluster.untilLeader();
      await untilOthersFollow(cluster, leader);
      const etcd = what === 'coordinator' ? undefined : cluster.etcd.leader();
      const kill = async () => {
        if (etcd !== undefined) await cluster.etcd.kill(etcd);
        await leader.kill();
      };
      product.push(await gap(cluster, `${what.replaceAll(' ', '-')}-${round}`, kill));
      if (etcd !== undefined) cluster.etcd.restart(etcd);
      leader.start();
      await cluster.untilServes(leader);
    }
    const name = `${what} killed until a write succeeds, p95, ${objects} objects (${KUBERNETES})`;
    report(bench, { name, product, most });
  }
}

function report(
  bench: BenchContext,
  { name, product, most }: Pick<Result, 'name' | 'product'> & { most: number },
) {
  const goal = { kind: 'product', most } as const;
  bench.report({ section, name, unit: 'ms', product: [percentile(product, 0.95)], floor: [], goal });
}

/** Resolves with the name of the leader when all other coordinators can lead. */
async function untilOthersFollow(cluster: CoordinatorCluster, leader: CoordinatorMember): Promise<string> {
  let name = '';
  const canAllLead = async () => {
    const { items } = await cluster.api(leader).items<Coordinator>(COORDINATORS);
    name = items.find(({ spec }) => spec.memberId === leader.id)?.metadata.name ?? '';
    return items.filter(({ status }) => status.role === 'Follower').length === cluster.members.length - 1;
  };
  await until(canAllLead, { timeoutMs: 60_000, pollMs: 500, what: 'all other coordinators to follow' });
  return name;
}

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
