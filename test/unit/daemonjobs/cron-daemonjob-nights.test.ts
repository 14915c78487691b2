/** A CronDaemonJob by the local time of hosts in the nights in which clocks change, reconciled many times. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cronDaemonJobStep } from '../../../coordinator/decisions/daemonjobs/cron-daemonjob-step.js';
import { cronTimeline } from '../../../coordinator/decisions/daemonjobs/cron-timeline.js';
import { hostStart } from '../../../coordinator/decisions/daemonjobs/host-start.js';
import { timeZone } from '../../../shared/calendar/time-zone.js';
import type { CronDaemonJob } from '../../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import { TIME_ZONE_LABEL } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import type { DaemonJob } from '../../../shared/kube/daemonjobs/daemonjob-types.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function cronOf(schedule: string, created: number, status?: CronDaemonJob['status']): CronDaemonJob {
  return {
    apiVersion: 'fleet.everynode.dev/v1',
    kind: 'CronDaemonJob',
    metadata: {
      name: 'work',
      uid: 'cron',
      generation: 1,
      creationTimestamp: new Date(created).toISOString(),
    },
    spec: { schedule, jobTemplate: { spec: { template: { spec: { containers: [] } } } } },
    ...(status && { status }),
  };
}

interface Night {
  /** Instant of each start on the host, each once. */
  starts: string[];
  /** Names of all DaemonJobs that were created, in that order. */
  created: string[];
  /** DaemonJobs that were withdrawn before they had started. */
  withdrawn: string[];
  /** Shortest delay until the next time, in ms. */
  shortest: number;
}

/**
 * Reconciles every five minutes. A run ends and is deleted when all hosts have started it or skip it. `starts` are those
 * of the hosts in the first zone.
 */
function liveThrough(schedule: string, zones: readonly string[], from: number, to: number): Night {
  let cron = cronOf(schedule, from);
  let open: { job: DaemonJob; startsAt: number[] }[] = [];
  const night: Night = { starts: [], created: [], withdrawn: [], shortest: Number.POSITIVE_INFINITY };
  const known = zones.flatMap((zone) => timeZone(zone) ?? assert.fail(zone));
  for (let now = from; now <= to; now += 5 * MINUTE) {
    const found = cronTimeline(cron.spec, known, now);
    assert.ok(found.kind === 'timeline');
    const jobs = open.map(({ job }) => job);
    const step = cronDaemonJobStep(cron, jobs, found.timeline, now);
    cron = { ...cron, status: step.status };
    night.withdrawn.push(...step.remove.map(({ metadata }) => metadata.name));
    night.created.push(...step.create.map(({ metadata }) => metadata.name));
    night.shortest = Math.min(night.shortest, step.requeueAfterMs ?? 0);
    const added = step.create.map(withUid);
    open.push(...added.map((job) => ({ job, startsAt: zones.map((zone) => startOf(job, zone)) })));
    const ended = open.filter(({ startsAt }) => startsAt.every((at) => at <= now));
    open = open.filter((one) => !ended.includes(one) && !step.remove.includes(one.job));
    for (const { startsAt } of ended) if (startsAt[0]) night.starts.push(shortText(startsAt[0]));
  }
  return night;
}

const withUid = (job: DaemonJob): DaemonJob => ({
  ...job,
  metadata: { ...job.metadata, uid: job.metadata.name },
});

/** Returns 0 for a run that the host skips. */
function startOf(job: DaemonJob, zone: string): number {
  const start = hostStart(job, { [TIME_ZONE_LABEL]: zone.replaceAll('/', '.') });
  return typeof start === 'object' ? (start.at ?? 0) : 0;
}

const shortText = (at: number) => new Date(at).toISOString().slice(5, 16);

const every = (step: number, from: string, to: string): string[] => {
  const [first, last] = [Date.parse(`2026-${from}Z`), Date.parse(`2026-${to}Z`)];
  return Array.from({ length: (last - first) / step + 1 }, (_, at) => shortText(first + at * step));
};

/** Instants of the starts. Between the two parts clocks show each time again, and nothing starts. */
const NIGHTS: [zone: string, evening: string, schedule: string, expected: string[]][] = [
  // Clocks are set back at 01:00 UTC.
  ['Europe/Berlin', '2026-10-24T22:30Z', '30 2 * * *', ['10-25T00:30', '10-26T01:30']],
  ['Europe/Berlin', '2026-10-24T22:30Z', '0 3 * * *', ['10-25T02:00', '10-26T02:00']],
  [
    'Europe/Berlin',
    '2026-10-24T22:30Z',
    '0 * * * *',
    [...every(HOUR, '10-24T23:00', '10-25T00:00'), ...every(HOUR, '10-25T02:00', '10-26T02:00')],
  ],
  [
    'Europe/Berlin',
    '2026-10-24T22:35Z',
    '*/10 * * * *',
    [
      ...every(10 * MINUTE, '10-24T22:40', '10-25T00:50'),
      ...every(10 * MINUTE, '10-25T02:00', '10-26T02:30'),
    ],
  ],
  // Clocks are set back at 06:00 UTC.
  ['America/New_York', '2026-11-01T03:30Z', '30 1 * * *', ['11-01T05:30', '11-02T06:30']],
  [
    'America/New_York',
    '2026-11-01T03:30Z',
    '0 * * * *',
    [...every(HOUR, '11-01T04:00', '11-01T05:00'), ...every(HOUR, '11-01T07:00', '11-02T07:00')],
  ],
  [
    'America/New_York',
    '2026-11-01T03:35Z',
    '*/10 * * * *',
    [
      ...every(10 * MINUTE, '11-01T03:40', '11-01T05:50'),
      ...every(10 * MINUTE, '11-01T07:00', '11-02T07:30'),
    ],
  ],
  // Clocks are put forward at 01:00 UTC.
  ['Europe/Berlin', '2026-03-28T22:30Z', '30 2 * * *', ['03-29T01:00', '03-30T00:30']],
  ['Europe/Berlin', '2026-03-28T22:30Z', '0 * * * *', every(HOUR, '03-28T23:00', '03-30T02:00')],
  ['Europe/Berlin', '2026-03-28T22:35Z', '*/10 * * * *', every(10 * MINUTE, '03-28T22:40', '03-30T02:30')],
  // Clocks are put forward at 07:00 UTC.
  ['America/New_York', '2026-03-08T05:30Z', '30 2 * * *', ['03-08T07:00', '03-09T06:30']],
  ['America/New_York', '2026-03-08T05:30Z', '0 * * * *', every(HOUR, '03-08T06:00', '03-09T09:00')],
  ['America/New_York', '2026-03-08T05:35Z', '*/10 * * * *', every(10 * MINUTE, '03-08T05:40', '03-09T09:30')],
];

describe('a night in which clocks change, reconciled every five minutes, with runs that are deleted at their end', () => {
  for (const [zone, evening, schedule, expected] of NIGHTS) {
    test(`${zone} ${evening.slice(0, 10)} ${schedule}`, () => {
      const from = Date.parse(evening);
      const night = liveThrough(schedule, [zone], from, from + 28 * HOUR);
      assert.deepEqual(night.starts, expected);
      assert.deepEqual(night.created, [...new Set(night.created)], 'created once');
      assert.deepEqual(night.withdrawn, []);
      assert.ok(night.shortest >= MINUTE, `reconciled again after ${night.shortest} ms`);
    });
  }

  for (const schedule of ['30 2 * * *', '0 * * * *', '*/10 * * * *']) {
    test(`hosts in three zones ${schedule}`, () => {
      const from = Date.parse('2026-10-24T20:35Z');
      const zones = ['Europe/Berlin', 'America/New_York', 'Europe/Helsinki'];
      const night = liveThrough(schedule, zones, from, from + 36 * HOUR);
      assert.deepEqual(night.created, [...new Set(night.created)], 'created once');
      assert.deepEqual(night.withdrawn, []);
      assert.ok(night.shortest >= MINUTE, `reconciled again after ${night.shortest} ms`);
    });
  }
});

describe('a coordinator that starts while clocks show an hour again', () => {
  const zones = [timeZone('Europe/Berlin') ?? assert.fail()];
  const now = Date.parse('2026-10-25T01:05:00Z');
  const stepOf = (cron: CronDaemonJob) => {
    const found = cronTimeline(cron.spec, zones, now);
    assert.ok(found.kind === 'timeline');
    const { create, requeueAfterMs, status } = cronDaemonJobStep(cron, [], found.timeline, now);
    const starts = create.map(({ spec }) => spec.startAt);
    return [starts, requeueAfterMs, status.nextScheduleTime];
  };
  const TOMORROW = Date.parse('2026-10-26T01:30:00Z');

  test('starts the run that came in the first of the two hours', () => {
    const cron = cronOf('30 2 * * *', 0, { lastScheduleTime: '2026-10-24T00:30:00Z' });
    assert.deepEqual(stepOf(cron), [
      ['2026-10-25T02:30:00', '2026-10-26T02:30:00'],
      TOMORROW - now,
      '2026-10-26T01:30:00Z',
    ]);
  });

  test('does not start the run that it started in the first of the two hours', () => {
    const cron = cronOf('30 2 * * *', 0, { lastScheduleTime: '2026-10-25T00:30:00Z' });
    assert.deepEqual(stepOf(cron), [['2026-10-26T02:30:00'], TOMORROW - now, '2026-10-26T01:30:00Z']);
  });

  test('starts nothing that came before the CronDaemonJob was created', () => {
    const cron = cronOf('30 2 * * *', Date.parse('2026-10-25T01:01:00Z'));
    assert.deepEqual(stepOf(cron), [['2026-10-26T02:30:00'], TOMORROW - now, '2026-10-26T01:30:00Z']);
  });

  test('starts no run whose deadline has passed', () => {
    const cron = cronOf('30 2 * * *', 0, { lastScheduleTime: '2026-10-24T00:30:00Z' });
    const spec = { ...cron.spec, startingDeadlineSeconds: 1200 };
    assert.deepEqual(stepOf({ ...cron, spec })[0], ['2026-10-26T02:30:00']);
  });
});

test('a run that has begun on all hosts is not suspended while clocks show its hour again', () => {
  const now = Date.parse('2026-10-25T01:05:00Z');
  const cron = cronOf('30 2 * * *', 0, { lastScheduleTime: '2026-10-25T00:30:00Z' });
  const found = cronTimeline(cron.spec, [timeZone('Europe/Berlin') ?? assert.fail()], now);
  assert.ok(found.kind === 'timeline');
  const run = { ...cron, kind: 'DaemonJob', metadata: { name: 'run', uid: 'run' }, status: {} };
  const spec = { template: { spec: { containers: [] } }, startAt: '2026-10-25T02:30:00' };
  const suspended = { ...cron, spec: { ...cron.spec, suspend: true } };
  const step = cronDaemonJobStep(suspended, [{ ...run, spec }], found.timeline, now);
  assert.deepEqual([step.suspend, step.remove], [[], []]);
});
