/** What a link thread keeps in memory, without a thread: its links over real sockets. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { WebSocket } from 'ws';
import { LinkCounters } from '../../../coordinator/link-threads/link-counters.js';
import {
  FROM_THREAD,
  type LinkMessage,
  MessageBatch,
  messagesOf,
  TO_THREAD,
} from '../../../coordinator/link-threads/message-batch.js';
import { ThreadLinks } from '../../../coordinator/link-threads/thread-links.js';
import { LINK_PATH, SUBPROTOCOL } from '../../../shared/link/messages/link-messages.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { sharedPki } from '../../harness/api/api-fixture.js';
import { until } from '../../harness/basics/wait-until.js';

/** Opens one link, and returns its agent. `deliver` passes a batch to the links like the main thread. */
async function openLink(context: TestContext) {
  const { serving, ca } = await sharedPki();
  const messages: LinkMessage[] = [];
  const outbox = new MessageBatch(systemClock, (batch) => messages.push(...messagesOf(batch)));
  const links = new ThreadLinks(systemClock, new LinkCounters(), outbox, () => undefined);
  const server = createServer(serving);
  server.on('upgrade', (request, socket, head) => links.upgrade(request, socket as TLSSocket, head));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new WebSocket(`wss://127.0.0.1:${port}${LINK_PATH}`, SUBPROTOCOL, { ca: ca.cert });
  context.after(() => {
    agent.terminate();
    server.close();
  });
  const deliver = (batch: Buffer) => {
    for (const order of messagesOf(batch)) links.received(order);
  };
  const toThread = new MessageBatch(systemClock, deliver);
  const opened = once(agent, 'open');
  await until(() => messages.some(({ type }) => type === FROM_THREAD.upgrade));
  const [{ link }] = messages as [LinkMessage];
  toThread.add(TO_THREAD.admit, link);
  await opened;
  return { agent, link, links, messages, toThread };
}

/** Bytes that the kernel does not accept for an agent that reads nothing. */
const MORE_THAN_BUFFERS = 20_000_000;
const OTHER_LINK = 99;

test('a frame that waits for a slow agent does not keep the frames of other agents in memory', async (context) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { agent, link, links, messages, toThread } = await openLink(context);
  const received: string[] = [];
  agent.on('message', (frame) => received.push(frame.toString()));
  agent.pause();
  toThread.add(TO_THREAD.frame, link, Buffer.alloc(MORE_THAN_BUFFERS));
  let batch: WeakRef<ArrayBufferLike> | undefined;
  const shared = new MessageBatch(systemClock, (bytes) => {
    batch = new WeakRef(bytes.buffer);
    for (const order of messagesOf(bytes)) links.received(order);
  });
  shared.add(TO_THREAD.frame, link, Buffer.from('plain'));
  shared.add(TO_THREAD.acknowledgedFrame, link, Buffer.from('acknowledged'));
  shared.add(TO_THREAD.frame, OTHER_LINK, Buffer.alloc(1_000_000));
  await until(() => batch !== undefined);
  const isCollected = () => {
    collect();
    return batch?.deref() === undefined;
  };
  await until(isCollected);
  assert.ok(!messages.some(({ type }) => type === FROM_THREAD.sent), 'the frames still wait');
  agent.resume();
  await until(() => received.length === 3);
  assert.deepEqual(received.slice(1), ['plain', 'acknowledged']);
});

test('of many heartbeats of one agent only the last one is passed on', async (context) => {
  const { agent, messages } = await openLink(context);
  for (let count = 1; count <= 3; count += 1) agent.ping(String(count));
  const beats = () =>
    messages.filter(({ type }) => type === FROM_THREAD.beat).map(({ body }) => String(body));
  await until(() => beats().length > 0);
  assert.deepEqual(beats(), ['3']);
});
