/** The real clock. Code that compares times when its timer fires must not find that the timer fired early. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../shared/process/time/clock.js';

test('no timer fires before its time, whatever the fraction of a millisecond', async () => {
  const early: string[] = [];
  // The clock's own timers do not keep the process alive.
  const keepAlive = setTimeout(() => undefined, 10_000);
  const waits = Array.from({ length: 300 }, (_, index) => 0.3 + index * 0.13);
  await Promise.all(
    waits.map(async (wait) => {
      const begun = systemClock.monotonic();
      await new Promise<void>((resolve) => systemClock.after(wait, resolve));
      const waited = systemClock.monotonic() - begun;
      if (waited < wait) early.push(`${waited} ms instead of ${wait}`);
    }),
  );
  clearTimeout(keepAlive);
  assert.deepEqual(early, []);
});
