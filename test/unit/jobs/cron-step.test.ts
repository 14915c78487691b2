/** When CronJobs start Jobs (`pkg/controller/cronjob/cronjob_controllerv2_test.go`). */
import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { cronStep, jobOfSchedule } from '../../../coordinator/decisions/jobs/cron-step.js';
import { lastMatch, matchesMoreThan } from '../../../shared/calendar/cron-matches.js';
import { parseSchedule } from '../../../shared/calendar/job-schedule.js';
import { timeZone } from '../../../shared/calendar/time-zone.js';
import type { CronJob, Job } from '../../../shared/kube/jobs/job-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';

const at = (text: string) => Date.parse(`2026-01-01T${text}Z`);

function cronJob(spec: Partial<CronJob['spec']> = {}, status: CronJob['status'] = {}): CronJob {
  return {
    ...{ apiVersion: 'batch/v1', kind: 'CronJob', status },
    metadata: {
      name: 'tick',
      namespace: 'default',
      uid: 'c1',
      creationTimestamp: toTimestamp(at('10:00:30')),
    },
    spec: {
      schedule: '0 * * * *',
      jobTemplate: { spec: { template: { spec: { containers: [] } } } },
      ...spec,
    },
  };
}

describe('a CronJob of every hour', () => {
  const rows: [
    name: string,
    spec: Partial<CronJob['spec']>,
    last: string | undefined,
    now: string,
    due: string | undefined,
  ][] = [
    ['is not due before the first time', {}, undefined, '10:59:59', undefined],
    ['is due at the first time', {}, undefined, '11:00:00', '11:00:00'],
    ['is not due twice', {}, '11:00:00', '11:30:00', undefined],
    ['starts only the newest of several missed times', {}, '11:00:00', '14:05:00', '14:00:00'],
    ['misses its deadline', { startingDeadlineSeconds: 60 }, '11:00:00', '12:02:00', undefined],
    ['keeps its deadline', { startingDeadlineSeconds: 60 }, '11:00:00', '12:00:59', '12:00:00'],
    ['starts nothing while it is suspended', { suspend: true }, '11:00:00', '12:00:00', undefined],
  ];
  for (const [name, spec, last, now, due] of rows) {
    test(name, () => {
      const status = last === undefined ? {} : { lastScheduleTime: toTimestamp(at(last)) };
      assert.equal(cronStep(cronJob(spec, status), [], at(now)).due, due === undefined ? undefined : at(due));
    });
  }

  test('waits until the next hour', () => {
    assert.equal(cronStep(cronJob(), [], at('10:59:00')).requeueAfterMs, 60_000);
  });

  test('in a time zone', () => {
    const spec = { schedule: '30 9 * * *', timeZone: 'Asia/Kolkata' };
    const before = { lastScheduleTime: toTimestamp(at('03:00:00')) };
    assert.equal(cronStep(cronJob(spec, before), [], at('04:00:00')).due, at('04:00:00'));
  });

  test('reports more than 100 missed times and starts one Job', () => {
    const step = cronStep(cronJob({ schedule: '* * * * *' }), [], at('13:00:00'));
    assert.equal(step.due, at('13:00:00'));
    assert.deepEqual(
      step.events.map(({ reason }) => reason),
      ['TooManyMissedTimes'],
    );
  });

  test('goes on after the clock was set back', () => {
    const future = { lastScheduleTime: '2027-01-01T00:00:00Z' };
    const step = cronStep(cronJob({}, future), [], at('12:30:00'));
    assert.equal(step.status.lastScheduleTime, toTimestamp(at('12:30:00')));
    assert.equal(cronStep(cronJob({}, step.status), [], at('13:00:00')).due, at('13:00:00'));
  });
});

/** TestControllerV2SyncCronJob of upstream. The CronJob was created at 10:00:30, its last Job is of 10:00. */
describe('one sync of a CronJob', () => {
  const running = (name: string, end?: 'Complete' | 'Failed'): Job => ({
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name, uid: name } },
    spec: { template: { spec: { containers: [] } } },
    ...(end && {
      status: { conditions: [{ type: end, status: 'True' }], completionTime: '2026-01-01T10:01:00Z' },
    }),
  });
  const before = '10:59:00';
  const after = '11:01:00';
  const toNext = { [before]: 60_000, [after]: 59 * 60_000 };
  const rows: [
    name: string,
    spec: Partial<CronJob['spec']>,
    last: 'never' | 'done' | 'active',
    now: typeof before | typeof after,
    expected: 'starts' | 'waits' | 'sleeps',
    more?: { removes?: string[]; events?: string[] },
  ][] = [
    ['never ran, not time', {}, 'never', before, 'waits'],
    ['never ran, not time in zone', { timeZone: 'America/New_York' }, 'never', before, 'waits'],
    ['never ran, is time, A', { concurrencyPolicy: 'Allow' }, 'never', after, 'starts'],
    ['never ran, is time, F', { concurrencyPolicy: 'Forbid' }, 'never', after, 'starts'],
    ['never ran, is time, R', { concurrencyPolicy: 'Replace' }, 'never', after, 'starts'],
    ['never ran, is time, suspended', { suspend: true }, 'never', after, 'sleeps'],
    ['never ran, is time, past deadline', { startingDeadlineSeconds: 10 }, 'never', after, 'waits'],
    ['never ran, is time, not past deadline', { startingDeadlineSeconds: 600 }, 'never', after, 'starts'],
    ['prev ran but done, not time', {}, 'done', before, 'waits', { events: ['SawCompletedJob'] }],
    ['prev ran but done, is time, A', {}, 'done', after, 'starts', { events: ['SawCompletedJob'] }],
    [
      'prev ran but done, is time, F',
      { concurrencyPolicy: 'Forbid' },
      'done',
      after,
      'starts',
      { events: ['SawCompletedJob'] },
    ],
    [
      'prev ran but done, suspended',
      { suspend: true },
      'done',
      after,
      'sleeps',
      { events: ['SawCompletedJob'] },
    ],
    ['still active, not time', { concurrencyPolicy: 'Replace' }, 'active', before, 'waits'],
    ['still active, is time, A', { concurrencyPolicy: 'Allow' }, 'active', after, 'starts'],
    [
      'still active, is time, F',
      { concurrencyPolicy: 'Forbid' },
      'active',
      after,
      'waits',
      { events: ['JobAlreadyActive'] },
    ],
    [
      'still active, is time, R',
      { concurrencyPolicy: 'Replace' },
      'active',
      after,
      'starts',
      { removes: ['last'] },
    ],
    ['still active, is time, suspended', { suspend: true }, 'active', after, 'sleeps'],
    [
      'an unknown time zone is reported while the CronJob is suspended',
      { suspend: true, timeZone: 'Mars/Olympus' },
      'never',
      after,
      'sleeps',
      { events: ['UnknownTimeZone'] },
    ],
  ];
  for (const [name, spec, last, now, expected, { removes = [], events = [] } = {}] of rows) {
    test(name, () => {
      const jobs = last === 'never' ? [] : [running('last', last === 'done' ? 'Complete' : undefined)];
      const status = {
        active: jobs.map(({ metadata }) => ({ name: metadata.name, uid: metadata.uid ?? '' })),
        ...(last !== 'never' && { lastScheduleTime: toTimestamp(at('10:00:00')) }),
      };
      const step = cronStep(cronJob(spec, status), jobs, at(now));
      assert.equal(step.due, expected === 'starts' ? at('11:00:00') : undefined);
      assert.equal(step.requeueAfterMs, expected === 'sleeps' ? undefined : toNext[now]);
      assert.deepEqual(
        step.remove.map(({ metadata }) => metadata.name),
        removes,
      );
      assert.deepEqual(
        step.events.map(({ reason }) => reason),
        events,
      );
    });
  }

  test('a missing Job is no warning, and an unknown one is', () => {
    const status = { active: [{ name: 'gone', uid: 'gone' }] };
    const step = cronStep(cronJob({}, status), [running('stranger')], at(before));
    assert.deepEqual(step.events, [
      { type: 'Normal', reason: 'MissingJob', message: 'Active job went missing: gone' },
      {
        ...{ type: 'Warning', reason: 'UnexpectedJob' },
        message: 'Saw a job that the controller did not create or forgot: stranger',
      },
    ]);
    assert.equal(step.status.active, undefined);
  });
});

test('the scheduled time of a Job has the offset of the zone', () => {
  const rows: [zone: string | undefined, text: string][] = [
    [undefined, '2026-01-01T11:00:00Z'],
    ['Asia/Kolkata', '2026-01-01T16:30:00+05:30'],
    ['America/New_York', '2026-01-01T06:00:00-05:00'],
    ['Europe/London', '2026-01-01T11:00:00Z'],
  ];
  for (const [zone, text] of rows) {
    const { annotations } = jobOfSchedule(
      cronJob(zone === undefined ? {} : { timeZone: zone }),
      at('11:00:00'),
    ).metadata;
    assert.equal(annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'], text);
  }
});

test('the name of a Job is the minute of its due time', () => {
  assert.equal(jobOfSchedule(cronJob(), at('11:00:00')).metadata.name, `tick-${at('11:00:00') / 60_000}`);
});

test('finished Jobs above the limit are deleted, the oldest first', () => {
  const finished = (name: string, start: string | undefined): Job => ({
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name, uid: name } },
    spec: { template: { spec: { containers: [] } } },
    status: {
      ...(start !== undefined && { startTime: toTimestamp(at(start)) }),
      conditions: [{ type: 'Complete', status: 'True' }],
    },
  });
  const jobs = [finished('b', '02:00:00'), finished('a', '01:00:00'), finished('0', undefined)];
  const step = cronStep(
    cronJob({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }),
    jobs,
    at('10:30:00'),
  );
  assert.deepEqual(
    step.remove.map(({ metadata }) => metadata.name),
    ['a', 'b'],
  );
});

test('a day of the month or a day of the week is enough', () => {
  const zone = timeZone('UTC');
  assert.ok(zone);
  // 2026-01-02 is a Friday.
  const last = lastMatch(
    parseSchedule('0 0 15 * fri'),
    zone,
    Date.parse('2026-01-16T12:00:00Z'),
    10 * 86_400_000,
  );
  assert.equal(last, Date.parse('2026-01-16T00:00:00Z'));
  const before = lastMatch(
    parseSchedule('0 0 15 * fri'),
    zone,
    Date.parse('2026-01-15T12:00:00Z'),
    10 * 86_400_000,
  );
  assert.equal(before, Date.parse('2026-01-15T00:00:00Z'));
});

describe('missed times are counted', () => {
  const rows: [schedule: string, zone: string, since: string, now: string, count: number][] = [
    ['*/10 * * * *', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z', 6],
    ['0 0 29 2 *', 'UTC', '2010-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 4],
    ['0 0 29 2 mon', 'UTC', '2023-12-31T00:00:00Z', '2025-01-01T00:00:00Z', 5],
    // Berlin's clocks are set back on 25 October and forward on 29 March.
    ['0 * * * *', 'Europe/Berlin', '2026-10-24T22:30:00Z', '2026-10-25T22:30:00Z', 24],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-24T00:00:00Z', '2026-10-26T00:00:00Z', 2],
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', '2026-03-30T00:00:00Z', 2],
  ];
  for (const [schedule, name, since, now, count] of rows) {
    test(`${schedule} in ${name}`, () => {
      const zone = timeZone(name);
      assert.ok(zone);
      const above = (limit: number) =>
        matchesMoreThan(limit, parseSchedule(schedule), zone, Date.parse(since), Date.parse(now));
      assert.deepEqual([above(count - 1), above(count)], [true, false]);
    });
  }

  test('without many calls of Intl, which takes 20 µs each', () => {
    const formats = mock.method(Intl.DateTimeFormat.prototype, 'formatToParts');
    try {
      for (const schedule of ['* * * * *', '0 0 29 2 *', '0 0 29 2 1']) {
        const before = formats.mock.callCount();
        const status = { lastScheduleTime: '2010-01-01T00:00:00Z' };
        cronStep(cronJob({ schedule }, status), [], at('10:00:00'));
        const calls = formats.mock.callCount() - before;
        assert.ok(calls < 1_000, `${schedule}: ${calls} calls`);
      }
    } finally {
      formats.mock.restore();
    }
  });
});
