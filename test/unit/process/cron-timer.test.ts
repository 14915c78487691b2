import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CronTimer } from '../../../coordinator/cron-timer.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { startCpuTimer } from '../../harness/basics/cpu-time.js';

const MINUTE = 60_000;
const YEAR = 365 * 86_400_000;
const NOON = Date.parse('2026-06-01T12:00:30Z');

/** Records each run with the time that the wall clock shows. */
function timer(pattern = '*/5 * * * *', run: () => Promise<void> = async () => undefined) {
  const clock = new ManualClock(NOON);
  const runs: string[] = [];
  const own = new CronTimer(pattern, clock, () => {
    runs.push(new Date(clock.now()).toISOString().slice(0, 16));
    return run();
  });
  return { clock, runs, stop: () => own.stop() };
}

/** Runs end in a later event loop turn. */
async function pass(clock: ManualClock, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    clock.advance(MINUTE);
    await clock.yieldToEventLoop();
  }
}

test('it runs at each time of its pattern until it is stopped', async () => {
  const { clock, runs, stop } = timer();
  await pass(clock, 11);
  assert.deepEqual(runs, ['2026-06-01T12:05', '2026-06-01T12:10']);
  stop();
  await pass(clock, 10);
  assert.equal(runs.length, 2);
});

test('after the clock was set back a year it runs at the times that the clock shows now', async () => {
  const { clock, runs } = timer();
  await pass(clock, 5);
  clock.stepWallClock(-YEAR);
  await pass(clock, 11);
  assert.deepEqual(runs, ['2026-06-01T12:05', '2025-06-01T12:10', '2025-06-01T12:15']);
});

test('after the clock was set ahead from 1970 it makes up all skipped runs with a single immediate run', async () => {
  const { clock, runs } = timer();
  clock.stepWallClock(60 * YEAR);
  const cpuMs = startCpuTimer();
  await pass(clock, 6);
  assert.equal(runs.length, 2);
  // Sixty years of five minutes are six million times.
  assert.ok(cpuMs() < 5_000);
});

test('after a wrong clock was corrected while a nightly job waits, the job runs that night', async () => {
  const { clock, runs } = timer('17 3 * * *');
  clock.stepWallClock(10 * YEAR);
  await pass(clock, 2);
  clock.stepWallClock(-10 * YEAR);
  await pass(clock, 24 * 60);
  assert.equal(runs.length, 2);
  const night = new Date(clock.now() - 24 * 60 * MINUTE);
  // The first run was the one that the jump ahead made due.
  night.setHours(3, 17, 0, 0);
  if (night.getTime() < clock.now() - 24 * 60 * MINUTE) night.setDate(night.getDate() + 1);
  assert.deepEqual(runs.slice(-1), [night.toISOString().slice(0, 16)]);
});

test('a run that takes too long skips the next one only', async () => {
  let end: () => void = () => assert.fail('nothing runs');
  const { clock, runs } = timer(
    '* * * * *',
    () =>
      new Promise((done) => {
        end = done;
      }),
  );
  await pass(clock, 3);
  assert.equal(runs.length, 1);
  end();
  await clock.yieldToEventLoop();
  await pass(clock, 1);
  assert.equal(runs.length, 2);
});
