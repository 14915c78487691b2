/** From a manifest to all its Pods ready and shown so; what the event loop and a small request feel of it. */
import { setTimeout as pause } from 'node:timers/promises';
import { BenchDaemonSet } from '../bench-daemon-set.js';
import { percentile } from '../result.js';
import type { Bench } from '../section.js';
import type { FloorFleet } from './floor-fleet.js';
import type { HollowFleet } from './hollow-fleet.js';

const BETWEEN_REQUESTS_MS = 50;

/** What one apply took. */
interface Applied {
  cpuMs: number;
  wallMs: number;
  loopDelayMs: number;
  /** 99th percentile of small requests meanwhile. */
  requestMs: number;
}

/** `whileApplied` is called once, when every agent has its first Pod and both servers have come to rest. */
export async function measureApply(
  { report }: Bench,
  floor: FloorFleet,
  product: HollowFleet,
  rounds: number,
  whileApplied: () => Promise<void> = async () => undefined,
): Promise<void> {
  const { agents } = product;
  const bare: { cpuMs: number; wallMs: number }[] = [];
  const ours: Applied[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    bare.push(await applyBare(floor));
    ours.push(await apply(product, round === 0 ? whileApplied : undefined));
  }
  // The first of each warms up.
  const [floors, products] = [bare.slice(1), ours.slice(1)];
  const what = `apply → ${agents} agents have it, durable, ready and shown so`;
  report({
    ...{ section: 'hollow', number: '7', name: what, unit: 'CPU ms', goal: { kind: 'ratio', most: 2 } },
    floor: floors.map(({ cpuMs }) => cpuMs),
    product: products.map(({ cpuMs }) => cpuMs),
  });
  report({
    ...{ section: 'hollow', name: `${what}, the hosts on the same cores`, unit: 'ms' },
    floor: floors.map(({ wallMs }) => wallMs),
    product: products.map(({ wallMs }) => wallMs),
  });
  const meanwhile = { section: 'hollow', unit: 'ms', floor: [] } as const;
  report({
    ...{ ...meanwhile, number: '21', name: `event-loop delay p99 meanwhile, ${agents} agents` },
    ...{ product: products.map(({ loopDelayMs }) => loopDelayMs), goal: { kind: 'product', most: 25 } },
  });
  report({
    ...{ ...meanwhile, name: `GET of a small object meanwhile, p99, ${agents} agents` },
    ...{ product: products.map(({ requestMs }) => requestMs), goal: { kind: 'product', most: 100 } },
  });
}

async function applyBare(floor: FloorFleet): Promise<{ cpuMs: number; wallMs: number }> {
  const begun = performance.now();
  const cpuMs = await floor.cost.during(() => floor.order({ kind: 'apply' }));
  return { cpuMs, wallMs: performance.now() - begun };
}

async function apply(product: HollowFleet, whileApplied?: () => Promise<void>): Promise<Applied> {
  const { api, cost, agents } = product;
  const daemonSet = new BenchDaemonSet(api);
  let [cpuMs, loopDelayMs, isDone] = [0, 0, false];
  const apply = async () => {
    const begun = performance.now();
    try {
      loopDelayMs = await cost.loopDelayMs(async () => {
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
  // A crowd's reports must not drown the beats.
  if (product.live !== agents)
    throw new Error(`only ${product.live} of ${agents} agents are still connected`);
  if (whileApplied) await product.untilQuiet();
  await whileApplied?.();
  await daemonSet.remove();
  await product.untilQuiet();
  return { cpuMs, wallMs, loopDelayMs, requestMs: percentile(requests, 0.99) };
}

/** How long small requests took, one after another. */
async function askUntil({ api }: HollowFleet, isDone: () => boolean): Promise<number[]> {
  const requests: number[] = [];
  while (!isDone()) {
    const begun = performance.now();
    await api.ask('GET', '/api/v1/namespaces/default');
    requests.push(performance.now() - begun);
    await pause(BETWEEN_REQUESTS_MS);
  }
  return requests;
}
