/** A policy's windows and freezes as calendar spans. Hosts with the same maintenance schedule share them. */
import type { MaintenanceSchedule, MaintenanceState } from '../../../shared/calendar/maintenance-schedule.js';
import type { CalendarSpan } from '../../../shared/kube/fleet/change-calendar-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';

/**
 * Limits the steps, because windows that open every minute make more spans than a screen can show. Each step takes a
 * few milliseconds, and overlapping windows need several steps for one span.
 */
const MAX_STEPS = 200;

/**
 * Yields spans without gaps from `from` to `to`, in ms since the epoch. Yields `undefined` after each step that ended
 * no span, so that the caller can let other work run.
 */
export function* calendarSpans(
  hours: Pick<MaintenanceSchedule, 'at'>,
  from: number,
  to: number,
): Generator<CalendarSpan | undefined> {
  let span: { at: number; hours: MaintenanceState } | undefined;
  let at = from;
  for (let steps = 0; at < to && steps < MAX_STEPS; steps += 1) {
    const now = hours.at(at);
    if (span && !isAlike(span.hours, now)) {
      yield spanOf(span.hours, span.at, at);
      span = undefined;
    } else yield undefined;
    span ??= { at, hours: now };
    at = Math.min(now.until ?? to, to);
  }
  if (span) yield spanOf(span.hours, span.at, at);
}

function spanOf({ replace, create, why, frozen }: MaintenanceState, from: number, to: number): CalendarSpan {
  return {
    from: toTimestamp(from),
    to: toTimestamp(to),
    may: replace ? 'replace' : create ? 'create' : 'nothing',
    ...(frozen ? { frozen } : {}),
    ...(why ? { why } : {}),
  };
}

function isAlike(a: MaintenanceState, b: MaintenanceState): boolean {
  return a.replace === b.replace && a.create === b.create && a.why === b.why;
}
