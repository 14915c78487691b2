/** The agent's end of the link to a hub that the test controls: identity, differences, breaks and ends. */
import assert from 'node:assert/strict';
import { type LogStreamRequest, MAX_FRAME_BYTES } from '../../../shared/link/messages/link-messages.js';
import { until } from '../../harness/basics/wait-until.js';
import { WELCOME, withLink } from '../../harness/hub/scripted-hub.js';

const LOG: LogStreamRequest = {
  type: 'log',
  podUid: 'u',
  container: 'main',
  follow: false,
  previous: false,
  timestamps: false,
};

withLink('the hello lists the state of the host', async ({ agent, nextConnection: next }) => {
  agent.held.set('uid-1', 'digest');
  const hub = await next();
  const hello = await hub.waitFor('hello');
  assert.deepEqual([hello.node, hello.objects, hello.hostTimeMs], ['n1', [['uid-1', 'digest']], 1_000_000]);
  assert.equal(hello.nodeUid, undefined);
});

withLink(
  'another fleet is rejected: nothing is cleared, and the host retries rarely',
  async (scene) => {
    const { agent, link, clock, nextConnection: next } = scene;
    agent.held.set('uid-1', 'digest');
    const hub = await next();
    hub.send({ ...WELCOME, clusterUID: 'an empty database' });
    hub.send({ kind: 'desired', id: 1, revision: 9, set: [], removed: ['uid-1'] });
    await until(() => link.phase === 'waiting');
    assert.deepEqual([...agent.held], [['uid-1', 'digest']]);
    assert.deepEqual([agent.welcomes, agent.changes], [[], []]);
    clock.advance(59_999);
    assert.equal(link.phase, 'waiting');
  },
  { clusterUID: 'fleet' },
);

withLink(
  'a time from the link is stored, unless it is from another fleet',
  async ({ agent, nextConnection: next }) => {
    const hub = await next();
    hub.send({ kind: 'time', serverTimeMs: 1 });
    hub.send(WELCOME);
    hub.send({ kind: 'time', serverTimeMs: 2 });
    await until(() => agent.times.length > 0);
    assert.deepEqual(agent.times, [2]);
  },
);

withLink('before a welcome nothing is removed', async ({ agent, nextConnection: next }) => {
  agent.held.set('uid-1', 'digest');
  const hub = await next();
  hub.send({ kind: 'desired', id: 1, revision: 9, set: [], removed: ['uid-1'] });
  hub.send(WELCOME);
  await until(() => agent.welcomes.length === 1);
  assert.deepEqual(agent.changes, []);
});

withLink(
  'a difference is acknowledged when it is on disk, not before',
  async ({ agent, nextConnection: next }) => {
    let written: () => void = () => undefined;
    agent.apply = () =>
      new Promise<void>((resolve) => {
        written = resolve;
      });
    const hub = await next();
    hub.send(WELCOME);
    hub.send({ kind: 'desired', id: 4, revision: 9, set: [], removed: ['x'] });
    hub.send({ kind: 'statusAck', id: 99 });
    await until(() => agent.welcomes.length === 1);
    assert.ok(!hub.received.some(({ kind }) => kind === 'applied'));
    await until(() => {
      written();
      return hub.received.some((message) => message.kind === 'applied' && message.id === 4);
    });
  },
);

withLink(
  'a difference that cannot be stored ends the connection',
  async ({ agent, link, nextConnection: next }) => {
    agent.apply = () => Promise.reject(new Error('disk full'));
    const hub = await next();
    hub.send(WELCOME);
    hub.send({ kind: 'desired', id: 4, revision: 9, set: [], removed: ['x'] });
    await until(() => agent.lost.length === 1);
    assert.equal(link.phase, 'waiting');
    assert.ok(!hub.received.some(({ kind }) => kind === 'applied'));
  },
);

withLink(
  "the first attempt after a live link is spread over the hub's window",
  async ({ clock, link, nextConnection: next }) => {
    const hub = await next();
    hub.send(WELCOME);
    await until(() => link.phase === 'live');
    hub.socket.close();
    await until(() => link.phase === 'waiting');
    clock.advance(1_499);
    assert.equal(link.phase, 'waiting');
    clock.advance(1);
    assert.equal(link.phase, 'connecting');
  },
);

withLink(
  'it pings, and leaves a hub that does not answer after 15 s',
  async ({ clock, link, connections: seen, nextConnection: next }) => {
    await next();
    clock.advance(10_000);
    await until(() => seen[0]?.pings === 1);
    clock.advance(4_999);
    assert.equal(link.phase, 'greeting');
    clock.advance(1);
    await until(() => link.phase === 'waiting');
  },
  { autoPong: false },
);

withLink('a hub that answers pings is kept, one that never sends a welcome is left', async (scene) => {
  const { clock, link, nextConnection: next } = scene;
  const hub = await next();
  for (let heartbeat = 1; heartbeat <= 4; heartbeat++) {
    clock.advance(10_000);
    await until(() => hub.pings === heartbeat);
    // Messages after the pong have been answered, so the pong was received.
    hub.received.length = 0;
    hub.send({ kind: 'streamOpen', stream: heartbeat, request: LOG });
    await hub.waitFor('streamClose');
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
  withLink(
    `${what} from the hub ends the connection, not the agent`,
    async ({ link, nextConnection: next }) => {
      const hub = await next();
      hub.socket.send(frame);
      await until(() => link.phase === 'waiting');
    },
  );
}

withLink(
  'a goodbye without a return time is permanent',
  async ({ agent, link, clock, nextConnection: next }) => {
    const hub = await next();
    hub.send({ kind: 'goodbye', reason: 'refused', message: 'not wanted' });
    await until(() => link.phase === 'ended');
    clock.advance(3_600_000);
    assert.deepEqual(agent.ended, ['refused: not wanted']);
    assert.equal(link.phase, 'ended');
  },
);

withLink(
  'a host that lost its cache drops its Pods when the Node is deleted before any change has arrived',
  async ({ agent, link, nextConnection: next }) => {
    agent.held.set('uid-1', '');
    const hub = await next();
    hub.send(WELCOME);
    hub.send({ kind: 'goodbye', reason: 'nodeDeleted', message: '', clusterUID: WELCOME.clusterUID });
    await until(() => link.phase === 'ended');
    assert.equal(agent.held.size, 0);
    const { clusterUID, epoch } = agent.resumePoint();
    assert.deepEqual([clusterUID, epoch], [WELCOME.clusterUID, WELCOME.epoch]);
  },
);

withLink(
  "Pods are dropped only when the host's own fleet reports that the Node was deleted",
  async ({ agent, link, nextConnection: next }) => {
    agent.held.set('uid-1', 'digest');
    const hub = await next();
    hub.send({ kind: 'goodbye', reason: 'nodeDeleted', message: '', clusterUID: 'another' });
    await until(() => link.phase === 'ended');
    assert.equal(agent.held.size, 1);
  },
  { clusterUID: 'fleet' },
);
