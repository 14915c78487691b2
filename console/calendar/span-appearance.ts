/** Display of calendar spans. Pure. */
import type { CalendarSpan } from '../../shared/kube/fleet/change-calendar-types.js';
import { currentFormatTag } from '../texts/translate.js';

/** The kinds of spans, by colour. */
export type SpanKind = 'open' | 'closed' | 'frozen' | 'stopped';

export function spanKindOf({ may, frozen }: CalendarSpan): SpanKind {
  if (may === 'replace') return 'open';
  if (may === 'nothing') return 'stopped';
  return frozen ? 'frozen' : 'closed';
}

export const SPAN_LABELS: Readonly<Record<SpanKind, string>> = {
  open: 'may change',
  closed: 'window closed',
  frozen: 'frozen: no Pod is replaced',
  stopped: 'frozen: no Pod is replaced or created',
};

/** Returns position and width of the span between `from` and `to`, as fractions. */
export function spanPosition(span: CalendarSpan, from: string, to: string): { left: number; width: number } {
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  const whole = Math.max(end - begin, 1);
  const [left, right] = [Date.parse(span.from) - begin, Date.parse(span.to) - begin];
  return { left: left / whole, width: (right - left) / whole };
}

/** Returns the midnights between the two times in the viewer's time zone. `from` is excluded. */
export function midnightsBetween(from: string, to: string): Date[] {
  const midnights: Date[] = [];
  const day = new Date(from);
  day.setHours(0, 0, 0, 0);
  for (;;) {
    day.setDate(day.getDate() + 1);
    if (day.getTime() >= Date.parse(to)) return midnights;
    midnights.push(new Date(day));
  }
}

/** Formats `Mon 23 Nov, 03:00` in the given time zone, or in the viewer's. */
export function wallClockText(at: string, timeZone?: string): string {
  return new Date(at).toLocaleString(currentFormatTag(), {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(timeZone ? { timeZone } : {}),
  });
}
