/**
 * What a connected agent costs the coordinator, against bare `ws` with the same settings, in one run, without TLS.
 *   node --expose-gc dist/test/scale/link-floor.js [AGENTS]
 * Agents live in a second process; CPU and memory are those of this one.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { Hub } from '../../coordinator/hub/hub.js';
import { base64, sha256 } from '../../coordinator/hub/join-token.js';
import { Presence } from '../../coordinator/hub/presence.js';
import { Sealer } from '../../coordinator/hub/seal.js';
import { createInformers } from '../../coordinator/informers/create-informers.js';
import { ALL_KINDS, namespaceKind, secretKind } from '../../coordinator/kinds/index.js';
import { CREDENTIAL_SECRET_TYPE } from '../../coordinator/kinds/secret.js';
import { createRegistry } from '../../coordinator/registry/create-registry.js';
import { MemoryStore } from '../../coordinator/store/memory-store.js';
import { decodeFromAgent, encodeMessage } from '../../shared/link/codec.js';
import { LINK_PATH, type Welcome } from '../../shared/link/messages.js';
import { systemClock } from '../../shared/process/clock.js';
import { silentLogger } from '../../shared/process/log.js';
import { eventually } from '../harness/eventually.js';

const AGENTS = Number(process.argv[2] ?? 500);
const WITHIN_MS = 60_000;
const parts = { clock: systemClock, log: silentLogger };
const credentialOf = (node: string) => `${'s'.repeat(43)}.${node}`;

const WELCOME: Welcome = {
  kind: 'welcome',
  features: ['logs'],
  clusterUID: 'fleet',
  era: 'era',
  beatIntervalMs: 10_000,
  reconnectSpreadMs: 0,
  serverTimeMs: 0,
  node: { metadata: { name: 'n1', uid: 'uid', labels: { 'kubernetes.io/hostname': 'n1' } } },
};

/** The other process: opens `AGENTS` links as told, closes them as told. */
function agents(): ChildProcess {
  return fork(fileURLToPath(new URL('./link-agents.js', import.meta.url)));
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** RSS says what the machine pays, but is noisy for few agents; the heap says what we hold. */
function memory(): { rss: number; heap: number } {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}

/** Connects all, measures, has `leave` end it before the agents do. */
async function round(
  name: string,
  mode: 'bare' | 'link',
  port: number,
  count: () => number,
  leave?: () => Promise<void>,
): Promise<void> {
  const child = agents();
  await once(child, 'message');
  const before = memory();
  const cpu = process.cpuUsage();
  child.send({ mode, url: `ws://127.0.0.1:${port}${LINK_PATH}`, agents: AGENTS });
  await eventually(() => count() === AGENTS || count(), WITHIN_MS);
  const { user, system } = process.cpuUsage(cpu);
  const after = memory();
  const kilobytes = (bytes: number) => (bytes / 1024 / AGENTS).toFixed(1);
  const held = `${kilobytes(after.heap - before.heap)} KB heap, ${kilobytes(after.rss - before.rss)} KB RSS each`;
  process.stdout.write(`${name}: ${Math.round((user + system) / AGENTS)} µs CPU an accept, ${held}\n`);
  await leave?.();
  child.kill();
  await eventually(() => count() === 0 || count(), WITHIN_MS);
}

async function bareRounds(): Promise<void> {
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false });
  let open = 0;
  let greeted = 0;
  sockets.on('connection', (socket) => {
    open += 1;
    socket.on('close', () => {
      open -= 1;
      greeted = 0;
    });
    socket.on('message', (frame: Buffer) => {
      decodeFromAgent(frame);
      socket.send(encodeMessage(WELCOME));
      greeted += 1;
    });
  });
  const port = await listen(server);
  for (const name of ['warm-up', 'bare ws', 'bare ws', 'bare ws'])
    await round(name, 'bare', port, () => open);
  for (const name of ['bare ws, hello and welcome', 'bare ws, hello and welcome']) {
    await round(name, 'link', port, () => greeted);
  }
  server.close();
}

async function hubRounds(): Promise<void> {
  const store = new MemoryStore();
  const registry = createRegistry({ store, kinds: ALL_KINDS, ...parts });
  const informers = createInformers({ registry, ...parts });
  await registry.create(namespaceKind, undefined, { metadata: { name: 'kube-system' } });
  for (let index = 0; index < AGENTS; index++) {
    const node = `n${index}`;
    const data = { hash: base64(sha256(credentialOf(node))) };
    const metadata = { name: `node-credential-${node}` };
    await registry.create(secretKind, 'kube-system', { metadata, type: CREDENTIAL_SECRET_TYPE, data });
  }
  let hub = newHub();
  const server = createServer();
  server.on('upgrade', (request, socket, head) => hub.handleUpgrade(request, socket, head));
  const port = await listen(server);
  const connected = () => hub.connected;
  await round('hub, Nodes made', 'link', port, connected, () => hub.stop());
  for (const name of ['hub, restarted', 'hub, restarted', 'hub, restarted']) {
    hub = newHub();
    await round(name, 'link', port, connected, () => hub.stop());
  }
  server.close();
  await informers.stop();
  await store.close();

  function newHub(): Hub {
    return new Hub({
      registry,
      informers,
      presence: new Presence(systemClock, { graceMs: 40_000, returnMs: 60_000 }),
      clusterUID: store.clusterUID(),
      era: store.era(),
      sealer: new Sealer(Buffer.alloc(32), { era: store.era(), pastEras: [] }),
      recordEvent: { asNodeController: () => undefined, asAgent: () => undefined },
      ...parts,
    });
  }
}

await bareRounds();
await hubRounds();
