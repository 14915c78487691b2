/** Expensive answers are computed once for concurrent callers and kept for a while; errors are not kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentAnswers } from '../../../coordinator/controllers/nodes/recent-answers.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

test('concurrent callers share one computation, and an error is tried again by the next caller', async () => {
  const clock = new ManualClock();
  const answers = new RecentAnswers<string, number>(clock, 1_000);
  let computed = 0;
  const compute = async () => {
    computed += 1;
    if (computed === 1) throw new Error('no store');
    return computed;
  };
  const failed = await Promise.allSettled([answers.get('a', compute), answers.get('a', compute)]);
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(computed, 1);
  assert.deepEqual(await Promise.all([answers.get('a', compute), answers.get('a', compute)]), [2, 2]);
  clock.advance(999);
  assert.equal(await answers.get('a', compute), 2);
  // A wall clock that is set back does not keep an answer for longer.
  clock.stepWallClock(-3_600_000);
  clock.advance(1);
  assert.equal(await answers.get('a', compute), 3);
});
