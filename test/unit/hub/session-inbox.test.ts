/** Messages of agents are handled in order, in bounded time slices. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InboundQueue } from '../../../coordinator/hub/sessions/inbound-queue.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

test('a burst of messages is handled in order, in time slices', async () => {
  const clock = new ManualClock();
  const inbox = new InboundQueue(clock);
  const read: number[] = [];
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (read.length < 100) setImmediate(count);
  };
  setImmediate(count);
  for (let index = 0; index < 100; index++) {
    inbox.add(() => {
      read.push(index);
      clock.advance(1);
    });
  }
  assert.equal(read.length, 5, 'no more than a slice in one go');
  while (read.length < 100) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(read, [...read.keys()]);
  assert.ok(turns >= 8, `${turns} turns of the event loop`);
});
