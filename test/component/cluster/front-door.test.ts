/** Every address of a cluster serves: requests through a follower's port reach the leader's API. */
import assert from 'node:assert/strict';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { DEFAULT_API_SETTINGS } from '../../../coordinator/api/http/api-context.js';
import type { ApiServerOptions } from '../../../coordinator/api/http/api-server.js';
import type { PodStreams } from '../../../coordinator/api/ports.js';
import { type FrontDoor, openFrontDoor } from '../../../coordinator/cluster/front-door/front-door.js';
import { MAX_HOLD_MS } from '../../../coordinator/cluster/front-door/held-connections.js';
import { encodeProxyHeader, headerKey } from '../../../coordinator/cluster/front-door/proxy-header.js';
import { podKind } from '../../../coordinator/kinds/index.js';
import { CHANNEL } from '../../../shared/link/streams/stream-channels.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { type Clock, ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import {
  NO_STREAMS,
  sharedPki,
  startTestApi,
  TEST_TOKEN,
  type TestApi,
} from '../../harness/api/api-fixture.js';
import { MemoryAuditLog } from '../../harness/api/audit-memory.js';
import { type CallOptions, call } from '../../harness/api/https-call.js';
import { rawConnection } from '../../harness/api/raw-connection.js';
import { openWatch } from '../../harness/api/watch-lines.js';
import { until } from '../../harness/basics/wait-until.js';

const KEY = Buffer.alloc(32, 5);
const TERM = 7;
const MAPS = '/api/v1/namespaces/default/configmaps';
const CLIENT = '127.0.0.5';

/** Collects `code address reason` of refused peers. */
function refusalLog() {
  const refused: string[] = [];
  const warn = (fields: unknown, message?: string) => {
    const { code, remoteAddress, reason } = fields as Record<string, unknown>;
    if (message === 'peer refused') refused.push(`${code} ${remoteAddress} ${reason}`);
  };
  return { refused, log: { ...silentLogger, warn } };
}

async function openDoor(
  context: TestContext,
  { clock = systemClock, key = KEY } = {} as { clock?: Clock; key?: Buffer },
) {
  const { refused, log } = refusalLog();
  const door = await openFrontDoor({ host: '127.0.0.1', port: 0, key, clock, log });
  context.after(() => door.close());
  return Object.assign(door, { refused });
}

interface Cluster {
  api: TestApi;
  audit: MemoryAuditLog;
  follower: FrontDoor & { refused: string[] };
  /** The API as clients of the follower reach it. */
  through: Pick<TestApi, 'port' | 'pki'>;
  refused: string[];
}

async function startCluster(context: TestContext, change: Partial<ApiServerOptions> = {}): Promise<Cluster> {
  const audit = new MemoryAuditLog();
  const { refused, log } = refusalLog();
  const leader = await openDoor(context);
  const api = await startTestApi({ audit, log, ...change }, leader.leading(TERM));
  context.after(() => api.stop());
  const follower = await openDoor(context);
  follower.spliceTo({ server: api.url, term: TERM });
  return { api, audit, follower, through: { port: follower.port, pki: api.pki }, refused };
}

function newMap(name: string): CallOptions {
  return { body: { metadata: { name } }, from: CLIENT };
}

/** Resolves with the bytes that the peer sent until it closed the connection. */
function bytesUntilClose(socket: Socket): Promise<string> {
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => undefined);
  socket.on('end', () => socket.end());
  return new Promise((resolve) =>
    socket.on('close', () => resolve(Buffer.concat(received).toString('latin1'))),
  );
}

/** A server on loopback that lets the test see the bytes of a follower. */
async function plainLeader(context: TestContext, onSocket: (socket: Socket) => void): Promise<string> {
  const server: Server = createServer({ allowHalfOpen: true }, onSocket);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const address = server.address();
  return `https://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

/** A whole TLS record, so that the door regards the connection as one that has begun. */
const RECORD = Buffer.from([22, 3, 1, 0, 3, 7, 8, 9]);

async function openClient(port: number, bytes: Buffer = RECORD): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  return socket;
}

test('a request through a follower is served, and the audit log has the address of the client', async (t) => {
  const { api, audit, through } = await startCluster(t);
  assert.equal((await call(through, `POST ${MAPS}`, newMap('through'))).code, 201);
  assert.equal((await call(api, `POST ${MAPS}`, newMap('direct'))).code, 201);
  const addresses = audit.entriesFor('create').map((entry) => entry.split(' ').at(-1));
  assert.deepEqual(addresses, [CLIENT, CLIENT]);
});

test('a large response and a large body pass unchanged', async (t) => {
  const { through } = await startCluster(t);
  const data = { a: 'x'.repeat(1_000_000) };
  await call(through, `POST ${MAPS}`, { body: { metadata: { name: 'large' }, data } });
  const { text } = await call(through, `GET ${MAPS}/large`);
  assert.deepEqual(JSON.parse(text).data, data);
});

test('a watch through a follower receives changes', async (t) => {
  const { api, through } = await startCluster(t);
  const watch = await openWatch(through, `${MAPS}?watch=true`);
  await call(api, `POST ${MAPS}`, newMap('seen'));
  assert.equal((await watch.next())?.object.metadata.name, 'seen');
  watch.close();
});

test('exec over a WebSocket through a follower passes bytes in both directions', async (t) => {
  const open: PodStreams['open'] = async (_node, _request, input) => {
    async function* echo() {
      for await (const frame of input) yield Buffer.from([CHANNEL.stdout, ...frame.subarray(1)]);
    }
    return echo();
  };
  const { api, through } = await startCluster(t, { streams: { ...NO_STREAMS, open } });
  const spec = { containers: [{ name: 'c', image: 'app:1' }], nodeName: 'n1' };
  await api.registry.create(podKind, 'default', { metadata: { name: 'p' }, spec });
  const path = '/api/v1/namespaces/default/pods/p/exec?command=cat&stdin=true&stdout=true';
  const socket = new WebSocket(`wss://127.0.0.1:${through.port}${path}`, ['v5.channel.k8s.io'], {
    ca: api.pki.ca.cert,
    headers: { authorization: `Bearer ${TEST_TOKEN}` },
  });
  const echoed = new Promise<Buffer>((resolve, reject) => {
    socket.on('message', (data: Buffer) => resolve(data)).on('error', reject);
  });
  socket.on('open', () => socket.send(Buffer.from([CHANNEL.stdin, ...Buffer.from('hello')])));
  assert.equal((await echoed).subarray(1).toString(), 'hello');
  socket.terminate();
});

test('a client has one limit at all addresses, and other clients of a follower are not limited by it', async (t) => {
  const settings = { ...DEFAULT_API_SETTINGS, clientLimits: { requestsPerSecond: 0.01, burst: 5 } };
  const { api, through } = await startCluster(t, { settings });
  const anonymous = { token: null, from: CLIENT };
  const codes: number[] = [];
  for (let at = 0; at < 6; at += 1)
    codes.push((await call(through, 'GET /agent/1.0.0/none', anonymous)).code);
  assert.deepEqual(codes, [404, 404, 404, 404, 404, 429]);
  assert.equal((await call(api, 'GET /agent/1.0.0/none', anonymous)).code, 429);
  assert.equal((await call(through, 'GET /agent/1.0.0/none', { token: null })).code, 404);
});

test('a PROXY header is refused without a valid signature, of another term, and when it is sent again', async (t) => {
  const { api, refused } = await startCluster(t);
  const header = (key: Buffer, term: number, sequence: number) =>
    encodeProxyHeader(
      {
        client: { address: '203.0.113.9', port: 1 },
        server: { address: '127.0.0.1', port: 2 },
        ...{ doorId: 'ab'.repeat(8), sequence, term },
      },
      headerKey(key),
    );
  const greet = (bytes: Buffer) =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ port: api.port, host: '127.0.0.1' });
      socket.on('error', () => resolve(false)).on('close', () => resolve(false));
      socket.write(bytes);
      const secure = connectTls({ socket, ca: api.pki.ca.cert, servername: 'localhost' });
      secure.on('error', () => resolve(false));
      secure.on('secureConnect', () => {
        resolve(true);
        socket.destroy();
      });
    });
  assert.equal(await greet(header(KEY, TERM, 1)), true);
  for (const bytes of [header(Buffer.alloc(32, 6), TERM, 2), header(KEY, TERM - 1, 3), header(KEY, TERM, 1)])
    assert.equal(await greet(bytes), false);
  assert.deepEqual(refused, [
    '401 127.0.0.1 the PROXY header has no valid signature of this fleet',
    '401 127.0.0.1 the PROXY header is of another term',
    '401 127.0.0.1 the PROXY header was received before',
  ]);
});

test('a follower with the key of another fleet cannot forward', async (t) => {
  const { api, refused } = await startCluster(t);
  const stranger = await openDoor(t, { key: Buffer.alloc(32, 6) });
  stranger.spliceTo({ server: api.url, term: TERM });
  await assert.rejects(call({ port: stranger.port, pki: api.pki }, 'GET /healthz'));
  assert.deepEqual(refused, ['401 127.0.0.1 the PROXY header has no valid signature of this fleet']);
});

test('without a leader a request waits, and the new leader answers it: here or at another address', async (t) => {
  const { api, through } = await startCluster(t);
  const waiting = await openDoor(t);
  const answer = call({ port: waiting.port, pki: api.pki }, 'GET /healthz', { from: CLIENT });
  await until(() => waiting.counts.held === 1);
  waiting.spliceTo({ server: api.url, term: TERM });
  assert.equal((await answer).text, 'ok');

  const audit = new MemoryAuditLog();
  const elected = await openDoor(t);
  const relay = await openDoor(t);
  relay.spliceTo({ server: `https://127.0.0.1:${elected.port}`, term: TERM + 1 });
  const answers = [elected.port, relay.port].map((port) =>
    call({ ...through, port }, `POST ${MAPS}`, newMap(`to-${port}`)),
  );
  await until(() => elected.counts.held === 2);
  const successor = await startTestApi({ audit }, elected.leading(TERM + 1));
  t.after(() => successor.stop());
  const codes = (await Promise.all(answers)).map(({ code }) => code);
  assert.deepEqual(codes, [201, 201]);
  assert.deepEqual(
    audit.entriesFor('create').map((entry) => entry.split(' ').at(-1)),
    [CLIENT, CLIENT],
  );
});

test('a connection for which no leader is found in time is closed and reported', async (t) => {
  const clock = new ManualClock();
  const door = await openDoor(t, { clock });
  const client = await openClient(door.port);
  const closed = bytesUntilClose(client);
  await until(() => door.counts.held === 1);
  clock.advance(MAX_HOLD_MS - 1);
  assert.equal(door.counts.held, 1);
  clock.advance(1);
  assert.equal(await closed, '');
  assert.deepEqual(door.refused, ['503 127.0.0.1 no coordinator leads']);
  assert.deepEqual(door.counts, { silent: 0, held: 0, forwarded: 0 });
});

test('a leader that refuses connections is tried again until it serves', async (t) => {
  const pki = await sharedPki();
  const leader = await openDoor(t);
  const { port } = leader;
  await leader.close();
  const follower = await openDoor(t);
  follower.spliceTo({ server: `https://127.0.0.1:${port}`, term: TERM });
  const answer = call({ port: follower.port, pki }, 'GET /healthz');
  await until(() => follower.counts.held === 1);
  const restarted = await openFrontDoor({
    host: '127.0.0.1',
    port,
    key: KEY,
    clock: systemClock,
    log: silentLogger,
  });
  const api = await startTestApi({}, restarted.leading(TERM));
  t.after(() => api.stop());
  assert.equal((await answer).text, 'ok');
});

test('a connection that waits for a dead leader reaches the new leader', async (t) => {
  const { api, through } = await startCluster(t);
  const follower = await openDoor(t);
  // RFC 5737: no machine has this address, so the connection neither succeeds nor fails.
  follower.spliceTo({ server: 'https://192.0.2.1:6443', term: TERM - 1 });
  const answer = call({ ...through, port: follower.port }, 'GET /healthz');
  await until(() => follower.counts.forwarded + follower.counts.held === 1);
  follower.spliceTo({ server: api.url, term: TERM });
  assert.equal((await answer).text, 'ok');
});

test('a new leader closes the connections to the old one; an unknown leader does not', async (t) => {
  const { api, follower, through } = await startCluster(t);
  const { socket, closed } = await rawConnection({ ...through, pki: api.pki }, '');
  t.after(() => socket.destroy());
  assert.equal(follower.counts.forwarded, 1);
  follower.spliceTo(undefined);
  follower.spliceTo({ server: api.url, term: TERM });
  assert.equal(follower.counts.forwarded, 1);
  follower.spliceTo({ server: api.url, term: TERM + 1 });
  await closed;
  await until(() => follower.counts.forwarded === 0);
});

test('two followers that name each other as the leader close a connection instead of forwarding it forever', async (t) => {
  const [one, other] = [await openDoor(t), await openDoor(t)];
  one.spliceTo({ server: `https://127.0.0.1:${other.port}`, term: TERM });
  other.spliceTo({ server: `https://127.0.0.1:${one.port}`, term: TERM });
  assert.equal(await bytesUntilClose(await openClient(one.port)), '');
  assert.deepEqual(other.refused, ['421 127.0.0.1 forwarded to a coordinator that does not lead']);
});

test('each side may end its data before the other one, and the last bytes arrive', async (t) => {
  const request = Buffer.concat([RECORD, Buffer.alloc(300_000, 'q')]);
  const response = 'r'.repeat(300_000);
  let received = 0;
  const server = await plainLeader(t, (socket) => {
    socket.on('data', (chunk: Buffer) => (received += chunk.length));
    // The answer begins after the end of the client's data.
    socket.on('end', () => socket.end(response));
  });
  const door = await openDoor(t);
  door.spliceTo({ server, term: TERM });
  const client = await openClient(door.port);
  const answer = bytesUntilClose(client);
  client.end(request.subarray(RECORD.length));
  assert.equal((await answer).length, response.length);
  assert.equal(received, request.length + 87);
  await until(() => door.counts.forwarded === 0);
});

test('an error of one side closes the other one', async (t) => {
  const leaders: Socket[] = [];
  const server = await plainLeader(t, (socket) => leaders.push(socket.on('error', () => undefined)));
  const door = await openDoor(t);
  door.spliceTo({ server, term: TERM });
  const [first, second] = [await openClient(door.port), await openClient(door.port)];
  await until(() => leaders.length === 2);
  const firstClosed = bytesUntilClose(first);
  const leaderCloses = leaders.map((socket) => bytesUntilClose(socket));
  second.resetAndDestroy();
  await Promise.race(leaderCloses);
  for (const socket of leaders) socket.resetAndDestroy();
  await firstClosed;
  await until(() => door.counts.forwarded === 0);
});

test('a receiver that does not read stops the sender, and gets everything later', async (t) => {
  const total = 100_000_000;
  const chunk = Buffer.alloc(1_000_000);
  let sent = 0;
  const server = await plainLeader(t, (socket) => {
    const send = () => {
      sent += chunk.length;
      if (sent >= total) socket.end(chunk);
      else socket.write(chunk, send);
    };
    send();
  });
  const door = await openDoor(t);
  door.spliceTo({ server, term: TERM });
  const client = await openClient(door.port);
  client.pause();
  let [last, unchanged] = [0, 0];
  const hasStopped = () => {
    unchanged = sent === last && sent > 0 ? unchanged + 1 : 0;
    last = sent;
    return unchanged > 20 || sent >= total;
  };
  await until(hasStopped, { pollMs: 10 });
  assert.ok(sent < total / 2, `${sent} bytes were sent to a client that reads nothing`);
  let received = 0;
  client.on('data', ({ length }) => {
    received += length;
  });
  client.on('end', () => client.end());
  client.resume();
  await until(() => received === total);
});
