import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { coalesceReruns } from '../../../coordinator/serving-certificates.js';

interface HeldRun {
  end: () => void;
  fail: (error: Error) => void;
}

/** Work that runs until the test completes it. */
function heldWork() {
  const runs: HeldRun[] = [];
  const ask = coalesceReruns(() => new Promise<void>((end, fail) => void runs.push({ end, fail })));
  return { runs, ask };
}

test('callers during a run share one further run that starts after it', async () => {
  const { runs, ask } = heldWork();
  const first = ask();
  await setImmediate();
  const later = [ask(), ask()];
  await setImmediate();
  assert.equal(runs.length, 1, 'never two at a time');
  runs[0]?.end();
  await first;
  await setImmediate();
  assert.equal(runs.length, 2);
  runs[1]?.end();
  await Promise.all(later);
  await setImmediate();
  assert.equal(runs.length, 2);
});

test('a failed run rejects its callers only, and later runs start', async () => {
  const { runs, ask } = heldWork();
  const first = ask();
  await setImmediate();
  const second = ask();
  runs[0]?.fail(new Error('the disk is full'));
  await assert.rejects(first, /the disk is full/);
  await setImmediate();
  runs[1]?.end();
  await second;
});
