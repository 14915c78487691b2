/** Logs from a host, through hub and link. */
import assert from 'node:assert/strict';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { STREAM_WINDOW_BYTES } from '../../../shared/link/messages/link-messages.js';
import { StreamError } from '../../../shared/link/streams/byte-stream.js';
import { until } from '../../harness/basics/wait-until.js';
import { FOLLOWED_LOG, type HubFixture, type TestAgent, withHub } from '../../harness/hub/hub-fixture.js';

async function liveAgent(bench: HubFixture): Promise<TestAgent> {
  const agent = await bench.agent('n1');
  await until(() => agent.link.phase === 'live' && bench.hub.connected === 1);
  return agent;
}

function open(bench: HubFixture, signal = new AbortController().signal): Promise<AsyncIterable<Uint8Array>> {
  return bench.hub.streams.logs('n1', FOLLOWED_LOG, signal);
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

withHub('a log is streamed completely and ends', async (bench) => {
  const agent = await liveAgent(bench);
  const line = `${'x'.repeat(99_999)}\n`;
  agent.log = async function* () {
    for (let i = 0; i < 10; i++) yield Buffer.from(line);
  };
  assert.equal(await textOf(await open(bench)), line.repeat(10));
});

withHub('a host sends no more than its reader has requested', async (bench) => {
  const agent = await liveAgent(bench);
  let made = 0;
  agent.log = async function* () {
    for (;;) {
      made += 1_000;
      yield Buffer.alloc(1_000, 'x');
    }
  };
  const stream = await open(bench);
  await until(() => made >= STREAM_WINDOW_BYTES);
  await bench.controlPlane.settle();
  assert.ok(made <= STREAM_WINDOW_BYTES + 1_000, String(made));
  for await (const _ of stream) if (made > 3 * STREAM_WINDOW_BYTES) break;
});

withHub('a reader that disconnects ends the log on the host', async (bench) => {
  const agent = await liveAgent(bench);
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
  const stream = await open(bench, reader.signal);
  const reading = textOf(stream);
  await until(() => signal !== undefined);
  reader.abort();
  await until(() => signal?.aborted);
  assert.match(await reading, /^(one\n)?$/);
});

withHub("a host's rejection reaches the reader with its reason", async (bench) => {
  const agent = await liveAgent(bench);
  agent.openStream = () => Promise.reject(new StreamError('NotFound', 'no such container'));
  await assert.rejects(open(bench), (error) => {
    return error instanceof ApiError && error.code === 404 && error.message === 'no such container';
  });
});

withHub('a log that breaks is an error after the received bytes', async (bench) => {
  const agent = await liveAgent(bench);
  agent.log = async function* () {
    yield Buffer.from('one\n');
    throw new Error('engine down');
  };
  const stream = await open(bench);
  await assert.rejects(textOf(stream), /engine down/);
});

withHub('a disconnected host is a clear rejection, a broken link ends the log', async (bench) => {
  await assert.rejects(open(bench), /node "n1" is not connected/);
  const agent = await liveAgent(bench);
  agent.log = async function* () {
    yield Buffer.from('one\n');
    await new Promise(() => undefined);
  };
  const stream = await open(bench);
  const reading = textOf(stream);
  agent.link.stop();
  await assert.rejects(reading, /connection to the node was lost/);
});
