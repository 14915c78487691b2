/** From a manifest to all its Pods ready and shown so; what the event loop and a small request feel of it. */
import { setTimeout as pause } from 'node:timers/promises';
import { BenchDaemonSet } from '../bench-daemonset.js';
import { percentile } from '../bench-result.js';
import type { BenchContext } from '../bench-section.js';
import type { FloorFleet } from './floor-fleet.js';
import type { HollowFleet } from './hollow-fleet.js';

const BETWEEN_REQUESTS_MS = 50;
/** Frames in a floor that is long enough to be measured alone: of a small fleet all agents several times. */
const SMALL = 2_000;

/** What one apply took. */
interface Applied {
  cpuMs: number;
  /** Until nothing of it is left to be written. */
  restCpuMs: number;
  wallMs: number;
  /** One figure, or none: a small fleet has its Pods too soon for one. */
  loopDelaysMs: number[];
  /** 99th percentile of small requests meanwhile. */
  requestMs: number;
}

/**
 * `rounds` come after a first one, which is told by itself. `whileApplied` is called once, when every agent has its first Pod and
 * both servers have come to rest. Leaves the fleet with one Pod on each host, and answers the DaemonSet.
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
  // The first runs code that is not compiled yet, into a heap that grows: a matter of its own.
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
  // Events come behind: how many of them fall into the time until all is ready is the machine's speed and the fleet's size.
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

/** What it takes to bring one frame to each agent and an answer back, with a durable row each. */
export async function applyBare(floor: FloorFleet): Promise<{ cpuMs: number; wallMs: number }> {
  const times = Math.ceil(SMALL / floor.agents);
  const begun = performance.now();
  const cpuMs = await floor.cost.during(async () => {
    for (let time = 0; time < times; time += 1) await floor.order({ kind: 'apply' });
  });
  return { cpuMs: cpuMs / times, wallMs: (performance.now() - begun) / times };
}

async function apply(product: HollowFleet, daemonSet: BenchDaemonSet): Promise<Applied> {
  const { cost, agents } = product;
  let [cpuMs, isDone] = [0, false];
  let loopDelaysMs: number[] = [];
  const apply = async () => {
    const begun = performance.now();
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
    return performance.now() - begun;
  };
  const [wallMs, requests] = await Promise.all([apply(), askUntil(product, () => isDone)]);
  // A crowd's reports must not drown the heartbeats.
  if (product.live !== agents)
    throw new Error(`only ${product.live} of ${agents} agents are still connected`);
  const restCpuMs = cpuMs + (await cost.during(() => product.untilQuiet()));
  return { cpuMs, restCpuMs, wallMs, loopDelaysMs, requestMs: percentile(requests, 0.99) };
}

/** How long small requests took, one after another. */
async function askUntil({ api }: HollowFleet, isDone: () => boolean): Promise<number[]> {
  const requests: number[] = [];
  while (!isDone()) {
    const begun = performance.now();
    await api.request('GET', '/api/v1/namespaces/default');
    requests.push(performance.now() - begun);
    await pause(BETWEEN_REQUESTS_MS);
  }
  return requests;
}
