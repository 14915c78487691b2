/** The restart of an agent that started on a read-only disk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostMayWrite, waitForWritableDisk } from '../../../agent/program/wait-for-writable-disk.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

function waiting() {
  const clock = new ManualClock();
  const state = { mayWrite: false, calls: 0 };
  const onWritable = () => {
    state.calls += 1;
  };
  const part = waitForWritableDisk(() => state.mayWrite, onWritable, clock);
  return { clock, state, part };
}

test('the agent restarts once, within ten seconds of the first write that would succeed', async () => {
  const { clock, state, part } = waiting();
  await part.start?.();
  await clock.advance(60_000);
  assert.equal(state.calls, 0);
  state.mayWrite = true;
  await clock.advance(10_000);
  await clock.advance(60_000);
  assert.equal(state.calls, 1);
});

test('a stopped watcher does not restart the agent', async () => {
  const { clock, state, part } = waiting();
  await part.start?.();
  state.mayWrite = true;
  await part.stop?.();
  await clock.advance(60_000);
  assert.equal(state.calls, 0);
});

test('a missing directory is not writable', () => {
  assert.equal(hostMayWrite('/nowhere/at/all'), false);
});
