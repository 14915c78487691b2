/** The bytes of streams in flight, on lines of several kinds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STREAM_CHUNK_BYTES } from '../../../shared/link/messages/link-messages.js';
import { StreamCongestion } from '../../../shared/link/streams/stream-congestion.js';

/** A line on which each chunk takes `chunkMs` after the one before, and `delayMs` more. */
async function underWayAfter(chunks: number, chunkMs: number, delayMs: number): Promise<number> {
  let now = 0;
  const pace = new StreamCongestion(() => now);
  pace.enable();
  const sent: number[] = [];
  let free = 0;
  const send = () => {
    void pace.waitForWindow(STREAM_CHUNK_BYTES).then(() => {
      free = Math.max(free, now) + chunkMs;
      sent.push(free + delayMs);
      send();
    });
  };
  send();
  await settle();
  for (let count = 0; count < chunks; count += 1) {
    now = Math.max(now, sent.shift() ?? now);
    pace.acknowledge(STREAM_CHUNK_BYTES);
    await settle();
  }
  return sent.length;
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('a slow line has few bytes in flight, a fast line with a long delay many', async () => {
  const slow = await underWayAfter(100, 100, 20);
  assert.ok(slow <= 6, `${slow} chunks wait on a slow line`);
  const far = await underWayAfter(400, 0.5, 100);
  assert.ok(far >= 40, `only ${far} chunks are under way on a fast line`);
});

test('without acknowledgements nothing waits', async () => {
  const pace = new StreamCongestion(() => 0);
  for (let count = 0; count < 1000; count += 1) await pace.waitForWindow(STREAM_CHUNK_BYTES);
});

test('streams alternate', async () => {
  const pace = new StreamCongestion(() => 0);
  pace.enable();
  const order: string[] = [];
  const pump = async (name: string) => {
    for (let count = 0; count < 6; count += 1) {
      await pace.waitForWindow(STREAM_CHUNK_BYTES);
      order.push(name);
    }
  };
  const pumps = [pump('a'), pump('b'), pump('c')];
  for (let count = 0; count < 18; count += 1) {
    await settle();
    pace.acknowledge(STREAM_CHUNK_BYTES);
  }
  await Promise.all(pumps);
  const first = order.slice(0, 9);
  for (const name of ['a', 'b', 'c'])
    assert.ok(first.filter((each) => each === name).length >= 2, order.join(''));
});

test('a broken link releases all waiting senders', async () => {
  const pace = new StreamCongestion(() => 0);
  pace.enable();
  const waiting = Array.from({ length: 20 }, () => pace.waitForWindow(STREAM_CHUNK_BYTES));
  pace.close();
  await Promise.all(waiting);
});

test('more acknowledgements than bytes are harmless', async () => {
  const pace = new StreamCongestion(() => 0);
  pace.enable();
  pace.acknowledge(1_000_000);
  await pace.waitForWindow(STREAM_CHUNK_BYTES);
});
