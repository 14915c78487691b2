/** Resource usage of hosts and containers, computed from two readings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busyTicks, workingSet } from '../../../agent/node/host-counters.js';
import { UsageMeter, usageBetween } from '../../../agent/streams/usage-meter.js';
import { parseHostUsage } from '../../../shared/link/encoding/host-usage-schema.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const container = (id: string, cpuNanos: number, podUid = 'p') => ({
  id,
  podUid,
  container: `name-${id}`,
  cpuNanos,
  memoryBytes: 100,
});

test('the first line of /proc/stat counts without idle and iowait', () => {
  assert.equal(busyTicks('cpu  10 1 20 999 888 3 4 5 0 0\ncpu0 1 1 1 1\n'), 43);
});

test('the working set excludes free and inactive pages', () => {
  const text = 'MemTotal: 1000 kB\nMemFree: 300 kB\nInactive: 500 kB\nInactive(file): 200 kB\n';
  assert.equal(workingSet(text), 500 * 1024);
});

test('rates cover two readings; a container that started between them has none', () => {
  const node = { cpuNanos: 0, memoryBytes: 5 };
  const before = { timeMs: 0, at: 0, node, containers: [container('a', 1_000_000), container('gone', 1)] };
  const now = {
    timeMs: 2_000,
    at: 2_000,
    node: { cpuNanos: 1_000_000_000, memoryBytes: 7 },
    containers: [container('a', 3_000_000), container('new', 5)],
  };
  const usage = usageBetween(before, now);
  assert.deepEqual(usage.node, { timeMs: 2_000, windowMs: 2_000, cpuMicro: 500_000, memoryBytes: 7 });
  const use = { timeMs: 2_000, windowMs: 2_000, cpuMicro: 1_000, memoryBytes: 100 };
  assert.deepEqual(usage.pods, [{ uid: 'p', containers: [{ name: 'name-a', ...use }] }]);
  assert.deepEqual(parseHostUsage(JSON.stringify(usage)), usage);
});

test('the first request waits for a second reading, a later one does not', async () => {
  const clock = new ManualClock(1_000);
  let reads = 0;
  const meter = new UsageMeter({
    driver: { usage: async () => [container('a', clock.now() * 1_000_000)] },
    readNode: () => {
      reads += 1;
      return { cpuNanos: 0, memoryBytes: 0 };
    },
    clock,
    wallClock: clock,
  });
  const first = meter.measure();
  assert.equal(meter.measure(), first);
  await new Promise(setImmediate);
  clock.advance(1_000);
  assert.equal((await first).pods[0]?.containers[0]?.cpuMicro, 1_000_000);
  clock.advance(5_000);
  assert.equal((await meter.measure()).node.windowMs, 5_000);
  assert.equal(reads, 3);
});

test('invalid usage is rejected', () => {
  for (const text of [
    '',
    '{}',
    '{"node":{},"pods":[]}',
    '{"node":{"timeMs":1,"windowMs":0,"cpuMicro":0,"memoryBytes":0},"pods":[]}',
    // No client decodes a time after the year 9999, or a duration of 300 years.
    '{"node":{"timeMs":9e15,"windowMs":1,"cpuMicro":0,"memoryBytes":0},"pods":[]}',
    '{"node":{"timeMs":1,"windowMs":9467280000000,"cpuMicro":0,"memoryBytes":0},"pods":[]}',
    '{"node":{"timeMs":1,"windowMs":1,"cpuMicro":1e15,"memoryBytes":0},"pods":[]}',
  ])
    assert.throws(() => parseHostUsage(text));
});
