/** Load readings in heartbeats, from the host to a chart. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { HostLoad } from '../../../agent/node/host-load.js';
import { conditionChanges } from '../../../coordinator/controllers/views/condition-history.js';
import { NodeReadings } from '../../../coordinator/hub/telemetry/node-readings.js';
import { ReadingRing } from '../../../coordinator/hub/telemetry/reading-ring.js';
import type { ConditionChange } from '../../../shared/kube/fleet/host-reading-types.js';
import type { Condition } from '../../../shared/kube/objects/conditions.js';
import {
  decodeHeartbeatReading,
  encodeHeartbeatReading,
  type HeartbeatReading,
} from '../../../shared/link/heartbeat-reading.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { consoleModule } from '../../harness/console/console-module.js';

const MINUTE_MS = 60_000;
/** A full minute, and a full ten minutes. */
const START = 1_800_000_000_000;

describe('a host reading in a ping', () => {
  test('arrives as it was sent, to a ten-thousandth, and unknown values are absent', () => {
    const cases: HeartbeatReading[] = [
      { cpu: 0.1234, memory: 1, disk: 0, roundTripMs: 24 },
      { memory: 0.5 },
      {},
    ];
    for (const reading of cases)
      assert.deepEqual(decodeHeartbeatReading(encodeHeartbeatReading(reading)), reading);
    assert.equal(encodeHeartbeatReading({}).length, 9);
  });

  test('clamps values that are out of range', () => {
    const bytes = encodeHeartbeatReading({ cpu: 1.7, memory: -1, roundTripMs: 10_000_000 });
    assert.deepEqual(decodeHeartbeatReading(bytes), { cpu: 1, memory: 0, roundTripMs: 60_000 });
  });

  test('a heartbeat without data, with longer data, or of a later version is no reading', () => {
    for (const bytes of [[], [1], [2, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]]) {
      assert.equal(decodeHeartbeatReading(Uint8Array.from(bytes)), undefined);
    }
  });
});

describe('a series of readings', () => {
  test('keeps the highest value of each step, shows gaps, and drops values older than its length', () => {
    const ring = new ReadingRing(60, 3);
    assert.deepEqual(ring.series(START).times, []);
    ring.add(START, { cpu: 0.2, memory: 0.5 });
    ring.add(START + 30_000, { cpu: 0.1, memory: 0.6, roundTripMs: 7 });
    ring.add(START + 2 * MINUTE_MS, { cpu: 0.4 });
    assert.deepEqual(ring.series(START + 2 * MINUTE_MS), {
      stepSeconds: 60,
      times: [0, 1, 2].map((minute) => START / 1000 + minute * 60),
      cpu: [0.2, null, 0.4],
      memory: [0.6, null, null],
      disk: [null, null, null],
      roundTripMs: [7, null, null],
    });
    ring.add(START + 3 * MINUTE_MS, { cpu: 1 });
    assert.deepEqual(ring.series(START + 3 * MINUTE_MS).cpu, [0.4, 1]);
    assert.deepEqual(ring.series(START + 60 * MINUTE_MS).cpu, []);
  });

  test('keeps its values after the clock was set back by less than its length', () => {
    const ring = new ReadingRing(60, 4);
    for (const minute of [0, 1, 2, 3]) ring.add(START + minute * MINUTE_MS, { cpu: (minute + 1) / 10 });
    ring.add(START + 2 * MINUTE_MS, { cpu: 0.2 });
    assert.deepEqual(ring.series(START + 3 * MINUTE_MS).cpu, [0.1, 0.2, 0.3, 0.4]);
  });

  test('shows no values of the future after the clock was set back', () => {
    const ring = new ReadingRing(60, 3);
    ring.add(START + 10 * MINUTE_MS, { cpu: 0.9 });
    ring.add(START, { cpu: 0.1 });
    assert.deepEqual(ring.series(START).cpu, [0.1]);
  });
});

test('a forgotten host and a host without readings have empty columns', () => {
  const readings = new NodeReadings(new ManualClock(START), { lastSeenMs: () => START });
  readings.record('n', Uint8Array.of(9, 9));
  assert.deepEqual(readings.of('n').recent.times, []);
  readings.record('n', encodeHeartbeatReading({ cpu: 0.5 }));
  assert.deepEqual([readings.of('n').recent.cpu, readings.of('n').day.cpu], [[0.5], [0.5]]);
  assert.equal(readings.of('n').lastContactTime, new Date(START).toISOString().replace('.000', ''));
  readings.forget('n');
  assert.deepEqual(readings.of('n').day.times, []);
});

test('a host measures its load between two readings, and omits what it cannot measure', async () => {
  const clock = new ManualClock(START);
  let counters = { cpuNanos: 0, memoryBytes: 2 };
  let isBroken = false;
  const load = new HostLoad({
    counters: () => {
      if (isBroken) throw new Error('no /proc');
      return counters;
    },
    cpus: 2,
    memoryBytes: 8,
    diskUse: async () => 0.25,
    clock,
  });
  await new Promise((resolve) => setImmediate(resolve));
  counters = { cpuNanos: 10e9, memoryBytes: 4 };
  clock.advance(10_000);
  assert.deepEqual(load.read(), { cpu: 0.5, memory: 0.5, disk: 0.25 });
  isBroken = true;
  assert.deepEqual(load.read(), { disk: 0.25 });
});

test('a condition has changed when its status has, or when it is new', () => {
  const ready = (status: Condition['status'], reason: string): Condition => ({
    ...{ type: 'Ready', status, reason, message: 'm' },
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const later = '2026-01-02T00:00:00Z';
  assert.deepEqual(conditionChanges([ready('True', 'a')], [ready('True', 'b')], later), []);
  assert.deepEqual(conditionChanges([ready('True', 'a')], [ready('Unknown', 'b')], later), [
    {
      ...{ time: '2026-01-01T00:00:00Z', type: 'Ready', from: 'True', status: 'Unknown' },
      ...{ reason: 'b', message: 'm' },
    },
  ]);
  assert.deepEqual(conditionChanges([ready('True', 'a')], [], later), []);
  assert.deepEqual(
    conditionChanges([], [{ type: 'X', status: 'True' } as Condition], later).map(({ time }) => time),
    [later],
  );
});

describe("a day of a condition's history", () => {
  interface ConditionIntervals {
    conditionIntervals(
      changes: readonly ConditionChange[],
      present: { status: string; since: number },
      start: number,
      end: number,
    ): { from: number; to: number; status: string }[];
    offlineSpans(
      changes: readonly ConditionChange[],
      connected: Condition | undefined,
      now: number,
    ): { from: number; to: number }[];
  }
  let intervals: ConditionIntervals;
  before(async () => {
    intervals = await consoleModule<ConditionIntervals>('hosts/condition-intervals.ts');
  });
  const change = (atMs: number, status: string, from?: string): ConditionChange => ({
    ...{ time: new Date(atMs).toISOString(), type: 'Ready', status, reason: '', message: '' },
    ...(from ? { from } : {}),
  });
  const within = (since: number, ...changes: ConditionChange[]) => {
    const present = { status: 'True', since };
    const found = intervals.conditionIntervals(changes, present, START, START + 100_000);
    return found.map(({ from, to, status }) => [from, to, status]);
  };

  test('without a change is one span since the condition has its status', () => {
    assert.deepEqual(within(START - 1_000), [[0, 1, 'True']]);
    assert.deepEqual(within(START + 25_000), [[0.25, 1, 'True']]);
  });

  test('is split where the status changed, and shows nothing before a new condition', () => {
    const [down, up] = [change(START + 25_000, 'False', 'True'), change(START + 75_000, 'True', 'False')];
    assert.deepEqual(within(0, down, up), [
      [0, 0.25, 'True'],
      [0.25, 0.75, 'False'],
      [0.75, 1, 'True'],
    ]);
    assert.deepEqual(within(0, change(START + 50_000, 'True')), [[0.5, 1, 'True']]);
    assert.deepEqual(within(0, change(START - 5_000, 'Unknown', 'True'), up), [
      [0, 0.75, 'Unknown'],
      [0.75, 1, 'True'],
    ]);
  });

  test('shows as offline when the host was not connected, also now, and ignores other conditions', () => {
    const day = 86_400_000;
    const connected = (status: Condition['status'], sinceMs: number) =>
      ({ type: 'Connected', status, lastTransitionTime: new Date(sinceMs).toISOString() }) as Condition;
    const ofLink = (atMs: number, status: string, from: string) => ({
      ...change(atMs, status, from),
      type: 'Connected',
    });
    const seconds = (ms: number) => ms / 1000;
    assert.deepEqual(intervals.offlineSpans([], undefined, START), []);
    assert.deepEqual(intervals.offlineSpans([], connected('True', START - 5_000), START), []);
    const [still] = intervals.offlineSpans([], connected('False', START - day / 4), START);
    assert.deepEqual(still, { from: seconds(START - day / 4), to: seconds(START) });
    const changes = [
      change(START - day / 2, 'Unknown', 'True'),
      ofLink(START - day / 2, 'False', 'True'),
      ofLink(START - day / 4, 'True', 'False'),
    ];
    assert.deepEqual(intervals.offlineSpans(changes, connected('True', START - day / 4), START), [
      { from: seconds(START - day / 2), to: seconds(START - day / 4) },
    ]);
  });
});
