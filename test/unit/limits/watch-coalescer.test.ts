import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WatchCoalescer } from '../../../coordinator/api/limits/watch-coalescer.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

/** Returns the number of `writes` concurrent small batches after which the next is sent at once. */
async function goOnAtOnce(
  clock: ManualClock,
  rest: WatchCoalescer,
  writes: number,
  events = 1,
): Promise<number> {
  let over = 0;
  const resting = Array.from({ length: writes }, () => rest.afterWrite(events).then(() => over++));
  for (let turn = 0; turn < 4; turn++) await Promise.resolve();
  const atOnce = over;
  clock.advance(20);
  await Promise.all(resting);
  return atOnce;
}

test('few watchers are never delayed, many are until the interval is over', async () => {
  const clock = new ManualClock(0);
  const rest = new WatchCoalescer(clock);
  assert.equal(await goOnAtOnce(clock, rest, 8), 8, 'eight watchers of one change');
  assert.equal(await goOnAtOnce(clock, rest, 100), 40, 'a hundred watchers of one change');
  assert.equal(await goOnAtOnce(clock, rest, 8), 8, 'a moment later');
});

test('a single watcher of a change per millisecond receives each at once', async () => {
  const clock = new ManualClock(0);
  const rest = new WatchCoalescer(clock);
  for (let change = 0; change < 200; change++) {
    await rest.afterWrite(1);
    clock.advance(1);
  }
  assert.equal(clock.monotonic(), 200);
});

test('large batches are not delayed', async () => {
  const clock = new ManualClock(0);
  const rest = new WatchCoalescer(clock);
  assert.equal(await goOnAtOnce(clock, rest, 100, 50), 100);
});
