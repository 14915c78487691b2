import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withMonotonicTimes } from '../../../agent/runtime/monotonic-times-driver.js';
import type { RuntimeDriver } from '../../../agent/runtime/runtime-driver.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { attempt } from '../../harness/pods/pod-views.js';

const YEAR = 365 * 24 * 3_600_000;

/** A driver with only the methods that the cases use. */
function driverShowing(createdAt: number): RuntimeDriver {
  const inspectPod = async () => [attempt({ createdAt, startedAt: createdAt })];
  return { inspectPod } as unknown as RuntimeDriver;
}

test('times follow the monotonic clock when the wall clock was stepped', async () => {
  const [steady, wall] = [new ManualClock(5000), new ManualClock(1_000_005_000)];
  const [seen] = await withMonotonicTimes(driverShowing(1_000_004_000), steady, wall).inspectPod('uid');
  assert.deepEqual([seen?.createdAt, seen?.startedAt], [4000, 4000]);
});

test('a stepped wall clock does not change earlier times', async () => {
  for (const jump of [YEAR, -YEAR]) {
    const [steady, wall] = [new ManualClock(2 * YEAR), new ManualClock(2 * YEAR)];
    const times = withMonotonicTimes(driverShowing(2 * YEAR - 4000), steady, wall);
    await times.inspectPod('uid');
    wall.now = () => 2 * YEAR + jump;
    const [same] = await times.inspectPod('uid');
    assert.equal(same?.startedAt, 2 * YEAR - 4000);
  }
});

test('a container that was first seen after the wall clock was set back has at least a time in the past', async () => {
  const [steady, wall] = [new ManualClock(YEAR), new ManualClock(YEAR)];
  const [seen] = await withMonotonicTimes(driverShowing(2 * YEAR), steady, wall).inspectPod('uid');
  assert.equal(seen?.startedAt, YEAR);
});

test('no running container is older than its host', async () => {
  const [steady, wall] = [new ManualClock(YEAR), new ManualClock(YEAR)];
  const [seen] = await withMonotonicTimes(driverShowing(4000), steady, wall, () => 60_000).inspectPod('uid');
  assert.equal(seen?.startedAt, YEAR - 60_000);
});

test('the noise of reading two clocks changes no time', async () => {
  const [steady, wall] = [new ManualClock(5000), new ManualClock(5999)];
  const [seen] = await withMonotonicTimes(driverShowing(4000), steady, wall).inspectPod('uid');
  assert.equal(seen?.createdAt, 4000);
});
