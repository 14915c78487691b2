/** The agent's end against a hub that does as the test wants. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { Link } from '../../agent/link/link.js';
import type { ContainerStatus } from '../../shared/kube/pod.js';
import { decodeFromAgent, encodeMessage } from '../../shared/link/codec.js';
import {
  type FromAgent,
  type FromHub,
  LINK_PATH,
  type LogStreamRequest,
  MAX_FRAME_BYTES,
  type ReportedEvent,
  type Welcome,
} from '../../shared/link/messages.js';
import { ManualClock } from '../../shared/process/clock.js';
import { silentLogger } from '../../shared/process/log.js';
import { eventually } from '../harness/eventually.js';
import { BenchAgent } from '../harness/hub-bench.js';

const WELCOME: Welcome = {
  kind: 'welcome',
  features: [],
  clusterUID: 'fleet',
  era: 'era-1',
  beatIntervalMs: 10_000,
  reconnectSpreadMs: 3_000,
  serverTimeMs: 0,
  node: { metadata: { name: 'n1', uid: 'node-uid' } },
};

const LOG: LogStreamRequest = {
  type: 'log',
  podUid: 'u',
  container: 'main',
  follow: false,
  previous: false,
  timestamps: false,
};

/** One connection as the fake hub sees it. */
interface Seen {
  socket: WebSocket;
  request: IncomingMessage;
  received: FromAgent[];
  pings: number;
  say(message: FromHub): void;
  heard<K extends FromAgent['kind']>(kind: K): Promise<Extract<FromAgent, { kind: K }>>;
}

interface Scene {
  agent: BenchAgent;
  link: Link;
  clock: ManualClock;
  seen: Seen[];
  /** The connection after those seen so far, past its hello. */
  next(): Promise<Seen>;
}

/** Registers a test of a link, credential `secret`, jitter 0.5, before a hub that keeps silent. */
function withLink(
  rule: string,
  check: (scene: Scene) => Promise<void>,
  options: { autoPong?: boolean; clusterUID?: string; random?: () => number } = {},
): void {
  test(rule, async () => {
    const server = createServer();
    const sockets = new WebSocketServer({ server, ...options, path: LINK_PATH });
    const seen: Seen[] = [];
    sockets.on('connection', (socket, request) => seen.push(connectionSeen(socket, request)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const clock = new ManualClock(1_000_000);
    const agent = new BenchAgent({ ...(options.clusterUID && { clusterUID: options.clusterUID }) });
    const { port } = server.address() as AddressInfo;
    const link = new Link({
      target: { url: `ws://127.0.0.1:${port}${LINK_PATH}`, credential: 'secret' },
      identity: { node: 'n1', bootID: 'b', instanceID: 'i', agentVersion: '0.1.0' },
      agent,
      clock,
      log: silentLogger,
      random: options.random ?? (() => 0.5),
    });
    agent.link = link;
    let taken = 0;
    const next = async () => {
      await eventually(() => seen.length > taken);
      taken += 1;
      const connection = seen[taken - 1];
      assert.ok(connection);
      await connection.heard('hello');
      return connection;
    };
    try {
      link.start();
      await check({ agent, link, clock, seen, next });
    } finally {
      link.stop();
      for (const { socket } of seen) socket.terminate();
      sockets.close();
      server.close();
    }
  });
}

function connectionSeen(socket: WebSocket, request: IncomingMessage): Seen {
  const connection: Seen = {
    socket,
    request,
    received: [],
    pings: 0,
    say: (message) => socket.send(encodeMessage(message)),
    heard: async (kind) => {
      const find = () => connection.received.find((message) => message.kind === kind);
      await eventually(() => find() !== undefined);
      return find() as never;
    },
  };
  socket.on('message', (data) => connection.received.push(decodeFromAgent(data as Buffer)));
  socket.on('ping', () => {
    connection.pings += 1;
  });
  socket.on('error', () => undefined);
  return connection;
}

withLink('the hello comes with the credential and says what the host holds', async ({ agent, next }) => {
  agent.held.set('uid-1', 'digest');
  const hub = await next();
  assert.equal(hub.request.headers.authorization, 'Bearer secret');
  const hello = await hub.heard('hello');
  assert.deepEqual([hello.node, hello.have, hello.hostTimeMs], ['n1', [['uid-1', 'digest']], 1_000_000]);
  assert.equal(hello.nodeUid, undefined);
});

withLink(
  'another fleet is refused: nothing is cleared, and it is asked seldom',
  async (scene) => {
    const { agent, link, clock, next } = scene;
    agent.held.set('uid-1', 'digest');
    const hub = await next();
    hub.say({ ...WELCOME, clusterUID: 'an empty database' });
    hub.say({ kind: 'desired', id: 1, revision: 9, set: [], gone: ['uid-1'] });
    await eventually(() => link.phase === 'waiting');
    assert.deepEqual([...agent.held], [['uid-1', 'digest']]);
    assert.deepEqual([agent.welcomes, agent.changes], [[], []]);
    clock.advance(59_999);
    assert.equal(link.phase, 'waiting');
  },
  { clusterUID: 'fleet' },
);

withLink('before a welcome nothing is taken away', async ({ agent, next }) => {
  agent.held.set('uid-1', 'digest');
  const hub = await next();
  hub.say({ kind: 'desired', id: 1, revision: 9, set: [], gone: ['uid-1'] });
  hub.say(WELCOME);
  await eventually(() => agent.welcomes.length === 1);
  assert.deepEqual(agent.changes, []);
});

withLink('a difference is acknowledged when it is on disk, not before', async ({ agent, next }) => {
  let written: () => void = () => undefined;
  agent.apply = () =>
    new Promise<void>((resolve) => {
      written = resolve;
    });
  const hub = await next();
  hub.say(WELCOME);
  hub.say({ kind: 'desired', id: 4, revision: 9, set: [], gone: ['x'] });
  hub.say({ kind: 'statusAck', id: 99 });
  await eventually(() => agent.welcomes.length === 1);
  assert.ok(!hub.received.some(({ kind }) => kind === 'applied'));
  await eventually(() => {
    written();
    return hub.received.some((message) => message.kind === 'applied' && message.id === 4);
  });
});

withLink('a difference that cannot be kept ends the connection', async ({ agent, link, next }) => {
  agent.apply = () => Promise.reject(new Error('disk full'));
  const hub = await next();
  hub.say(WELCOME);
  hub.say({ kind: 'desired', id: 4, revision: 9, set: [], gone: ['x'] });
  await eventually(() => agent.lost.length === 1);
  assert.equal(link.phase, 'waiting');
  assert.ok(!hub.received.some(({ kind }) => kind === 'applied'));
});

withLink('statuses go one report at a time, the newest of each Pod', async ({ agent, next }) => {
  const { outbox } = agent.link;
  const pod = (phase: 'Pending' | 'Running') => ({ uid: 'u', namespace: 'd', name: 'p', status: { phase } });
  const hub = await next();
  outbox.putPod(pod('Pending'));
  hub.say(WELCOME);
  const first = await hub.heard('status');
  assert.equal(first.pods[0]?.status.phase, 'Pending');
  outbox.putPod(pod('Pending'));
  outbox.putPod(pod('Running'));
  outbox.putRemoved({ uid: 'v', namespace: 'd', name: 'q' });
  hub.received.length = 0;
  hub.say({ kind: 'statusAck', id: first.id });
  const second = await hub.heard('status');
  assert.deepEqual(
    second.pods.map(({ status }) => status.phase),
    ['Running'],
  );
  assert.deepEqual(
    second.removed.map(({ uid }) => uid),
    ['v'],
  );
});

withLink('a Pod that is back after its removal was told is told of as any other', async ({ agent, next }) => {
  const { outbox } = agent.link;
  const identity = { uid: 'u', namespace: 'd', name: 'p' };
  const hub = await next();
  outbox.putRemoved(identity);
  hub.say(WELCOME);
  const first = await hub.heard('status');
  assert.deepEqual(first.removed, [identity]);
  outbox.putPod({ ...identity, status: { phase: 'Running' } });
  hub.received.length = 0;
  hub.say({ kind: 'statusAck', id: first.id });
  const second = await hub.heard('status');
  assert.deepEqual([second.pods.map(({ status }) => status.phase), second.removed], [['Running'], []]);
});

withLink('word that a Pod is being started waits a moment for better', async ({ clock, link, next }) => {
  const { outbox } = link;
  const container = { name: 'c', image: 'i', imageID: '', restartCount: 0, lastState: {}, started: false };
  const creating = { ...container, state: { waiting: { reason: 'ContainerCreating' } }, ready: false };
  const started = { ...container, state: { running: {} }, ready: true };
  const report = (uid: string, phase: 'Pending' | 'Running', status: ContainerStatus) => ({
    uid,
    namespace: 'd',
    name: uid,
    status: { phase, containerStatuses: [status] },
  });
  const event: ReportedEvent = {
    involvedObject: { kind: 'Pod', uid: 'quick' },
    type: 'Normal',
    reason: 'Started',
    message: 'Started container c',
    count: 1,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
  };
  const hub = await next();
  hub.say(WELCOME);
  await eventually(() => link.phase === 'live');
  outbox.putPod(report('quick', 'Pending', creating));
  outbox.putEvent(event);
  outbox.putPod(report('quick', 'Running', started));
  const quick = await hub.heard('status');
  assert.deepEqual(
    quick.pods.map(({ status }) => status.phase),
    ['Running'],
  );
  assert.deepEqual((await hub.heard('events')).items, [event]);
  hub.say({ kind: 'statusAck', id: quick.id });
  hub.received.length = 0;
  outbox.putPod(report('slow', 'Pending', creating));
  clock.advance(499);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(hub.received, []);
  clock.advance(1);
  assert.equal((await hub.heard('status')).pods[0]?.uid, 'slow');
});

withLink(
  'after a break all is said anew, a removal until it was acknowledged',
  async ({ agent, clock, link, next }) => {
    const { outbox } = agent.link;
    const hub = await next();
    outbox.putPod({ uid: 'u', namespace: 'd', name: 'p', status: { phase: 'Running' } });
    outbox.putRemoved({ uid: 'v', namespace: 'd', name: 'q' });
    hub.say(WELCOME);
    await hub.heard('status');
    hub.socket.terminate();
    await eventually(() => link.phase === 'waiting');
    clock.advance(1_500);
    const again = await next();
    assert.equal((await again.heard('hello')).nodeUid, 'node-uid');
    again.say(WELCOME);
    const report = await again.heard('status');
    assert.deepEqual([report.pods.length, report.removed.length], [1, 1]);
    again.received.length = 0;
    again.say({ kind: 'statusAck', id: report.id });
    outbox.putPod({ uid: 'w', namespace: 'd', name: 'r', status: { phase: 'Pending' } });
    const last = await again.heard('status');
    assert.deepEqual([last.pods.map(({ uid }) => uid), last.removed], [['w'], []]);
  },
);

withLink(
  'the first try after a live link is spread over what the hub named',
  async ({ clock, link, next }) => {
    const hub = await next();
    hub.say(WELCOME);
    await eventually(() => link.phase === 'live');
    hub.socket.close();
    await eventually(() => link.phase === 'waiting');
    clock.advance(1_499);
    assert.equal(link.phase, 'waiting');
    clock.advance(1);
    assert.equal(link.phase, 'connecting');
  },
);

withLink(
  'it pings, and a hub that does not answer is left after 15 s',
  async ({ clock, link, seen, next }) => {
    await next();
    clock.advance(10_000);
    await eventually(() => seen[0]?.pings === 1);
    clock.advance(4_999);
    assert.equal(link.phase, 'greeting');
    clock.advance(1);
    await eventually(() => link.phase === 'waiting');
  },
  { autoPong: false },
);

withLink('a hub that answers pings is kept, one that never welcomes is left', async (scene) => {
  const { clock, link, next } = scene;
  const hub = await next();
  for (let beat = 1; beat <= 4; beat++) {
    clock.advance(10_000);
    await eventually(() => hub.pings === beat);
    // What follows the pong has been answered: so the pong was heard.
    hub.received.length = 0;
    hub.say({ kind: 'streamOpen', stream: beat, request: LOG });
    await hub.heard('streamClose');
  }
  assert.equal(link.phase, 'greeting');
  clock.advance(5_000);
  assert.equal(link.phase, 'waiting');
});

for (const [what, frame] of [
  ['text', 'hello'],
  ['noise', Buffer.from('ff00', 'hex')],
  ['an oversized frame', Buffer.alloc(MAX_FRAME_BYTES + 1)],
] as const) {
  withLink(`${what} from the hub ends the connection, not the agent`, async ({ link, next }) => {
    const hub = await next();
    hub.socket.send(frame);
    await eventually(() => link.phase === 'waiting');
  });
}

withLink('a goodbye without a time to return is for good', async ({ agent, link, clock, next }) => {
  const hub = await next();
  hub.say({ kind: 'goodbye', reason: 'refused', message: 'not wanted' });
  await eventually(() => link.phase === 'ended');
  clock.advance(3_600_000);
  assert.deepEqual(agent.ended, ['refused: not wanted']);
  assert.equal(link.phase, 'ended');
});

withLink(
  'only the own fleet’s word that the Node was deleted drops Pods',
  async ({ agent, link, next }) => {
    agent.held.set('uid-1', 'digest');
    const hub = await next();
    hub.say({ kind: 'goodbye', reason: 'nodeDeleted', message: '', clusterUID: 'another' });
    await eventually(() => link.phase === 'ended');
    assert.equal(agent.held.size, 1);
  },
  { clusterUID: 'fleet' },
);
