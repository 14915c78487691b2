import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { RuntimeDriver } from '../../agent/runtime/driver.js';
import { SteadyTimes } from '../../agent/runtime/steady-times.js';
import { ManualClock } from '../../shared/process/clock.js';
import { SMALL_HEAP_FLAGS } from '../../shared/process/small-heap.js';
import { attempt } from '../harness/pod-views.js';

/** Only what the cases ask for. */
function driverShowing(createdAt: number): RuntimeDriver {
  const inspectPod = async () => [attempt({ createdAt, startedAt: createdAt })];
  return { inspectPod } as unknown as RuntimeDriver;
}

test('times follow the steady clock when the wall clock was set', async () => {
  const [steady, wall] = [new ManualClock(5000), new ManualClock(1_000_005_000)];
  const [seen] = await new SteadyTimes(driverShowing(1_000_004_000), steady, wall).inspectPod('uid');
  assert.deepEqual([seen?.createdAt, seen?.startedAt], [4000, 4000]);
});

test('the noise of reading two clocks changes no time', async () => {
  const [steady, wall] = [new ManualClock(5000), new ManualClock(5999)];
  const [seen] = await new SteadyTimes(driverShowing(4000), steady, wall).inspectPod('uid');
  assert.equal(seen?.createdAt, 4000);
});

test('the agent started by its own name has the same flags as the one that the coordinator starts', () => {
  const [firstLine] = readFileSync('agent/everynode-agent.cts', 'utf8').split('\n');
  for (const flag of SMALL_HEAP_FLAGS.filter((each) => each !== '--no-expose-wasm'))
    assert.ok(firstLine?.includes(flag), flag);
});
