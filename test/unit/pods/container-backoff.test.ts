import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { restartTimeOf } from '../../../agent/decisions/containers/container-attempts.js';
import { restartBackoff } from '../../../agent/decisions/containers/restart-backoff.js';
import { imageRetryState } from '../../../agent/decisions/images/image-backoff.js';
import { attempt } from '../../harness/pods/pod-views.js';

describe('restart back-off', () => {
  const ended = { createdAt: 0, finishedAt: 1000, backoffMs: 0, interrupted: false };

  test('the first restart is at once', () => {
    assert.deepEqual(restartBackoff(ended), { at: 1000, delayMs: 0, nextBackoffMs: 10_000 });
  });

  test('then 10 s, doubling to 5 min', () => {
    let backoffMs = 10_000;
    const delays = Array.from({ length: 7 }, () => {
      const restart = restartBackoff({ ...ended, backoffMs });
      backoffMs = restart.nextBackoffMs;
      assert.equal(restart.at, 1000 + restart.delayMs);
      return restart.delayMs / 1000;
    });
    assert.deepEqual(delays, [10, 20, 40, 80, 160, 300, 300]);
  });

  test('ten minutes of running are forgiven, ten minutes to the millisecond are not', () => {
    const long = { ...ended, backoffMs: 160_000 };
    assert.equal(restartBackoff({ ...long, finishedAt: 600_001 }).delayMs, 0);
    assert.equal(restartBackoff({ ...long, finishedAt: 600_000 }).delayMs, 160_000);
  });

  test("an end that was the host's doing is forgiven", () => {
    const restart = restartBackoff({ ...ended, backoffMs: 160_000, interrupted: true });
    assert.deepEqual(restart, { at: 1000, delayMs: 0, nextBackoffMs: 10_000 });
  });
});

test('a container that ended before the clock was set back is not waited for: the wait would never be over', () => {
  const HOUR = 3_600_000;
  for (const now of [0, 60_000]) {
    const view = { now, bootMark: 'boot-1', engineUpSince: 0 };
    const container = attempt({ state: 'exited', createdAt: HOUR, finishedAt: HOUR, backoffMs: 40_000 });
    const restart = restartTimeOf(view, container, { exitCode: 1, finishedAt: HOUR, reason: 'Error' });
    assert.deepEqual(restart, { at: now, delayMs: 0, nextBackoffMs: 80_000 });
  }
});

describe('image back-off', () => {
  const failed = { reason: 'ErrImagePull', message: 'no such host', failedAt: 0, failures: 1 };

  test('the error shows first, then ImagePullBackOff, then it is time to retry', () => {
    assert.deepEqual(imageRetryState('a:1', failed, 0), {
      reason: 'ErrImagePull',
      message: 'no such host',
      retryAt: 10_000,
      nextChangeAt: 5000,
    });
    assert.deepEqual(imageRetryState('a:1', failed, 5000), {
      reason: 'ImagePullBackOff',
      message: 'Back-off pulling image "a:1": ErrImagePull: no such host',
      retryAt: 10_000,
      nextChangeAt: 10_000,
    });
  });

  test('retries after 10 s doubling to 5 min', () => {
    const delays = [1, 2, 3, 4, 5, 6, 20].map(
      (failures) => imageRetryState('a', { ...failed, failures }, 0).retryAt / 1000,
    );
    assert.deepEqual(delays, [10, 20, 40, 80, 160, 300, 300]);
  });

  test('what no pull can mend is looked at every 10 s under its own reason', () => {
    const never = { ...failed, reason: 'ErrImageNeverPull', failures: 9 };
    assert.deepEqual(imageRetryState('a', never, 9999), {
      reason: 'ErrImageNeverPull',
      message: 'no such host',
      retryAt: 10_000,
      nextChangeAt: 10_000,
    });
  });
});
