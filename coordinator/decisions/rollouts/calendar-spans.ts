/** A policy's windows and freezes as calendar spans. Hosts with the same maintenance schedule share them. */
import type { MaintenanceSchedule, MaintenanceState } from '../../../shared/calendar/maintenance-schedule.js';
import type { CalendarSpan } from '../../../shared/kube/fleet/change-calendar-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';

/**
 * Limits the steps, because windows that open every minute make more spans than a screen can show. Each step takes a
 * few milliseconds, and overlapping windows need several steps for one span.
 */
const MOST_LOOKS = 200;

/**
 * Yields spans without gaps from `from` to `to`, in ms since the epoch. Yields `undefined` after each step that ended
 * no span, so that the caller can let other work run.
 */
export function* calendarSpans(
  hours: Pick<MaintenanceSchedule, 'at'>,
  from: number,
  to: number,
): Generator<CalendarSpan | undefined> {
  let begun: { at: number; hours: MaintenanceState } | undefined;
  let at = from;
  for (let looks = 0; at < to && looks < MOST_LOOKS; looks += 1) {
    const now = hours.at(at);
    if (begun && !isAlike(begun.hours, now)) {
      yield spanOf(begun.hours, begun.at, at);
      begun = undefined;
    } else yield undefined;
    begun ??= { at, hours: now };
    at = Math.min(now.until ?? to, to);
  }
  if (begun) yield spanOf(begun.hours, begun.at, at);
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
