/** A DaemonJob on a fleet with offline hosts, while the coordinator is killed twice. */
import type { DaemonJob, DaemonJobResult } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { PODS } from '../bench-daemonset.js';
import type { BenchContext } from '../bench-section.js';
import type { HollowFleet } from '../hollow/hollow-fleet.js';
import { wallMs } from '../paired-runs.js';
import { withHosts } from './values-fleet.js';

const FLEET = '/apis/fleet.everynode.dev/v1/namespaces/default';
const NAME = 'bench';
const JOB = `${FLEET}/daemonjobs/${NAME}`;
const OFFLINE_SHARE = 0.15;
const ALL_MS = 900_000;
/** Each container runs this long. */
const RUN_TIME = '500ms';

type Status = NonNullable<DaemonJob['status']>;

export async function measureJobs(bench: BenchContext): Promise<void> {
  const agents = bench.agents ?? (bench.quick ? 400 : 5_000);
  bench.progress(`${agents} agents: join`);
  await withHosts(agents, (product) => measureJob(bench, product));
}

async function measureJob({ report, progress }: BenchContext, product: HollowFleet): Promise<void> {
  const { agents, api } = product;
  const offline = Math.floor(agents * OFFLINE_SHARE);
  const online = agents - offline;
  const names = Array.from({ length: offline }, (_, index) => `node-${index + 1}`).join(',');
  await product.command(`offline ${names}`);
  await until(() => product.live === online, { timeoutMs: ALL_MS, what: 'hosts to be offline' });
  await product.untilQuiet();
  const before = await product.cost.heapKilobytes();
  progress('a DaemonJob, killed twice');
  await api.request('POST', `${FLEET}/daemonjobs`, {
    metadata: { name: NAME },
    spec: {
      parallelism: '25%',
      template: {
        metadata: { annotations: { 'simulate.everynode.dev/exit-after': RUN_TIME } },
        spec: { containers: [{ name: 'work', image: 'work:1' }] },
      },
    },
  });
  for (const share of [0.3, 0.6]) {
    await untilStatus(product, `${share} of the hosts`, ({ succeeded = 0 }) => succeeded >= share * online);
    await product.killAndRestart();
    await until(() => product.live === online, { timeoutMs: ALL_MS, what: 'hosts to be back' });
  }
  await untilStatus(product, 'all online hosts', ({ succeeded }) => succeeded === online);
  progress('offline hosts return');
  await product.command(`online ${names}`);
  await product.untilAllLive();
  const ms = await wallMs(() => untilStatus(product, 'all hosts', ({ succeeded }) => succeeded === agents));
  await expectOnce(product);
  report({
    ...{ section: 'jobs', unit: 's', floor: [], goal: { kind: 'product', most: 60 } },
    name: `DaemonJob on ${agents} hosts, 15 % offline, coordinator killed twice: last host back → all results`,
    product: [ms / 1_000],
  });
  await product.untilQuiet();
  const after = await product.cost.heapKilobytes();
  report({
    ...{ section: 'jobs', unit: 'KB', floor: [] },
    name: `memory of a host for a DaemonJob with its Pod, its result and their Events, of ${agents}`,
    product: [(after - before) / agents],
  });
  await measureResultMemory({ report }, product);
}

/**
 * The job with its results and without its Pods, and then without both. Each is read after a restart: the log of changes in
 * memory, which is bounded, would otherwise hold the deleted Pods in one reading and not in the other.
 */
async function measureResultMemory(
  { report }: Pick<BenchContext, 'report'>,
  product: HollowFleet,
): Promise<void> {
  const { agents, api } = product;
  await api.request('DELETE', `${PODS}?labelSelector=fleet.everynode.dev%2Fdaemonjob%3D${NAME}`);
  const isEmpty = async () => (await api.items(`${PODS}?limit=1`)).items.length === 0;
  await until(isEmpty, { timeoutMs: ALL_MS, what: 'the Pods to be gone', pollMs: 500 });
  const stored = await heapAfterRestart(product);
  await api.request('DELETE', `${JOB}?propagationPolicy=Foreground`);
  const isGone = async () => (await api.send('GET', JOB)).code === 404;
  await until(isGone, { timeoutMs: ALL_MS, what: 'the job to be gone', pollMs: 500 });
  const without = await heapAfterRestart(product);
  report({
    ...{ section: 'jobs', unit: 'KB', floor: [], goal: { kind: 'product', most: 1 } },
    name: `memory of a host for its state and result of a DaemonJob, of ${agents}`,
    product: [(stored - without) / agents],
  });
}

async function heapAfterRestart(product: HollowFleet): Promise<number> {
  await product.untilQuiet();
  await product.killAndRestart();
  await product.untilAllLive();
  await product.untilQuiet();
  return product.cost.heapKilobytes();
}

async function untilStatus(
  { api }: HollowFleet,
  what: string,
  holds: (status: Status) => boolean,
): Promise<void> {
  const check = async () => {
    const { status = {} } = await api.request<DaemonJob>('GET', JOB);
    return holds(status) || `${what}: ${JSON.stringify(status)}`;
  };
  await until(check, { timeoutMs: ALL_MS, what: `results of ${what}`, pollMs: 100 });
}

/** Throws unless each host has run exactly one Pod, whose container has started once. */
async function expectOnce({ api, agents }: HollowFleet): Promise<void> {
  const { items: results } = await api.items<DaemonJobResult>(`${FLEET}/daemonjobresults`);
  const { items: pods } = await api.items<Pod>(PODS);
  const hosts = new Set(results.map(({ nodeName }) => nodeName));
  const wrong = results.filter(({ phase, attempts }) => phase !== 'Succeeded' || attempts !== 1);
  const started = pods.filter(
    ({ status }) => status?.phase === 'Succeeded' && status.containerStatuses?.[0]?.restartCount === 0,
  );
  if (hosts.size !== agents || wrong.length > 0 || pods.length !== agents || started.length !== agents)
    throw new Error(
      `${hosts.size} hosts, ${wrong.length} wrong results, ${pods.length} Pods, ${started.length} started once`,
    );
}
