/** Logs from a host, through hub and link. */
import assert from 'node:assert/strict';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { STREAM_WINDOW_BYTES } from '../../../shared/link/messages/link-messages.js';
import { StreamError } from '../../../shared/link/streams/byte-stream.js';
import { until } from '../../harness/basics/wait-until.js';
import { FOLLOWED_LOG, type HubFixture, type TestAgent, withHub } from '../../harness/hub/hub-fixture.js';

async function liveAgent(fixture: HubFixture): Promise<TestAgent> {
  const agent = await fixture.agent('n1');
  await until(() => agent.link.phase === 'live' && fixture.hub.connected === 1);
  return agent;
}

function open(
  fixture: HubFixture,
  signal = new AbortController().signal,
): Promise<AsyncIterable<Uint8Array>> {
  return fixture.hub.streams.logs('n1', FOLLOWED_LOG, signal);
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

withHub('a log is streamed completely and ends', async (fixture) => {
  const agent = await liveAgent(fixture);
  const line = `${'x'.repeat(99_999)}\n`;
  agent.log = async function* () {
    for (let i = 0; i < 10; i++) yield Buffer.from(line);
  };
  assert.equal(await textOf(await open(fixture)), line.repeat(10));
});

withHub('a host sends no more than its reader has requested', async (fixture) => {
  const agent = await liveAgent(fixture);
  let made = 0;
  agent.log = async function* () {
    for (;;) {
      made += 1_000;
      yield Buffer.alloc(1_000, 'x');
    }
  };
  const stream = await open(fixture);
  await until(() => made >= STREAM_WINDOW_BYTES);
  await fixture.controlPlane.settle();
  assert.ok(made <= STREAM_WINDOW_BYTES + 1_000, String(made));
  for await (const _ of stream) if (made > 3 * STREAM_WINDOW_BYTES) break;
});

withHub('a reader that disconnects ends the log on the host', async (fixture) => {
  const agent = await liveAgent(fixture);
  let signal: AbortSignal | undefined;
  agent.openStream = async (_request, _input, given) => {
    signal = given;
    return agent.log();
  };
  agent.log = async function* () {
    yield Buffer.from('one\n');
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
  };
  const reader = new AbortController();
  const stream = await open(fixture, reader.signal);
  const reading = textOf(stream);
  await until(() => signal !== undefined);
  reader.abort();
  await until(() => signal?.aborted);
  assert.match(await reading, /^(one\n)?$/);
});

withHub("a host's rejection reaches the reader with its reason", async (fixture) => {
  const agent = await liveAgent(fixture);
  agent.openStream = () => Promise.reject(new StreamError('NotFound', 'no such container'));
  await assert.rejects(open(fixture), (error) => {
    return error instanceof ApiError && error.code === 404 && error.message === 'no such container';
  });
});

withHub('a log that breaks is an error after the received bytes', async (fixture) => {
  const agent = await liveAgent(fixture);
  agent.log = async function* () {
    yield Buffer.from('one\n');
    throw new Error('engine down');
  };
  const stream = await open(fixture);
  await assert.rejects(textOf(stream), /engine down/);
});

withHub('a disconnected host is a clear rejection, a broken link ends the log', async (fixture) => {
  await assert.rejects(open(fixture), /node "n1" is not connected/);
  const agent = await liveAgent(fixture);
  agent.log = async function* () {
    yield Buffer.from('one\n');
    await new Promise(() => undefined);
  };
  const stream = await open(fixture);
  const reading = textOf(stream);
  agent.link.stop();
  await assert.rejects(reading, /connection to the node was lost/);
});
