import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WatcherRest } from '../../coordinator/api/watcher-rest.js';
import { ManualClock } from '../../shared/process/clock.js';

/** Whether each of these batches, `[ms since the one before, events]`, lets the next be taken at once. */
async function restsAfter(batches: readonly (readonly [number, number])[]): Promise<string> {
  const clock = new ManualClock(0);
  const rest = new WatcherRest(clock);
  let told = '';
  for (const [afterMs, events] of batches) {
    clock.advance(afterMs);
    let isOver = false;
    const resting = rest.after(events).then(() => {
      isOver = true;
    });
    await Promise.resolve();
    await Promise.resolve();
    told += isOver ? '.' : 'r';
    clock.advance(20);
    await resting;
  }
  return told;
}

test('a few batches in a row go out as they come, the next ones after a rest', async () => {
  const inARow = Array.from({ length: 7 }, () => [0, 1] as const);
  assert.equal(await restsAfter(inARow), '...rrrr');
});

test('after a pause a watcher is not busy any more, and large batches need no rest', async () => {
  const row = [0, 1] as const;
  assert.equal(await restsAfter([row, row, row, row, [50, 1], row]), '...r..');
  assert.equal(await restsAfter([row, row, row, row, [0, 60], row]), '...r.r');
});
