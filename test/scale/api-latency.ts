/**
 * Latency of the main verbs over HTTPS on SQLite with an otherwise idle coordinator, alone and while whole lists are
 * being sent: `node dist/test/scale/api-latency.js [TIMES]`. Prints p50 and p99 in ms.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoordinatorApi } from '../harness/api/coordinator-api.js';
import { until } from '../harness/basics/wait-until.js';
import { startCoordinatorProcess } from '../harness/processes/everynode-processes.js';

const TIMES = Number(process.argv[2] ?? 300);
const MAPS = '/api/v1/namespaces/default/configmaps';
const STORED = 2_000;
const LISTS_AT_ONCE = 4;

const directory = mkdtempSync(join(tmpdir(), 'everynode-latency-'));
const coordinator = await startCoordinatorProcess(join(directory, 'data'), [
  '--client-requests-per-second',
  '0',
]);
const api = new CoordinatorApi(coordinator.kubeconfig);

function print(what: string, times: number[]): void {
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(2).padStart(8);
  process.stdout.write(`${what.padEnd(40)} p50 ${at(0.5)}  p99 ${at(0.99)}  n ${times.length}\n`);
}

async function measure(
  what: string,
  action: (index: number) => Promise<unknown>,
  count = TIMES,
): Promise<void> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const began = performance.now();
    await action(index);
    times.push(performance.now() - began);
  }
  print(what, times);
}

function configMap(name: string): object {
  return { metadata: { name }, data: { text: 'x'.repeat(1_000) } };
}

const MERGE = 'application/merge-patch+json';
const patch = (index: number) =>
  api.request('PATCH', `${MAPS}/m${index}`, { data: { n: String(index) } }, MERGE);

for (let index = 0; index < STORED; index += 50) {
  const names = Array.from({ length: 50 }, (_, offset) => `stored-${index + offset}`);
  await Promise.all(names.map((name) => api.request('POST', MAPS, configMap(name))));
}
await measure('create', (index) => api.request('POST', MAPS, configMap(`m${index}`)));
await measure('get', (index) => api.request('GET', `${MAPS}/m${index}`));
await measure('patch', patch);
await measure('list 500 (0.7 MB)', () => api.request('GET', `${MAPS}?limit=500`), Math.ceil(TIMES / 5));

const watch = await api.watch(MAPS, (await api.items(`${MAPS}?limit=1`)).resourceVersion);
const delivered: number[] = [];
for (let index = 0; index < TIMES; index += 1) {
  const before = watch.events.length;
  const began = performance.now();
  await api.request('PATCH', `${MAPS}/m${index}`, { data: { w: String(index) } }, MERGE);
  await until(() => watch.events.length > before, { timeoutMs: 10_000, what: 'the event', pollMs: 0 });
  delivered.push((watch.events.at(-1)?.at ?? 0) - began);
}
watch.close();
print('watch: from the write to the event', delivered);

let isListing = true;
const lists = Array.from({ length: LISTS_AT_ONCE }, async () => {
  while (isListing) await api.request('GET', MAPS);
});
await measure(`get while ${LISTS_AT_ONCE} clients list ${STORED + TIMES}`, (index) =>
  api.request('GET', `${MAPS}/m${index}`),
);
isListing = false;
await Promise.all(lists);
await measure('delete', (index) => api.request('DELETE', `${MAPS}/m${index}`));

api.close();
await coordinator.end('SIGTERM');
rmSync(directory, { recursive: true, force: true });
