/** Dates and times in manifests: an instant with an offset, otherwise local time. */
import type { TimeZone } from './time-zone.js';

/** `wall` is local time in the format of `TimeZone.wallAt`. */
type DateInput = { instant: number } | { wall: number };

const FORM = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Parses `2026-12-18`, `2026-12-18T06:00`, with seconds, `Z` or an offset. Returns undefined for any other text. */
export function parseDateInput(text: string): DateInput | undefined {
  const [, date, time = '00:00', seconds = ':00', offset] = FORM.exec(text) ?? [];
  if (date === undefined) return undefined;
  const wall = Date.parse(`${date}T${time}${seconds}Z`);
  // Date.parse accepts 31 February and returns a day in March.
  if (Number.isNaN(wall) || new Date(Date.parse(`${date}T00:00:00Z`)).toISOString().slice(0, 10) !== date) {
    return undefined;
  }
  if (offset === undefined) return { wall };
  const instant = Date.parse(`${date}T${time}${seconds}${offset}`);
  // An offset of 24 hours or more.
  return Number.isNaN(instant) ? undefined : { instant };
}

/** Returns milliseconds since the epoch. */
export function instantOfDateInput(zone: TimeZone, moment: DateInput): number {
  return 'instant' in moment ? moment.instant : zone.instantOf(moment.wall);
}
