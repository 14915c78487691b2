/** When what a policy governs may be replaced, as a calendar: spans of time, alike for all hosts of the same zones. */
import type { MaintenanceSchedule, MaintenanceState } from '../../../shared/calendar/maintenance-schedule.js';
import type { CalendarSpan } from '../../../shared/kube/fleet/change-calendar-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';

/**
 * Of windows that open each minute there are more than a screen can show: what follows is left out. Looks are counted, not
 * spans: windows that overlap are one span, and each look for its end takes some milliseconds.
 */
const MOST_LOOKS = 200;

/** From `from` to `to`, ms since the epoch, without a gap. `undefined` comes after a look that ended no span: a place to let others go on. */
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
