/** A policy's windows and freezes as spans of time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calendarSpans } from '../../../coordinator/decisions/rollouts/calendar-spans.js';
import {
  compileMaintenanceSchedules,
  type MaintenanceSchedule,
  type MaintenanceScheduleSpec,
} from '../../../shared/calendar/maintenance-schedule.js';

const at = (text: string) => Date.parse(text);
const found = (own: MaintenanceSchedule, from: string, to: string) =>
  [...calendarSpans(own, at(from), at(to))].filter((span) => span !== undefined);
const spans = (
  times: MaintenanceScheduleSpec,
  from: string,
  to: string,
  labels: Record<string, string> = {},
) =>
  found(compileMaintenanceSchedules(times)(labels), from, to).map(
    (span) => `${span.from.slice(5, 16)} ${span.to.slice(5, 16)} ${span.may}${span.frozen ? ' frozen' : ''}`,
  );
const NIGHTLY = { schedule: '0 3 * * *', durationSeconds: 7200, timeZoneLabel: 'tz', timeZone: 'UTC' };

test('without windows and freezes the calendar is one open span', () => {
  assert.deepEqual(spans({}, '2026-11-22T00:00:00Z', '2026-11-24T00:00:00Z'), [
    '11-22T00:00 11-24T00:00 replace',
  ]);
});

test("a window opens and closes by the host's local time", () => {
  const windows = [NIGHTLY];
  assert.deepEqual(spans({ windows }, '2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z'), [
    '11-22T00:00 11-22T03:00 create',
    '11-22T03:00 11-22T05:00 replace',
    '11-22T05:00 11-23T00:00 create',
  ]);
  assert.deepEqual(
    spans({ windows }, '2026-11-22T00:00:00Z', '2026-11-22T05:00:00Z', { tz: 'Europe.Berlin' }),
    ['11-22T00:00 11-22T02:00 create', '11-22T02:00 11-22T04:00 replace', '11-22T04:00 11-22T05:00 create'],
  );
});

test('a freeze overrides a window and is named; a freeze of all time leaves no window', () => {
  const freezes = [{ from: '2026-11-22T04:00', to: '2026-11-22T06:00', reason: 'sales' }];
  assert.deepEqual(spans({ windows: [NIGHTLY], freezes }, '2026-11-22T03:00:00Z', '2026-11-22T07:00:00Z'), [
    '11-22T03:00 11-22T04:00 replace',
    '11-22T04:00 11-22T06:00 create frozen',
    '11-22T06:00 11-22T07:00 create',
  ]);
  const [whole] = freezes.map((freeze) => ({ ...freeze, scope: 'Everything' as const }));
  assert.ok(whole);
  assert.deepEqual(spans({ freezes: [whole] }, '2026-11-22T05:00:00Z', '2026-11-22T07:00:00Z'), [
    '11-22T05:00 11-22T06:00 nothing frozen',
    '11-22T06:00 11-22T07:00 replace',
  ]);
});

test('the hour that repeats in autumn lengthens the night of the change, not the window', () => {
  const windows = [{ schedule: '0 2 * * *', durationSeconds: 7200, timeZone: 'Europe/Berlin' }];
  assert.deepEqual(spans({ windows }, '2026-10-24T22:00:00Z', '2026-10-25T06:00:00Z'), [
    '10-24T22:00 10-25T00:00 create',
    '10-25T00:00 10-25T02:00 replace',
    '10-25T02:00 10-25T06:00 create',
  ]);
});

test('spans follow each other without a gap, and there are no more than a screen can show', () => {
  const windows = [{ schedule: '*/7 * * * *', durationSeconds: 60 }];
  const own = compileMaintenanceSchedules({ windows })({});
  const week = found(own, '2026-11-22T00:00:00Z', '2026-11-29T00:00:00Z');
  assert.ok(week.length > 100 && week.length <= 201, String(week.length));
  for (const [index, span] of week.entries()) {
    if (index > 0) assert.equal(span.from, week[index - 1]?.to);
  }
});

test('windows that overlap without end become one span that is cut off, yielding to other work meanwhile', () => {
  const own = compileMaintenanceSchedules({ windows: [{ schedule: '* * * * *', durationSeconds: 120 }] })({});
  let looks = 0;
  const counted = {
    at: (now: number) => {
      looks += 1;
      return own.at(now);
    },
  };
  const all = [...calendarSpans(counted, at('2026-11-22T00:00:00Z'), at('2026-12-22T00:00:00Z'))];
  assert.ok(looks <= 200, String(looks));
  assert.equal(all.length, looks + 1);
  assert.deepEqual(
    all.filter((span) => span !== undefined).map(({ may }) => may),
    ['replace'],
  );
});
