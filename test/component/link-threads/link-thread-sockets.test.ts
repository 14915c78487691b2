/** The main thread sees how much a slow agent has not taken yet, and who is at the other end of a link. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import { DEFAULT_LIMITS } from '../../../coordinator/api/http/tls-options.js';
import type { LinkSocket, LinkTransport } from '../../../coordinator/hub/sessions/link-socket.js';
import type { LinkRequest } from '../../../coordinator/hub/sessions/link-upgrade.js';
import { LinkThreads } from '../../../coordinator/link-threads/link-threads.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { LINK_PROTOCOL } from '../../../shared/link/link-features.js';
import { LINK_PATH, SUBPROTOCOL } from '../../../shared/link/messages/link-messages.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { sharedPki } from '../../harness/api/api-fixture.js';
import { until } from '../../harness/basics/wait-until.js';
import { fixtureAuthority } from '../../harness/hub/fixture-host-keys.js';

type Opened = LinkSocket & LinkTransport;

/** A thread whose links are all admitted, except those that `refuse` names. */
async function openThread(context: TestContext, refuse?: ApiError) {
  const authority = await fixtureAuthority(systemClock);
  const { serving, ca } = await sharedPki();
  const requests: LinkRequest[] = [];
  const opened: Opened[] = [];
  const threads = new LinkThreads({
    count: 1,
    upgrader: {
      judge: async (request) => {
        requests.push(request);
        return refuse ? { refused: refuse } : { claim: { node: 'n1', hash: '' }, nonce: undefined };
      },
      opened: (_verdict, socket) => opened.push(socket as Opened),
    },
    peers: { report: () => undefined },
    tls: { ...serving, clientAuthorities: authority.trustBundle() },
    limits: DEFAULT_LIMITS,
    clock: systemClock,
    log: silentLogger,
  });
  const port = await threads.listen({ host: '127.0.0.1', port: 0, apiPort: 1 });
  context.after(() => threads.close());
  const key = await generateKeyPem();
  const { certificate: cert } = await authority.sign(await certificateRequest(key, 'n1'));
  const connect = (path = LINK_PATH) => {
    const tls = { ca: ca.cert, key, cert, ALPNProtocols: [LINK_PROTOCOL] };
    const agent = new WebSocket(`wss://127.0.0.1:${port}${path}`, SUBPROTOCOL, tls);
    context.after(() => agent.terminate());
    return agent;
  };
  return { threads, port, requests, opened, connect };
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

test('a refused upgrade gets its status', async (context) => {
  const { connect } = await openThread(context, new ApiError('ServiceUnavailable', 'stopping'));
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
  for (const agent of agents) await once(agent, 'open');
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
