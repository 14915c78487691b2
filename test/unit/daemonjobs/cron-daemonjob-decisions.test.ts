/** Times of a CronDaemonJob on hosts, in particular when clocks change, and the rules that Pods carry. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cronTimeline } from '../../../coordinator/decisions/daemonjobs/cron-timeline.js';
import { hasNeverBegun, hostStart } from '../../../coordinator/decisions/daemonjobs/host-start.js';
import { cronDaemonJobKind } from '../../../coordinator/kinds/index.js';
import { timeZone } from '../../../shared/calendar/time-zone.js';
import type {
  CronDaemonJob,
  CronDaemonJobSpec,
} from '../../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import {
  SERIES_ANNOTATION,
  START_ANNOTATION,
  STOP_CONFIRMED_CONDITION,
  TIME_ZONE_LABEL,
} from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import type { DaemonJob } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

const TEMPLATE = { spec: { containers: [{ name: 'work', image: 'work:1' }] } };

function job(startAt: string, next?: string, startingDeadlineSeconds?: number): DaemonJob {
  const series = JSON.stringify({ uid: 'cron', concurrency: 'Forbid', ...(next && { next }) });
  return {
    apiVersion: 'fleet.everynode.dev/v1',
    kind: 'DaemonJob',
    metadata: { name: 'work', annotations: { [SERIES_ANNOTATION]: series } },
    spec: {
      template: TEMPLATE,
      startAt,
      ...(startingDeadlineSeconds !== undefined && { startingDeadlineSeconds }),
    },
  };
}

function inSeries(concurrency: string) {
  return { name: 'work', annotations: { [SERIES_ANNOTATION]: JSON.stringify({ uid: 'cron', concurrency }) } };
}

const inSeriesRules = (concurrency: string) => ({ series: { uid: 'cron', concurrency } });

describe('the start of a run on a host', () => {
  // Berlin: 02:00 to 03:00 is skipped on 29 March 2026, and comes twice on 25 October 2026.
  const rows: [rule: string, job: DaemonJob, zone: string | undefined, expected: string][] = [
    ['is the local time of the host', job('2026-06-01T03:00:00'), 'Europe.Berlin', '2026-06-01T01:00:00Z'],
    ['is UTC on a host without a zone', job('2026-06-01T03:00:00'), undefined, '2026-06-01T03:00:00Z'],
    [
      'is UTC on a host with an unknown zone',
      job('2026-06-01T03:00:00'),
      'Mars.Base',
      '2026-06-01T03:00:00Z',
    ],
    [
      'is the same everywhere with an offset',
      job('2026-06-01T03:00:00Z'),
      'Europe.Berlin',
      '2026-06-01T03:00:00Z',
    ],
    [
      'ends at the next run',
      job('2026-06-01T03:00:00', '2026-06-02T03:00:00'),
      'Europe.Berlin',
      '2026-06-01T01:00:00Z until 2026-06-02T01:00:00Z',
    ],
    [
      'ends at its deadline',
      job('2026-06-01T03:00:00', '2026-06-02T03:00:00', 60),
      'Europe.Berlin',
      '2026-06-01T01:00:00Z until 2026-06-01T01:01:00Z',
    ],
    [
      'is moved to the moment of the change if the day has no such time',
      job('2026-03-29T02:30:00', '2026-03-30T02:30:00'),
      'Europe.Berlin',
      '2026-03-29T01:00:00Z until 2026-03-30T00:30:00Z',
    ],
    [
      'is skipped if the next run starts at that moment',
      job('2026-03-29T02:30:00', '2026-03-29T03:00:00'),
      'Europe.Berlin',
      'skipped',
    ],
    [
      'is kept on hosts that do not change their clocks then',
      job('2026-03-29T02:30:00', '2026-03-29T03:00:00'),
      'Asia.Tokyo',
      '2026-03-28T17:30:00Z until 2026-03-28T18:00:00Z',
    ],
    [
      'is the first of two equal local times',
      job('2026-10-25T02:30:00', '2026-10-26T02:30:00'),
      'Europe.Berlin',
      '2026-10-25T00:30:00Z until 2026-10-26T01:30:00Z',
    ],
  ];
  for (const [rule, of, zone, expected] of rows) {
    test(rule, () => {
      const start = hostStart(of, zone === undefined ? {} : { [TIME_ZONE_LABEL]: zone });
      if (typeof start !== 'object') return assert.equal(start, expected);
      const { at, before } = start.rules;
      return assert.equal(before ? `${at} until ${before}` : at, expected);
    });
  }

  for (const [what, metadata, rules] of [
    ['has neither a time nor a deadline', { name: 'once' }, {}],
    ['waits for other runs of its series', inSeries('Forbid'), inSeriesRules('Forbid')],
    ['does not end a later run', inSeries('Replace'), inSeriesRules('Forbid')],
    ['may run next to others', inSeries('Allow'), inSeriesRules('Allow')],
  ] as const) {
    test(`of a rerun ${what}`, () => {
      const first = job('2026-06-01T03:00:00', '2026-06-02T03:00:00', 60);
      assert.deepEqual(hostStart({ ...first, metadata, spec: { ...first.spec, run: 2 } }, {}), { rules });
    });
  }

  test('of a rerun stays skipped on a host that is not part of the run', () => {
    const first = job('2026-03-29T02:30:00', '2026-03-29T03:00:00');
    const labels = { [TIME_ZONE_LABEL]: 'Europe.Berlin' };
    assert.equal(hostStart({ ...first, spec: { ...first.spec, run: 2 } }, labels), 'skipped');
  });

  for (const next of ['31 February', '2026-02-31T03:00:00', '2026-06-02T03:00:00+99:00', 7, null, {}]) {
    test(`has no end if a client wrote the next run as ${JSON.stringify(next)}`, () => {
      const run = job('2026-06-01T03:00:00Z');
      run.metadata.annotations = {
        [SERIES_ANNOTATION]: JSON.stringify({ uid: 'cron', concurrency: 'Allow', next }),
      };
      assert.deepEqual(hostStart(run, {}), {
        at: Date.parse('2026-06-01T03:00:00Z'),
        rules: { at: '2026-06-01T03:00:00Z', series: { uid: 'cron', concurrency: 'Allow' } },
      });
    });
  }

  test('has no end if a stored deadline is later than any date', () => {
    assert.deepEqual(hostStart(job('2026-06-01T03:00:00Z', undefined, 9e15), {}), {
      at: Date.parse('2026-06-01T03:00:00Z'),
      rules: { at: '2026-06-01T03:00:00Z', ...inSeriesRules('Forbid') },
    });
  });

  test('is skipped if a stored start is no time', () => {
    assert.equal(hostStart(job('soon', undefined, 60), {}), 'skipped');
  });

  test('is absent without startAt', () => {
    const { startAt: _, ...spec } = job('2026-06-01T03:00:00').spec;
    assert.equal(hostStart({ ...job(''), spec }, {}), undefined);
  });
});

describe('the timeline of a schedule', () => {
  const now = Date.parse('2026-03-28T20:00:00Z');
  const zones = ['Asia/Tokyo', 'Europe/Berlin'].flatMap((name) => timeZone(name) ?? []);
  const of = (spec: Partial<CronDaemonJobSpec>) =>
    cronTimeline(
      { schedule: '30 2 * * *', jobTemplate: { spec: { template: TEMPLATE } }, ...spec },
      zones,
      now,
    );
  const text = (at: number | undefined) => new Date(at ?? 0).toISOString();

  test('of hosts in two zones is first and last in local time', () => {
    const found = of({});
    assert.ok(found.kind === 'timeline');
    const { first, last, nextAfter, textOf, instantOf } = found.timeline;
    assert.deepEqual([text(first), text(last)], ['2026-03-29T05:00:00.000Z', '2026-03-28T21:00:00.000Z']);
    assert.equal(textOf(nextAfter(first) ?? 0), '2026-03-30T02:30:00');
    assert.equal(text(instantOf(nextAfter(first) ?? 0)), '2026-03-29T17:30:00.000Z');
  });

  test('of a named zone has the clock changes of that zone', () => {
    const found = of({ timeZone: 'Europe/Berlin' });
    assert.ok(found.kind === 'timeline');
    assert.equal(found.timeline.textOf(found.timeline.nextAfter(now) ?? 0), '2026-03-29T01:00:00Z');
  });

  test('of an hourly schedule in a named zone has both hours when clocks are set back', () => {
    const found = of({ schedule: '30 * * * *', timeZone: 'Europe/Berlin' });
    assert.ok(found.kind === 'timeline');
    const { nextAfter } = found.timeline;
    const first = nextAfter(Date.parse('2026-10-25T00:00:00Z'));
    assert.deepEqual(
      [text(first), text(nextAfter(first ?? 0))],
      ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'],
    );
  });

  test('needs a known zone and a readable schedule', () => {
    assert.deepEqual(
      of({ timeZone: 'Mars/Base' }).kind === 'invalid' && of({ schedule: 'x' }).kind,
      'invalid',
    );
  });
});

test('a Pod without a started container has never begun, if its host has confirmed its end', () => {
  const pod = (status: Pod['status']): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      annotations: { [START_ANNOTATION]: '{}' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'DaemonJob', name: 'j', uid: 'j', controller: true }],
    },
    spec: { containers: [] },
    ...(status && { status }),
  });
  const container = { name: 'c', image: '', imageID: '', ready: false, restartCount: 0 };
  const conditions = [{ type: STOP_CONFIRMED_CONDITION, status: 'True' as const }];
  assert.equal(hasNeverBegun(pod({ conditions })), true);
  assert.equal(hasNeverBegun(pod({ phase: 'Pending', conditions })), true);
  assert.equal(hasNeverBegun(pod(undefined)), false);
  assert.equal(hasNeverBegun(pod({ phase: 'Running', conditions })), false);
  const ended = { ...container, state: { terminated: { exitCode: 137 } } };
  assert.equal(hasNeverBegun(pod({ phase: 'Pending', conditions, containerStatuses: [ended] })), false);
});

describe('validation of a CronDaemonJob', () => {
  const errors = (spec: object): string[] => {
    const cron = {
      metadata: { name: 'work' },
      spec: {
        schedule: '0 3 * * *',
        jobTemplate: { spec: { template: structuredClone(TEMPLATE) } },
        ...spec,
      },
    } as CronDaemonJob;
    cronDaemonJobKind.setDefaults?.(cron);
    return (cronDaemonJobKind.validate?.(cron) ?? []).map(({ field, message }) => `${field}: ${message}`);
  };
  const rows: [spec: object, expected: RegExp | undefined][] = [
    [{}, undefined],
    [{ schedule: '' }, /^spec\.schedule: /],
    [{ schedule: 'TZ=UTC * * * * *' }, /cannot use TZ or CRON_TZ in schedule, use timeZone field instead/],
    [{ timeZone: 'Mars/Base' }, /^spec\.timeZone: .*unknown time zone Mars\/Base/],
    [{ concurrencyPolicy: 'Never' }, /^spec\.concurrencyPolicy: /],
    [{ startingDeadlineSeconds: 2_147_483_647 }, undefined],
    [
      { startingDeadlineSeconds: 9e15 },
      /^spec\.startingDeadlineSeconds: .*must be less than or equal to 2147483647$/,
    ],
    [{ startingDeadlineSeconds: -1 }, /^spec\.startingDeadlineSeconds: .*must be greater than or equal to 0/],
    [
      { jobTemplate: { spec: { template: TEMPLATE, startAt: '2026-01-01T00:00:00' } } },
      /^spec\.jobTemplate\.spec\.startAt: Forbidden: is set by the schedule/,
    ],
    [
      {
        jobTemplate: {
          metadata: { annotations: { 'fleet.everynode.dev/approve': '*' } },
          spec: { template: TEMPLATE },
        },
      },
      /^spec\.jobTemplate\.metadata\.annotations\[fleet\.everynode\.dev\/approve\]: Forbidden: annotate the DaemonJob after it is created$/,
    ],
    [{ jobTemplate: { spec: { template: TEMPLATE, run: 2 } } }, /^spec\.jobTemplate\.spec\.run: /],
    [
      { jobTemplate: { spec: { template: TEMPLATE, maxFailed: '200%' } } },
      /^spec\.jobTemplate\.spec\.maxFailed: /,
    ],
  ];
  for (const [spec, expected] of rows) {
    test(`${JSON.stringify(spec).slice(0, 70)} is ${expected ? 'refused' : 'valid'}`, () => {
      const found = errors(structuredClone(spec));
      if (expected) assert.match(found.join('\n'), expected);
      else assert.deepEqual(found, []);
    });
  }
});
