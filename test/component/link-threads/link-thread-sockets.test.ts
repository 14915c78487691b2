/** The main thread sees how much a slow agent has not taken yet, and who is at the other end of a link. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { WebSocket } from 'ws';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import { DEFAULT_LIMITS } from '../../../coordinator/api/http/tls-options.js';
import type { LinkRefusal } from '../../../coordinator/api/ports.js';
import { linkThreadCount } from '../../../coordinator/decisions/nodes/link-thread-count.js';
import type { LinkSocket, LinkTransport } from '../../../coordinator/hub/sessions/link-socket.js';
import type { LinkRequest } from '../../../coordinator/hub/sessions/link-upgrade.js';
import { LinkThreads } from '../../../coordinator/link-threads/link-threads.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { LINK_PROTOCOL } from '../../../shared/link/link-features.js';
import { LINK_PATH, SUBPROTOCOL } from '../../../shared/link/messages/link-messages.js';
import { ExitError } from '../../../shared/process/exit-error.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { sharedPki } from '../../harness/api/api-fixture.js';
import { until } from '../../harness/basics/wait-until.js';
import { fixtureAuthority } from '../../harness/hub/fixture-host-keys.js';

type Opened = LinkSocket & LinkTransport;

/** Threads in the order of their start. */
const workers: Worker[] = [];
process.on('worker', (worker: Worker) => workers.push(worker));

/** A thread whose links are all admitted, except those that `refuse` names. */
async function openThread(
  context: TestContext,
  { refuse, apiPort = 1, count = 1 }: { refuse?: ApiError; apiPort?: number; count?: number } = {},
) {
  const authority = await fixtureAuthority(systemClock);
  const { serving, ca } = await sharedPki();
  const requests: LinkRequest[] = [];
  const opened: Opened[] = [];
  const refusals: LinkRefusal[] = [];
  const threads = new LinkThreads({
    count,
    upgrader: {
      judge: async (request) => {
        requests.push(request);
        return refuse ? { refused: refuse } : { claim: { node: 'n1', hash: '' }, nonce: undefined };
      },
      opened: (_verdict, socket) => opened.push(socket as Opened),
    },
    peers: { report: (refusal) => refusals.push(refusal) },
    tls: { ...serving, clientAuthorities: authority.trustBundle() },
    limits: DEFAULT_LIMITS,
    clock: systemClock,
    log: silentLogger,
  });
  const port = await threads.listen({ host: '127.0.0.1', port: 0, apiPort });
  const agents: WebSocket[] = [];
  context.after(() => {
    // The thread waits for its connections when it closes.
    for (const agent of agents) agent.terminate();
    return threads.close();
  });
  const key = await generateKeyPem();
  const { certificate: cert } = await authority.sign(await certificateRequest(key, 'n1'));
  const connect = (path = LINK_PATH) => {
    const tls = { ca: ca.cert, key, cert, ALPNProtocols: [LINK_PROTOCOL] };
    const agent = new WebSocket(`wss://127.0.0.1:${port}${path}`, SUBPROTOCOL, tls);
    agents.push(agent);
    return agent;
  };
  return { threads, port, requests, opened, refusals, connect };
}

test('the main thread learns whose certificate the connection proves', async (context) => {
  const { requests, connect } = await openThread(context);
  await once(connect(), 'open');
  assert.deepEqual(
    requests.map(({ peer, remoteAddress }) => [peer?.commonName, remoteAddress]),
    [['system:node:n1', '127.0.0.1']],
  );
});

test('a port that another program uses is refused', async (context) => {
  const { threads, port } = await openThread(context);
  await assert.rejects(
    threads.listen({ host: '127.0.0.1', port, apiPort: 1 }),
    /Port \d+ on 127.0.0.1 is in use/,
  );
});

test('a thread that cannot listen fails the start', async () => {
  const threads = new LinkThreads({
    count: 1,
    upgrader: { judge: () => Promise.reject(new Error('no link')), opened: () => undefined },
    peers: { report: () => undefined },
    tls: { cert: 'broken', key: 'broken' },
    limits: DEFAULT_LIMITS,
    clock: systemClock,
    log: silentLogger,
  });
  await assert.rejects(threads.listen({ host: '127.0.0.1', port: 0, apiPort: 1 }), (error) => {
    assert.ok(error instanceof ExitError);
    assert.match(error.message, /^A link thread cannot listen on port \d+ .*--link-threads 0/);
    return true;
  });
});

test('a client that resets its forwarded connection ends no other one', async (context) => {
  const forwarded: Socket[] = [];
  const api = createServer((socket) => forwarded.push(socket.on('error', () => undefined).resume()));
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  context.after(() => api.close());
  const { port, opened, connect } = await openThread(context, {
    apiPort: (api.address() as AddressInfo).port,
  });
  const started = workers.length;
  const agent = connect();
  await once(agent, 'open');
  await until(() => opened.length === 1);
  for (let count = 1; count <= 20; count += 1) {
    const client = connectTcp(port, '127.0.0.1', () => client.write('not TLS'));
    await until(() => forwarded.length === count);
    const ended = once(forwarded[count - 1] as Socket, 'close');
    client.resetAndDestroy();
    await ended;
  }
  let payload = '';
  opened[0]?.on('ping', (bytes) => {
    payload = bytes.toString();
  });
  agent.ping('load');
  await until(() => payload === 'load');
  assert.equal(workers.length, started);
});

test('a connection that the API does not accept is reported', async (context) => {
  const { port, refusals } = await openThread(context);
  const client = connectTcp(port, '127.0.0.1', () => client.write('not TLS'));
  await once(client, 'close');
  await until(() => refusals.length === 1);
  assert.deepEqual(
    refusals.map(({ remoteAddress, code }) => [remoteAddress, code]),
    [['127.0.0.1', 503]],
  );
});

const machine = { cores: 2, nodeVersion: process.versions.node, platform: process.platform, hosts: 0 };
const canShare = linkThreadCount('2', machine) === 2;
const skip = canShare ? false : 'this Node.js cannot share a port between threads';

test('two threads share the port, and one that fails keeps the links of the other', {
  skip,
}, async (context) => {
  const { opened, connect } = await openThread(context, { count: 2 });
  const agents = Array.from({ length: 40 }, () => connect());
  await Promise.all(agents.map((agent) => once(agent, 'open')));
  await until(() => opened.length === agents.length);
  // Throws in the thread.
  workers.at(-1)?.postMessage({ kind: 'renew', tls: { cert: 'broken', key: 'broken' } });
  await until(() => agents.some((agent) => agent.readyState === agent.CLOSED));
  await until(() => opened.some((socket) => socket.readyState !== socket.OPEN));
  const left = agents.filter((agent) => agent.readyState === agent.OPEN);
  assert.ok(left.length > 0);
  const answered = Promise.all(left.map((agent) => once(agent, 'message')));
  for (const socket of opened) if (socket.readyState === socket.OPEN) socket.send(Buffer.from('x'));
  await answered;
});

test('a refused upgrade gets its status', async (context) => {
  const { connect } = await openThread(context, { refuse: new ApiError('ServiceUnavailable', 'stopping') });
  const [error] = (await once(connect(), 'error')) as [Error];
  assert.match(error.message, /503/);
});

test('an upgrade at another path is refused', async (context) => {
  const { requests, connect } = await openThread(context);
  await once(connect('/other'), 'error');
  assert.deepEqual(requests, []);
});

test('bytes that a slow agent has not taken are counted until it takes them', async (context) => {
  const { opened, connect } = await openThread(context);
  const agent = connect();
  await once(agent, 'open');
  await until(() => opened.length === 1);
  const [socket] = opened;
  assert.ok(socket);
  agent.pause();
  const frame = Buffer.alloc(1_000_000, 'x');
  for (let index = 0; index < 20; index += 1) socket.send(frame);
  let isSent = false;
  socket.send(frame, () => {
    isSent = true;
  });
  await until(() => socket.bufferedAmount < 21 * frame.length);
  assert.ok(socket.bufferedAmount > 0);
  assert.equal(isSent, false);
  agent.resume();
  await until(() => isSent);
  assert.equal(socket.bufferedAmount, 0);
});

test('an agent whose frames are not handled is not read, and others are', async (context) => {
  const { opened, connect } = await openThread(context);
  const agents = [connect(), connect()] as const;
  await Promise.all(agents.map((agent) => once(agent, 'open')));
  await until(() => opened.length === 2);
  const received = new Map<Opened, Buffer[]>();
  for (const socket of opened) {
    received.set(socket, []);
    socket.on('message', (frame) => received.get(socket)?.push(frame as Buffer));
  }
  const framesOf = (socket?: Opened) => (socket && received.get(socket)) || [];
  const frames = 50;
  for (let index = 0; index < frames; index += 1) agents[0].send(Buffer.alloc(1_000_000));
  await until(() => opened.some((socket) => framesOf(socket).length >= 2));
  const flooded = opened.find((socket) => framesOf(socket).length > 0);
  const other = opened.find((socket) => socket !== flooded);
  for (let index = 0; index < 100; index += 1) {
    agents[1].send(Buffer.from('x'));
    await until(() => framesOf(other).length === index + 1);
  }
  assert.equal(framesOf(flooded).length, 2, 'the first frames above the limit');
  let silentMs = 0;
  const hasActivity = () => {
    const previousMs = silentMs;
    silentMs = flooded?.silentForMs?.() ?? 0;
    return silentMs < previousMs;
  };
  await until(hasActivity);
  const handleAll = () => {
    for (const frame of framesOf(flooded).splice(0)) {
      handled += 1;
      flooded?.handled?.(frame.length);
    }
    return handled === frames;
  };
  let handled = 0;
  await until(handleAll);
});

test('frames arrive in order in both directions, and silence is measured', async (context) => {
  const { opened, connect } = await openThread(context);
  const agent = connect();
  agent.on('message', (frame) => agent.send(frame));
  await once(agent, 'open');
  await until(() => opened.length === 1);
  const [socket] = opened;
  assert.ok(socket);
  const echoed: number[] = [];
  socket.on('message', (data, isBinary) => {
    assert.ok(isBinary && Buffer.isBuffer(data));
    echoed.push(data.readUInt32LE());
  });
  for (let index = 0; index < 1_000; index += 1) {
    const frame = Buffer.alloc(4);
    frame.writeUInt32LE(index);
    socket.send(frame);
  }
  await until(() => echoed.length === 1_000);
  assert.deepEqual(echoed, [...echoed.keys()]);
  const silentMs = socket.silentForMs?.() ?? Number.NaN;
  assert.ok(silentMs >= 0 && silentMs < 30_000);
  let payload = '';
  socket.on('ping', (bytes) => {
    payload = bytes.toString();
  });
  agent.ping('load');
  await until(() => payload === 'load');
});

test('the end of a connection completes frames that wait for it', async (context) => {
  const { opened, connect } = await openThread(context);
  const agent = connect();
  await once(agent, 'open');
  await until(() => opened.length === 1);
  const [socket] = opened;
  assert.ok(socket);
  agent.pause();
  for (let index = 0; index < 20; index += 1) socket.send(Buffer.alloc(1_000_000));
  const sent = new Promise<void>((resolve) => socket.send(Buffer.alloc(1_000_000), resolve));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  agent.terminate();
  assert.equal(await closed, 1006);
  await sent;
  assert.equal(socket.bufferedAmount, 0);
});
