/**
 * `npm run measure-console -- [HOSTS]`: the performance of the console with a large fleet. Hosts are Nodes without
 * agents, which makes no difference for the console. Checks what the console shows of them. Prints the time of the
 * first view from a cold load, the latency from a change to the screen, frame times while 100 hosts change a second,
 * and the coordinator's cost of an open console.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { cpuMeter } from '../bench/process-memory.js';
import { CoordinatorApi } from '../harness/api/coordinator-api.js';
import { pause, until } from '../harness/basics/wait-until.js';
import { accessOf, signIn, startBrowser, visit } from '../harness/console/browser.js';
import { browseLargeFleet } from '../harness/console/large-fleet-steps.js';
import { storedHostName, storeHosts } from '../harness/controllers/stored-fleet.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../harness/processes/everynode-processes.js';
import { npmScript, parseScriptArguments, wholeNumber } from '../harness/processes/npm-script.js';

const MERGE = 'application/merge-patch+json';
const SITES = 40;
const CHANGES = 100;
const BUSY_SECONDS = 10;
/** Consoles in addition to the browser's. The coordinator's extra work is divided by this number. */
const MORE = 10;
const HOSTS_PATH = '/apis/fleet.everynode.dev/v1/hosts';

const script = npmScript(
  'measure-console',
  'Measures the performance of the console with a large fleet, and checks what it shows.',
);
const {
  words: [hosts],
} = await parseScriptArguments<object, [number]>(
  script.argument('[hosts]', 'Nodes without agents', wholeNumber, 10_000),
);
const directory = mkdtempSync(join(tmpdir(), 'everynode-console-'));
let coordinator: CoordinatorProcess | undefined;
let browser: Browser | undefined;
try {
  // No rate limit for one client: this client stands for many users.
  const free = ['--client-requests-per-second', '100000', '--client-burst', '100000'];
  const data = join(directory, 'data');
  await storeHosts(data, hosts, (index) => ({ site: `site-${index % SITES}` }));
  coordinator = await startCoordinatorProcess(data, free);
  browser = await startBrowser();
  const api = new CoordinatorApi(coordinator.kubeconfig);
  print('scripts of the first view, compressed', `${Math.round(firstScripts() / 1000)} kB`);
  const page = await measureFirstView(browser, coordinator.kubeconfig);
  await measureChanges(page, api);
  await measureFrames(page, api);
  await measureConsoles(page, api, coordinator.pid);
  await page.goto(`${accessOf(coordinator.kubeconfig).server}/console/hosts?sort=name`);
  await browseLargeFleet(page, whatIsLeft());
  print('counts, filter, table and host page', 'as they should be');
  print('load of the machine, 1 minute', (loadavg()[0] ?? 0).toFixed(1));
  api.close();
} finally {
  await browser?.close();
  await coordinator?.end('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
}

function print(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(56)} ${value}\n`);
}

/** Bytes of the scripts that `index.html` names. Pages are loaded later, on navigation. */
function firstScripts(): number {
  const folder = fileURLToPath(new URL('../../console/', import.meta.url));
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const names = new Set([...page.matchAll(/[\w.-]+\.js(?=")/g)].map(([name]) => name));
  return [...names].reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0);
}

/** The browser has only the session, so each view loads everything from the server. The last page is that of hosts. */
async function measureFirstView(opened: Browser, kubeconfig: string): Promise<Page> {
  const { server, token } = accessOf(kubeconfig);
  const { page } = await visit(opened);
  await signIn(page, server, token);
  for (const [name, path, text] of [
    ['overview', '', `${hosts} in all`],
    ['hosts', 'hosts?group=site', `${hosts} hosts`],
  ] as const) {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const session = await page.context().newCDPSession(page);
      await session.send('Network.clearBrowserCache');
      const began = performance.now();
      await page.goto(`${server}/console/${path}`);
      await page.getByText(text, { exact: true }).waitFor();
      // The page responds: it draws another frame.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      times.push(performance.now() - began);
    }
    print(`first view of ${name}, ${hosts} hosts, cold, median of 5`, `${Math.round(median(times))} ms`);
  }
  return page;
}

/** Measures from the request that removes a host to the lower count on the screen. */
async function measureChanges(page: Page, api: CoordinatorApi): Promise<void> {
  // Record the times in the page: polls from here would cost more than the measured latency.
  await page.evaluate(`globalThis.seen = []; new MutationObserver(() => {
    const text = document.querySelector('fieldset legend')?.textContent;
    if (seen.at(-1)?.text !== text) seen.push({ text, at: Date.now() });
  }).observe(document.body, { subtree: true, childList: true, characterData: true });`);
  const times: number[] = [];
  for (let count = 1; count <= CHANGES; count += 1) {
    const text = `${hosts - count} hosts`;
    const began = Date.now();
    await api.request('DELETE', `/api/v1/nodes/${storedHostName(hosts - count)}`);
    await page.getByText(text, { exact: true }).waitFor();
    const at = await page.evaluate(`seen.find((one) => one.text === '${text}').at`);
    times.push((at as number) - began);
  }
  times.sort((a, b) => a - b);
  print('a change, from request to screen, p50', `${times[CHANGES / 2]} ms`);
  print('a change, from request to screen, p99', `${times[Math.floor(CHANGES * 0.99) - 1]} ms`);
}

async function measureFrames(page: Page, api: CoordinatorApi): Promise<void> {
  // On a busy machine frames are late anyway. The quiet fleet shows how late.
  await printFrames(page, 'nothing changes', () => pause(BUSY_SECONDS * 1000));
  let count = 0;
  await printFrames(page, 'hosts change', async () => {
    count = await changeHosts(api);
  });
  print(`changes a second while frames were timed`, `${Math.round(count / BUSY_SECONDS)}`);
}

async function printFrames(page: Page, when: string, work: () => Promise<void>): Promise<void> {
  await page.evaluate(`globalThis.frames = []; globalThis.isTimed = true; globalThis.last = performance.now();
  (function frame() {
    const now = performance.now(); frames.push(now - last); last = now; if (isTimed) requestAnimationFrame(frame);
  })();`);
  await work();
  await page.evaluate('globalThis.isTimed = false');
  const frames = ((await page.evaluate('frames')) as number[]).slice(1).sort((a, b) => a - b);
  const at = (share: number) => (frames[Math.floor((frames.length - 1) * share)] ?? 0).toFixed(1);
  print(`frames while ${when}, p50, p99, longest`, `${at(0.5)}, ${at(0.99)}, ${at(1)} ms`);
}

/** Changes about 100 hosts a second. Returns the number of changes. */
async function changeHosts(api: CoordinatorApi): Promise<number> {
  const end = performance.now() + BUSY_SECONDS * 1000;
  let count = 0;
  while (performance.now() < end) {
    const batch = Array.from({ length: 10 }, () => {
      count += 1;
      const path = `/api/v1/nodes/${storedHostName((count * 37) % (hosts - CHANGES))}`;
      return api.request('PATCH', path, { metadata: { labels: { heartbeat: `${end}-${count}` } } }, MERGE);
    });
    await Promise.all([...batch, pause(100)]);
  }
  return count;
}

/**
 * The coordinator's CPU time for the same changes with no console open, with one, and with several that share the
 * watch.
 */
async function measureConsoles(page: Page, api: CoordinatorApi, pid: number): Promise<void> {
  print(
    'CPU of the coordinator, one console, no change',
    await shareOf(pid, () => pause(BUSY_SECONDS * 1000)),
  );
  print('CPU of the coordinator, one console, changes', await shareOf(pid, () => changeHosts(api)));
  const watches = await Promise.all(Array.from({ length: MORE }, () => api.watch(HOSTS_PATH, '')));
  const haveBegun = () => watches.every(({ events }) => events.some(({ type }) => type === 'BOOKMARK'));
  await until(haveBegun, { timeoutMs: 120_000, what: 'all watches to start' });
  print(`CPU of the coordinator, ${MORE + 1} consoles, changes`, await shareOf(pid, () => changeHosts(api)));
  for (const watch of watches) watch.close();
  await page.goto('about:blank');
  print('CPU of the coordinator, no console, changes', await shareOf(pid, () => changeHosts(api)));
}

/** CPU time of the process during `work`, as a share of one core. */
async function shareOf(pid: number, work: () => Promise<unknown>): Promise<string> {
  const [cpuMs, began] = [cpuMeter(pid), performance.now()];
  await work();
  return `${((100 * cpuMs()) / (performance.now() - began)).toFixed(1)} %`;
}

/** The last hosts were removed by the measurement of changes. */
function whatIsLeft() {
  const left = hosts - CHANGES;
  const selected = Array.from({ length: left }, (_, index) => index % SITES).filter(
    (site) => site === 3,
  ).length;
  return { hosts: left, selector: 'site=site-3', selected, last: storedHostName(left - 1) };
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
