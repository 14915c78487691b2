/** A list of all Pods, and a hundred watchers. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:https';
import { fileURLToPath } from 'node:url';
import { PODS } from '../bench-daemonset.js';
import type { BenchContext } from '../bench-section.js';
import { pairs } from '../paired-runs.js';
import type { ProcessCost } from '../server-cost.js';
import type { FloorFleet } from './floor-fleet.js';
import type { HollowFleet } from './hollow-fleet.js';
import type { WatchersOrder } from './watchers-process.js';

/** Least number of Pods in a list for a measurable time. */
const SMALL = 2_000;
/** Duration of the event loop measurement: some hundred samples. */
const LOOP_MS = 2_000;
const WATCHERS = 100;
/** Concurrent writers, each with its own object. */
const WRITERS = 50;
const MERGE = 'application/merge-patch+json';
const MAPS = '/api/v1/namespaces/default/configmaps';

interface Read {
  firstByteMs: number;
  bytes: number;
}

/** Requires a Pod on each host. */
export async function measureList(
  { report }: BenchContext,
  floor: FloorFleet,
  product: HollowFleet,
  rounds: number,
): Promise<void> {
  const { agents, api, cost } = product;
  const url = `https://127.0.0.1:${floor.address.port}/?count=${agents}`;
  // A single short list is faster than the clock's resolution.
  const times = Math.ceil(SMALL / agents);
  const each = async (server: ProcessCost, read: () => Promise<unknown>) => {
    const cpuMs = await server.during(async () => {
      for (let time = 0; time < times; time += 1) await read();
    });
    return cpuMs / times;
  };
  const firstBytes: number[] = [];
  const ours = async () => {
    const read = await readAll(api.requestFor(PODS));
    if (read.bytes < agents * 1_000) throw new Error(`a list of only ${read.bytes} bytes`);
    firstBytes.push(read.firstByteMs);
  };
  const values = await pairs(
    rounds,
    () => each(floor.cost, () => readAll({ url, ca: floor.address.ca, headers: {} })),
    () => each(cost, ours),
  );
  const delays = await cost.loopDelaysMs(() => again(ours, LOOP_MS));
  const result = { section: 'hollow', number: '12' } as const;
  const name = `list of ${agents} Pods`;
  report({ ...result, name, unit: 'CPU ms', ...values, goal: { kind: 'ratio', most: 1.5 } });
  const first = { floor: [], product: firstBytes, goal: { kind: 'product', most: 20 } } as const;
  report({ ...result, name: `${name}, first byte`, unit: 'ms', ...first });
  const delay = { floor: [], product: delays, goal: { kind: 'product', most: 25 } } as const;
  report({
    ...result,
    number: '21',
    name: `event-loop delay p99 during lists of ${agents} Pods without pause`,
    unit: 'ms',
    ...delay,
  });
}

/** Repeats `work` for `ms`: a single list may end before the first timer is due. */
async function again(work: () => Promise<unknown>, ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (performance.now() < end) await work();
}

interface Where {
  url: string;
  ca: string;
  headers: Record<string, string>;
}

function readAll({ url, ca, headers }: Where): Promise<Read> {
  return new Promise((resolve, reject) => {
    const startMs = performance.now();
    const sent = request(url, { ca, headers, agent: false }, (response) => {
      let bytes = 0;
      let firstByteMs = 0;
      response.on('data', (chunk: Buffer) => {
        if (bytes === 0) firstByteMs = performance.now() - startMs;
        bytes += chunk.length;
      });
      response.on('end', () => resolve({ firstByteMs, bytes }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** `events`: number of changes, spread over a few objects. */
export async function measureWatch(
  { report }: BenchContext,
  floor: FloorFleet,
  product: HollowFleet,
  { rounds, events }: { rounds: number; events: number },
): Promise<void> {
  const { api, cost } = product;
  const names = Array.from({ length: WRITERS }, (_, index) => `watched-${index}`);
  for (const name of names) {
    await api.send('POST', MAPS, { metadata: { name }, data: { text: 'x'.repeat(1_000) } });
  }
  let turn = 0;
  const changes = () =>
    Promise.all(
      names.map(async (name) => {
        for (let count = 0; count < events / WRITERS; count += 1) {
          turn += 1;
          await api.request('PATCH', `${MAPS}/${name}`, { data: { turn: String(turn) } }, MERGE);
        }
      }),
    );
  const deliveries = events * WATCHERS;
  const bare = () =>
    watched(
      { url: `https://127.0.0.1:${floor.address.port}/?watch=true`, ca: floor.address.ca, headers: {} },
      deliveries,
      floor.cost,
      () => floor.order({ kind: 'watch', events }),
    );
  const ours = async () => {
    // The cost of the changes themselves is subtracted.
    const unseen = await cost.during(changes);
    const path = `${MAPS}?watch=true&resourceVersion=${await revision(product)}`;
    return (await watched(api.requestFor(path), deliveries, cost, changes)) - unseen;
  };
  const values = await pairs(
    rounds,
    async () => ((await bare()) * 1000) / deliveries,
    async () => ((await ours()) * 1000) / deliveries,
  );
  report({
    ...{ section: 'hollow', number: '13', unit: 'µs CPU', goal: { kind: 'ratio', most: 1.75 } },
    ...{ name: `an event to one of ${WATCHERS} watchers`, ...values },
  });
}

async function revision({ api }: HollowFleet): Promise<string> {
  return (await api.items(`${MAPS}?limit=1`)).resourceVersion;
}

/** The server's CPU, ms, for `work` and until all watchers have read all of its events. */
async function watched(
  where: Where,
  lines: number,
  cost: ProcessCost,
  work: () => Promise<unknown>,
): Promise<number> {
  const watchers: ChildProcess = fork(fileURLToPath(new URL('./watchers-process.js', import.meta.url)));
  try {
    watchers.send({ ...where, watchers: WATCHERS, lines } satisfies WatchersOrder);
    await once(watchers, 'message');
    const allRead = once(watchers, 'message');
    return await cost.during(() => Promise.all([work(), allRead]));
  } finally {
    watchers.kill();
  }
}
