import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createTask } from 'node-cron';
import { lastMatch, nextMatch } from '../../../shared/calendar/cron-matches.js';
import { parseCron } from '../../../shared/calendar/cron-pattern.js';
import {
  compileMaintenanceSchedules,
  type MaintenanceScheduleSpec,
  nextReplacementTime,
} from '../../../shared/calendar/maintenance-schedule.js';
import { type TimeZone, timeZone } from '../../../shared/calendar/time-zone.js';

const zoned = (name: string): TimeZone => {
  const zone = timeZone(name);
  assert.ok(zone, name);
  return zone;
};
const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
const openings = (pattern: string, zone: string, from: string, count: number) => {
  const found: (string | undefined)[] = [];
  let now = Date.parse(from);
  while (found.length < count) {
    const next = nextMatch(parseCron(pattern), zoned(zone), now);
    found.push(iso(next)?.slice(5, 16));
    if (next === undefined) break;
    now = next;
  }
  return found;
};

/** Pattern, zone, start time, and the next openings in UTC. */
const OPENINGS: [string, string, string, string, (string | undefined)[]][] = [
  ['each night', '0 3 * * *', 'UTC', '2026-05-01T03:00:00Z', ['05-02T03:00', '05-03T03:00']],
  ['each night, in local time', '0 3 * * *', 'Asia/Tokyo', '2026-05-01T00:00:00Z', ['05-01T18:00']],
  [
    'a night whose 02:30 is skipped opens at the skip',
    '30 2 * * *',
    'Europe/Berlin',
    '2027-03-27T00:00:00Z',
    ['03-27T01:30', '03-28T01:00', '03-29T00:30'],
  ],
  [
    'a night whose 02:30 repeats opens once, at the first',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-24T12:00:00Z',
    ['10-25T00:30', '10-26T01:30'],
  ],
  [
    'every half hour of a night with a repeated hour',
    '*/30 * * * *',
    'Europe/Berlin',
    '2026-10-24T23:59:00Z',
    ['10-25T00:00', '10-25T00:30', '10-25T01:00', '10-25T01:30', '10-25T02:00'],
  ],
  [
    'every half hour of a night with a skipped hour',
    '*/30 * * * *',
    'America/New_York',
    '2027-03-14T06:15:00Z',
    ['03-14T06:30', '03-14T07:00', '03-14T07:30'],
  ],
  [
    'a time zone with a half-hour offset',
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2026-10-03T00:00:00Z',
    ['10-03T15:30', '10-04T15:15'],
  ],
  ['a midnight that is skipped', '0 0 * * *', 'Africa/Cairo', '2027-04-29T12:00:00Z', ['04-29T22:00']],
  ['the last day of the month', '0 3 L * *', 'UTC', '2027-01-31T12:00:00Z', ['02-28T03:00', '03-31T03:00']],
  ['the second Monday of the month', '0 3 * * 1#2', 'UTC', '2026-12-01T00:00:00Z', ['12-14T03:00']],
  ['a leap day', '0 3 29 2 *', 'UTC', '2026-12-01T00:00:00Z', ['02-29T03:00']],
];

for (const [name, pattern, zone, from, expected] of OPENINGS) {
  test(`the next openings: ${name}`, () => {
    assert.deepEqual(openings(pattern, zone, from, expected.length), expected);
  });
}

describe('openings', () => {
  const zones = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Asia/Kolkata',
    'Pacific/Auckland',
  );
  const patterns = fc
    .tuple(
      fc.constantFrom('0', '30', '*/20', '5,55'),
      fc.constantFrom('*', '3', '22-23', '0,12', '2'),
      fc.constantFrom('*', '1', '15', 'L'),
      fc.constantFrom('*', '1-5', '0'),
    )
    .map(([minute, hour, day, weekday]) => `${minute} ${hour} ${day} * ${weekday}`);
  const START = Date.parse('2026-01-01T00:00:00Z');
  const instants = fc.nat(600 * 24 * 60).map((minutes) => START + minutes * 60_000);

  test('are where the cron library matches the pattern, and none lies between', () => {
    fc.assert(
      fc.property(patterns, zones, instants, (pattern, name, now) => {
        const zone = zoned(name);
        const compiled = parseCron(pattern);
        const next = nextMatch(compiled, zone, now);
        if (next === undefined) return;
        const task = createTask(pattern, () => undefined, { timezone: name });
        void task.destroy();
        // At a skipped hour no clock shows the matching time.
        const isSkip = zone.wallAt(next) - next !== zone.wallAt(next - 1) - (next - 1);
        assert.ok(isSkip || task.match(new Date(next)), `${iso(next)}`);
        const step = 60_000;
        for (let at = now + step; at < Math.min(next, now + 90 * step); at += step) {
          const isSecond = zone.instantOf(zone.wallAt(at)) !== at;
          assert.ok(isSecond || !task.match(new Date(at)), `${iso(at)} lies before ${iso(next)}`);
        }
        assert.equal(lastMatch(compiled, zone, next, 0), next);
        assert.equal(lastMatch(compiled, zone, next + 1_000, 5_000), next);
        const last = lastMatch(compiled, zone, next - 1, 400 * 86_400_000);
        assert.ok(last === undefined || last <= now);
      }),
      { numRuns: 60 },
    );
  });
});

const SHOPS: MaintenanceScheduleSpec = {
  windows: [{ schedule: '0 3 * * *', durationSeconds: 7200, timeZoneLabel: 'tz' }],
};
const hours = (times: MaintenanceScheduleSpec, labels: Record<string, string>, now: string) =>
  compileMaintenanceSchedules(times)(labels).at(Date.parse(now));

/** Schedule, labels and time, then the expected replace, create and until. */
const HOURS: [string, MaintenanceScheduleSpec, Record<string, string>, string, boolean, boolean, string?][] =
  [
    ['no windows', {}, {}, '2026-05-01T12:00:00Z', true, true],
    [
      '03:00 in the shop',
      SHOPS,
      { tz: 'Asia.Tokyo' },
      '2026-05-01T18:00:00Z',
      true,
      true,
      '2026-05-01T20:00:00.000Z',
    ],
    [
      'the last minute of a window',
      SHOPS,
      { tz: 'Asia.Tokyo' },
      '2026-05-01T19:59:59Z',
      true,
      true,
      '2026-05-01T20:00:00.000Z',
    ],
    ['over', SHOPS, { tz: 'Asia.Tokyo' }, '2026-05-01T20:00:00Z', false, true, '2026-05-02T18:00:00.000Z'],
    ['no label, no window', SHOPS, {}, '2026-05-01T03:00:00Z', false, true],
    ['a label that is not a time zone', SHOPS, { tz: 'Asia.Tokio' }, '2026-05-01T18:00:00Z', false, true],
    [
      'no label, but a default time zone',
      { windows: [{ schedule: '0 3 * * *', durationSeconds: 60, timeZoneLabel: 'tz', timeZone: 'UTC' }] },
      {},
      '2026-05-01T03:00:00Z',
      true,
      true,
      '2026-05-01T03:01:00.000Z',
    ],
    [
      'a window that started before midnight of the day before',
      { windows: [{ schedule: '0 22 * * 5', durationSeconds: 8 * 3600 }] },
      {},
      '2026-05-02T05:59:00Z',
      true,
      true,
      '2026-05-02T06:00:00.000Z',
    ],
    [
      "two windows, one of them in the node's zone",
      {
        windows: [
          { schedule: '0 3 * * *', durationSeconds: 60, nodeSelector: { matchLabels: { a: 'b' } } },
          { schedule: '0 5 * * *', durationSeconds: 60 },
        ],
      },
      {},
      '2026-05-01T03:00:00Z',
      false,
      true,
      '2026-05-01T05:00:00.000Z',
    ],
    [
      'a freeze within an open window',
      { ...SHOPS, freezes: [{ from: '2026-05-01', to: '2026-05-03', timeZoneLabel: 'tz' }] },
      { tz: 'Asia.Tokyo' },
      '2026-05-01T18:00:00Z',
      false,
      true,
      '2026-05-01T20:00:00.000Z',
    ],
    [
      'a freeze of all time',
      { freezes: [{ from: '2026-05-01', to: '2026-05-02', scope: 'Everything' }] },
      {},
      '2026-05-01T18:00:00Z',
      false,
      false,
      '2026-05-02T00:00:00.000Z',
    ],
    [
      'a freeze that starts',
      { freezes: [{ from: '2026-05-01T00:00:00+02:00', to: '2026-05-02' }] },
      {},
      '2026-04-30T21:59:00Z',
      true,
      true,
      '2026-04-30T22:00:00.000Z',
    ],
  ];

for (const [name, times, labels, now, replace, create, until] of HOURS) {
  test(`a node's hours: ${name}`, () => {
    const found = hours(times, labels, now);
    assert.deepEqual([found.replace, found.create, iso(found.until)], [replace, create, until], found.why);
    assert.equal(found.why === '', replace);
  });
}

test('the next possible replacement is after a freeze, in a window', () => {
  const times = { ...SHOPS, freezes: [{ from: '2026-05-01', to: '2026-05-10', timeZone: 'Asia/Tokyo' }] };
  const own = compileMaintenanceSchedules(times)({ tz: 'Asia.Tokyo' });
  assert.equal(iso(nextReplacementTime(own, Date.parse('2026-05-02T00:00:00Z'))), '2026-05-09T18:00:00.000Z');
  assert.equal(nextReplacementTime(compileMaintenanceSchedules(SHOPS)({}), 0), undefined);
});

test('nodes of one zone share one class', () => {
  const classOf = compileMaintenanceSchedules(SHOPS);
  assert.equal(classOf({ tz: 'UTC' }), classOf({ tz: 'UTC', other: 'x' }));
  assert.notEqual(classOf({ tz: 'UTC' }), classOf({ tz: 'Asia.Tokyo' }));
});

test('a result with an expiry stays the same until then', () => {
  const labels = fc.constantFrom({ tz: 'Europe.Berlin' }, { tz: 'America.New_York' });
  const START = Date.parse('2026-03-01T00:00:00Z');
  const times: MaintenanceScheduleSpec = {
    windows: [
      { schedule: '30 2 * * *', durationSeconds: 5400, timeZoneLabel: 'tz' },
      { schedule: '0 */6 * * 1', durationSeconds: 1800 },
    ],
    freezes: [{ from: '2026-10-20', to: '2026-10-25T02:45', timeZoneLabel: 'tz' }],
  };
  fc.assert(
    fc.property(labels, fc.nat(400 * 24 * 60), fc.nat(1_000), (own, minutes, share) => {
      const now = START + minutes * 60_000;
      const { replace, until = now + 1 } = compileMaintenanceSchedules(times)(own).at(now);
      const between = now + Math.floor(((until - now - 1) * share) / 1_000);
      assert.equal(compileMaintenanceSchedules(times)(own).at(between).replace, replace, iso(between) ?? '');
    }),
    { numRuns: 80 },
  );
});

test('local times match Intl, on days of clock change and on others', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia']) {
    const shown = new Intl.DateTimeFormat('sv-SE', {
      timeZone: name,
      dateStyle: 'short',
      timeStyle: 'medium',
    });
    for (const from of [
      '2026-03-28T00:00:00Z',
      '2026-10-03T00:00:00Z',
      '2011-12-29T00:00:00Z',
      '1969-12-31T12:00:00Z',
    ]) {
      for (let at = Date.parse(from); at < Date.parse(from) + 3 * 86_400_000; at += 1_799_000) {
        const wall = new Date(zoned(name).wallAt(at)).toISOString();
        assert.equal(wall.slice(0, 19).replace('T', ' '), shown.format(at), `${name} ${iso(at)}`);
      }
    }
  }
});
