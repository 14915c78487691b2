/** Many loops that share a time slice never block the event loop much longer than that slice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';

test('a hundred loops of one millisecond per step yield every five milliseconds', async () => {
  const clock = new ManualClock();
  const slice = new TimeSlice(clock);
  let steps = 0;
  let stepsAtTurn = 0;
  let longest = 0;
  let running = true;
  const watch = (): void => {
    longest = Math.max(longest, steps - stepsAtTurn);
    stepsAtTurn = steps;
    if (running) setImmediate(watch);
  };
  setImmediate(watch);
  const loop = async (): Promise<void> => {
    for (let step = 0; step < 5; step++) {
      await slice.yieldIfUsedUp();
      steps += 1;
      clock.advance(1);
    }
  };
  clock.advance(10);
  await Promise.all(Array.from({ length: 100 }, loop));
  running = false;
  assert.equal(steps, 500);
  assert.equal(longest, 5, 'ms in one go: less costs turns of the loop, more keeps others waiting');
});

test('loops with their own time slices share the time fairly', async () => {
  const clock = new ManualClock();
  const finished: string[] = [];
  const loop = async (name: string, steps: number): Promise<void> => {
    const slice = new TimeSlice(clock);
    for (let step = 0; step < steps; step++) {
      await slice.yieldIfUsedUp();
      clock.advance(5);
    }
    finished.push(name);
  };
  clock.advance(10);
  await Promise.all([loop('long', 50), loop('short', 4), loop('shorter', 2)]);
  assert.deepEqual(finished, ['shorter', 'short', 'long']);
});
