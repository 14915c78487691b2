/** Messages of one turn of the event loop arrive together, complete and in order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessageBatch, messagesOf } from '../../../coordinator/link-threads/message-batch.js';
import { systemClock } from '../../../shared/process/time/clock.js';

test('a turn is one batch', async () => {
  const batches: Buffer[] = [];
  const outbox = new MessageBatch(systemClock, (batch) => batches.push(batch));
  const bodies = [Buffer.from('one'), Buffer.alloc(0), Buffer.alloc(300_000, 7)];
  for (const [link, body] of bodies.entries()) outbox.add(link + 1, 2 ** 32 - 1 - link, body);
  assert.equal(batches.length, 0);
  await nextTurn();
  assert.equal(batches.length, 1);
  outbox.add(9, 1);
  await nextTurn();
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = batches;
  assert.deepEqual(
    [...messagesOf(first)],
    bodies.map((body, link) => ({ type: link + 1, link: 2 ** 32 - 1 - link, body })),
  );
  assert.deepEqual([...messagesOf(second)], [{ type: 9, link: 1, body: Buffer.alloc(0) }]);
});
