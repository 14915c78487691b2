import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { restartTimeOf } from '../../../agent/decisions/containers/container-attempts.js';
import { restartBackoff } from '../../../agent/decisions/containers/restart-backoff.js';
import { imageRetryState } from '../../../agent/decisions/images/image-backoff.js';
import { attempt } from '../../harness/pods/pod-views.js';

describe('restart back-off', () => {
  const ended = { createdAt: 0, finishedAt: 1000, backoffMs: 0, interrupted: false };

  test('the first restart is immediate', () => {
    assert.deepEqual(restartBackoff(ended), { at: 1000, delayMs: 0, nextBackoffMs: 10_000 });
  });

  test('later restarts wait 10 s, doubling to 5 min', () => {
    let backoffMs = 10_000;
    const delays = Array.from({ length: 7 }, () => {
      const restart = restartBackoff({ ...ended, backoffMs });
      backoffMs = restart.nextBackoffMs;
      assert.equal(restart.at, 1000 + restart.delayMs);
      return restart.delayMs / 1000;
    });
    assert.deepEqual(delays, [10, 20, 40, 80, 160, 300, 300]);
  });

  test('ten minutes of running reset the back-off, one millisecond less does not', () => {
    const long = { ...ended, backoffMs: 160_000 };
    assert.equal(restartBackoff({ ...long, finishedAt: 600_001 }).delayMs, 0);
    assert.equal(restartBackoff({ ...long, finishedAt: 600_000 }).delayMs, 160_000);
  });

  test('an exit that the host caused does not count towards the back-off', () => {
    const restart = restartBackoff({ ...ended, backoffMs: 160_000, interrupted: true });
    assert.deepEqual(restart, { at: 1000, delayMs: 0, nextBackoffMs: 10_000 });
  });
});

test('a container that exited before the clock was set back does not wait: the wait would never end', () => {
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

  test('a failed pull shows ErrImagePull, then ImagePullBackOff, then is retried', () => {
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

  test('pull retries wait 10 s, doubling to 5 min', () => {
    const delays = [1, 2, 3, 4, 5, 6, 20].map(
      (failures) => imageRetryState('a', { ...failed, failures }, 0).retryAt / 1000,
    );
    assert.deepEqual(delays, [10, 20, 40, 80, 160, 300, 300]);
  });

  test('an error that no pull can fix is checked every 10 s under its own reason', () => {
    const never = { ...failed, reason: 'ErrImageNeverPull', failures: 9 };
    assert.deepEqual(imageRetryState('a', never, 9999), {
      reason: 'ErrImageNeverPull',
      message: 'no such host',
      retryAt: 10_000,
      nextChangeAt: 10_000,
    });
  });
});
