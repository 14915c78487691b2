/**
 * Time from a manifest until all its Pods are shown as ready, with event loop delays and the latency of small requests
 * meanwhile.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { BenchDaemonSet } from '../bench-daemonset.js';
import { percentile } from '../bench-result.js';
import type { BenchContext } from '../bench-section.js';
import type { FloorFleet } from './floor-fleet.js';
import type { HollowFleet } from './hollow-fleet.js';

const BETWEEN_REQUESTS_MS = 50;
/** Least number of frames for a measurable floor: a small fleet applies several times. */
const SMALL = 2_000;

/** Cost of one apply. */
interface Applied {
  cpuMs: number;
  /** Until all its writes are done. */
  restCpuMs: number;
  wallMs: number;
  /** One value, or none if a small fleet has its Pods too soon. */
  loopDelaysMs: number[];
  /** 99th percentile of small requests during the apply. */
  requestMs: number;
}

/**
 * Measures `rounds` applies after a first one, which is reported separately. Calls `whileApplied` once, when every
 * agent has its first Pod and both servers are idle. Leaves the fleet with one Pod on each host and returns the
 * DaemonSet.
 */
export async function measureApply(
  { report, skip: leaveOut }: BenchContext,
  floor: FloorFleet,
  product: HollowFleet,
  rounds: number,
  whileApplied: () => Promise<void> = async () => undefined,
): Promise<BenchDaemonSet> {
  const { agents } = product;
  const bare: { cpuMs: number; wallMs: number }[] = [];
  const ours: Applied[] = [];
  let daemonSet = new BenchDaemonSet(product.api);
  // The first round runs code that is not compiled yet, with a growing heap, so it is reported separately.
  for (let round = 0; round <= rounds; round += 1) {
    if (round > 0) await daemonSet.remove();
    if (round > 0) await product.untilQuiet();
    daemonSet = new BenchDaemonSet(product.api);
    bare.push(await applyBare(floor));
    ours.push(await apply(product, daemonSet));
    if (round === 0) await whileApplied();
  }
  const [floors, products] = [bare.slice(1), ours.slice(1)];
  report({
    ...{
      section: 'hollow',
      name: `the first apply to ${agents} agents, until its last Event is written`,
      unit: 'CPU ms',
    },
    floor: bare.slice(0, 1).map(({ cpuMs }) => cpuMs),
    product: ours.slice(0, 1).map(({ restCpuMs }) => restCpuMs),
  });
  const what = `apply → ${agents} agents have it, durable, ready and shown so`;
  report({
    ...{ section: 'hollow', number: '7', name: what, unit: 'CPU ms', goal: { kind: 'ratio', most: 2 } },
    floor: floors.map(({ cpuMs }) => cpuMs),
    product: products.map(({ cpuMs }) => cpuMs),
  });
  // Count until the coordinator is idle: Events are written late, and how many fall before readiness depends on machine
  // and fleet size.
  report({
    ...{
      section: 'hollow',
      name: `apply to ${agents} agents until its last Event is written`,
      unit: 'CPU ms',
    },
    floor: floors.map(({ cpuMs }) => cpuMs),
    product: products.map(({ restCpuMs }) => restCpuMs),
  });
  report({
    ...{ section: 'hollow', name: `${what}, the hosts on the same cores`, unit: 'ms' },
    floor: floors.map(({ wallMs }) => wallMs),
    product: products.map(({ wallMs }) => wallMs),
  });
  const meanwhile = { section: 'hollow', unit: 'ms', floor: [] } as const;
  const delays = products.flatMap(({ loopDelaysMs }) => loopDelaysMs);
  if (delays.length === 0) leaveOut('event-loop delay meanwhile', `${agents} agents have it too soon`);
  else
    report({
      ...{ ...meanwhile, number: '21', name: `event-loop delay p99 meanwhile, ${agents} agents` },
      ...{ product: delays, goal: { kind: 'product', most: 25 } },
    });
  report({
    ...{ ...meanwhile, name: `GET of a small object meanwhile, p99, ${agents} agents` },
    ...{ product: products.map(({ requestMs }) => requestMs), goal: { kind: 'product', most: 100 } },
  });
  return daemonSet;
}

/** Cost of one frame to each agent and its response, with a durable row each. */
export async function applyBare(floor: FloorFleet): Promise<{ cpuMs: number; wallMs: number }> {
  const times = Math.ceil(SMALL / floor.agents);
  const startMs = performance.now();
  const cpuMs = await floor.cost.during(async () => {
    for (let time = 0; time < times; time += 1) await floor.order({ kind: 'apply' });
  });
  return { cpuMs: cpuMs / times, wallMs: (performance.now() - startMs) / times };
}

async function apply(product: HollowFleet, daemonSet: BenchDaemonSet): Promise<Applied> {
  const { cost, agents } = product;
  let [cpuMs, isDone] = [0, false];
  let loopDelaysMs: number[] = [];
  const apply = async () => {
    const startMs = performance.now();
    try {
      loopDelaysMs = await cost.loopDelaysMs(async () => {
        cpuMs = await cost.during(async () => {
          await daemonSet.create();
          await daemonSet.untilReady(agents);
        });
      });
    } finally {
      isDone = true;
    }
    return performance.now() - startMs;
  };
  const [wallMs, requests] = await Promise.all([apply(), askUntil(product, () => isDone)]);
  // Many reports at once must not delay the heartbeats.
  if (product.live !== agents)
    throw new Error(`only ${product.live} of ${agents} agents are still connected`);
  const restCpuMs = cpuMs + (await cost.during(() => product.untilQuiet()));
  return { cpuMs, restCpuMs, wallMs, loopDelaysMs, requestMs: percentile(requests, 0.99) };
}

/** Latencies of small requests, sent one after another until `isDone`. */
async function askUntil({ api }: HollowFleet, isDone: () => boolean): Promise<number[]> {
  const requests: number[] = [];
  while (!isDone()) {
    const startMs = performance.now();
    await api.request('GET', '/api/v1/namespaces/default');
    requests.push(performance.now() - startMs);
    await pause(BETWEEN_REQUESTS_MS);
  }
  return requests;
}
