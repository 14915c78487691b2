/** One DaemonSet whose hosts each have a value of their own, next to the same DaemonSet without values. */
import { setTimeout as pause } from 'node:timers/promises';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { BenchDaemonSet } from '../bench-daemonset.js';
import type { BenchContext } from '../bench-section.js';
import type { HollowFleet } from '../hollow/hollow-fleet.js';
import { alternate, wallMs } from '../paired-runs.js';
import { podSpec, StoreNumbers, withHosts } from './values-fleet.js';

const FLEET = '/apis/fleet.everynode.dev/v1/namespaces/default';
const READY_MS = 500;
/** Long enough for the replacement of one Pod and its Events. */
const WINDOW_MS = 3_000;
/** Number of objects, if the values of the fleet are divided. */
const OBJECTS = 10;
const POLICY: RolloutPolicySpec = {
  selector: {},
  waves: [
    { name: 'canary', nodes: 10, maxUnavailable: '50%', soakSeconds: 2 },
    { name: 'tenth', nodes: '10%', maxUnavailable: '50%', soakSeconds: 2 },
  ],
};

/** Cost of one apply, until the coordinator is idle. */
interface Applied {
  ms: number;
  cpuMs: number;
}

export async function measureValues(bench: BenchContext): Promise<void> {
  const agents = bench.agents ?? (bench.quick ? 400 : 5_000);
  bench.progress(`${agents} agents: join`);
  await withHosts(agents, async (product) => {
    const stores = new StoreNumbers(product.api, agents);
    const before = await product.cost.heapKilobytes();
    await stores.divide(agents);
    await product.untilQuiet();
    bench.report({
      ...{ section: 'values', unit: 'KB', floor: [], goal: { kind: 'product', most: 1 } },
      name: `memory of a host for its values, without its Pod, of ${agents}`,
      product: [((await product.cost.heapKilobytes()) - before) / agents],
    });
    bench.progress('apply with and without values');
    await measureApplies(bench, product, stores);
    const daemonSet = new BenchDaemonSet(product.api);
    await daemonSet.create({ podSpec: podSpec('values') });
    await daemonSet.untilReady(agents);
    await product.untilQuiet();
    bench.progress('one value of one host');
    await measureOneValue(bench, product, stores, daemonSet, agents);
    const perObject = Math.ceil(agents / OBJECTS);
    await stores.divide(perObject);
    await measureOneValue(bench, product, stores, daemonSet, perObject);
    bench.progress('a value of all hosts through waves');
    await measureSharedValue(bench, product, stores, daemonSet);
  });
}

async function measureApplies(
  { report, quick }: BenchContext,
  product: HollowFleet,
  stores: StoreNumbers,
): Promise<void> {
  const { agents } = product;
  const apply = async (source: 'values' | 'literals'): Promise<Applied> => {
    const daemonSet = new BenchDaemonSet(product.api);
    let ms = 0;
    const cpuMs = await product.cost.during(async () => {
      ms = await wallMs(async () => {
        await daemonSet.create({ podSpec: podSpec(source) });
        await daemonSet.untilReady(agents);
      });
      await product.untilQuiet();
    });
    if (source === 'values') await stores.podsOf(daemonSet.name);
    await daemonSet.remove();
    await product.untilQuiet();
    return { ms, cpuMs };
  };
  // The first applies run code that is not compiled yet.
  await apply('literals');
  await apply('values');
  const [plain = [], valued = []] = await alternate(quick ? 5 : 3, [
    () => apply('literals'),
    () => apply('values'),
  ]);
  const both = <K extends keyof Applied>(key: K) => ({
    floor: plain.map((one) => one[key]),
    product: valued.map((one) => one[key]),
  });
  const name = `apply to ${agents} hosts with a value each, against the same without values`;
  const goal = { kind: 'ratio', most: 1.2 } as const;
  report({ section: 'values', name: `${name}: until all are ready`, unit: 'ms', ...both('ms'), goal });
  report({ section: 'values', name: `${name}: until idle`, unit: 'CPU ms', ...both('cpuMs'), goal });
}

/** Throws unless exactly the host's own Pod is replaced. */
async function measureOneValue(
  { report }: BenchContext,
  product: HollowFleet,
  stores: StoreNumbers,
  daemonSet: BenchDaemonSet,
  perObject: number,
): Promise<void> {
  const { agents, cost } = product;
  const values = { floor: [] as number[], product: [] as number[] };
  for (let round = 0; round < 5; round += 1) {
    const node = `node-${round + 3}`;
    const store = `changed-${perObject}-${round}`;
    const before = await stores.podsOf(daemonSet.name);
    await product.untilQuiet();
    values.floor.push(await cost.during(() => pause(WINDOW_MS)));
    values.product.push(await cost.during(() => Promise.all([pause(WINDOW_MS), stores.change(node, store)])));
    await daemonSet.untilReady(agents);
    const after = await stores.podsOf(daemonSet.name);
    const replaced = [...after].filter(([name, uid]) => before.get(name) !== uid).map(([name]) => name);
    if (replaced.join() !== node) throw new Error(`a value of ${node} replaced the Pods of ${replaced}`);
  }
  report({
    ...{ section: 'values', unit: 'CPU ms', ...values, goal: { kind: 'difference', most: 50 } },
    name: `a value of one of ${agents} hosts changed → its Pod replaced, against an idle window; ${perObject} hosts in an object`,
  });
}

/** Throws unless the change goes through each wave in order. */
async function measureSharedValue(
  { report, quick }: BenchContext,
  product: HollowFleet,
  stores: StoreNumbers,
  daemonSet: BenchDaemonSet,
): Promise<void> {
  const { api, agents } = product;
  await api.request('POST', `${FLEET}/rolloutpolicies`, { metadata: { name: 'bench' }, spec: POLICY });
  const isGoverned = async () =>
    (await api.items<Rollout>(`${FLEET}/rollouts`)).items[0]?.status?.phase === 'Completed';
  await until(isGoverned, { timeoutMs: 60_000, what: 'the policy to govern the DaemonSet' });
  const annotations = { 'simulate.everynode.dev/ready-after': `${READY_MS}ms` };
  const release = async (change: () => Promise<void>) => {
    const path = `${FLEET}/rollouts`;
    const { items, resourceVersion } = await api.items<Rollout>(path);
    const before = items[0]?.status?.revision;
    const watch = await api.watch(path, resourceVersion);
    const statuses = () =>
      watch.events
        .map(({ object }) => (object as unknown as Rollout).status)
        .filter((status) => status && status.revision !== before);
    try {
      const ms = await wallMs(async () => {
        await change();
        const isDone = () => {
          const last = statuses().at(-1);
          return last?.phase === 'Completed' && last.updated === agents;
        };
        await until(isDone, { timeoutMs: 900_000, what: 'the rollout to complete', pollMs: 5 });
      });
      const waves = new Set(statuses().flatMap((status) => status?.wave ?? []));
      if ([...waves].slice(0, 2).join() !== 'canary,tenth') throw new Error(`waves: ${[...waves].join()}`);
      return ms;
    } finally {
      watch.close();
      await product.untilQuiet();
    }
  };
  let number = 0;
  const next = () => {
    number += 1;
    return number;
  };
  const [templates = [], shared = []] = await alternate(quick ? 2 : 1, [
    () =>
      release(() =>
        daemonSet.update({
          template: { metadata: { annotations }, spec: podSpec('values', `app:wave${next()}`) },
        }),
      ),
    () => release(() => stores.changeAll(`banner ${next()}`)),
  ]);
  await stores.podsOf(daemonSet.name);
  report({
    ...{ section: 'values', unit: 'ms', goal: { kind: 'ratio', most: 1.2 } },
    name: `a value of all ${agents} hosts changed, by three waves, against a changed template`,
    floor: templates,
    product: shared,
  });
}
