import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepTimes } from '../../bench/step-times.js';

test('a step lasts until the next starts, and a section as long as its steps', () => {
  let now = 1_000;
  const times = new StepTimes(() => now);
  assert.equal(times.bySection(), '');
  times.startSection('real');
  now += 500;
  times.startStep('round');
  now += 2_000;
  times.startStep('round');
  now += 2_000;
  times.startSection('parts');
  assert.deepEqual(times.steps(), [
    { section: 'real', step: 'beginning', seconds: 0.5 },
    { section: 'real', step: 'round', seconds: 2 },
    { section: 'real', step: 'round', seconds: 2 },
    { section: 'parts', step: 'beginning', seconds: 0 },
  ]);
  assert.equal(times.bySection(), 'real 5 s, parts 0 s');
});
