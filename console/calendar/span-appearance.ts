/** Spans of a calendar as people read them. Pure. */
import type { CalendarSpan } from '../../shared/kube/fleet/change-calendar-types.js';

/** What a span is drawn as. */
export type SpanKind = 'open' | 'closed' | 'frozen' | 'stopped';

/** What may change in a span, in one word. */
export function spanKindOf({ may, frozen }: CalendarSpan): SpanKind {
  if (may === 'replace') return 'open';
  if (may === 'nothing') return 'stopped';
  return frozen ? 'frozen' : 'closed';
}

/** In words. */
export const SPAN_LABELS: Readonly<Record<SpanKind, string>> = {
  open: 'may change',
  closed: 'window closed',
  frozen: 'frozen: nothing is replaced',
  stopped: 'frozen: nothing is made either',
};

/** Where a span lies between `from` and `to`, in parts of the whole. */
export function spanPosition(span: CalendarSpan, from: string, to: string): { left: number; width: number } {
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  const whole = Math.max(end - begin, 1);
  const [left, right] = [Date.parse(span.from) - begin, Date.parse(span.to) - begin];
  return { left: left / whole, width: (right - left) / whole };
}

/** Midnights of the viewer's days between the two, `from` itself left out. */
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

/** `Mon 23 Nov, 03:00`, on the clocks of that zone; of the viewer's when absent. */
export function wallClockText(at: string, timeZone?: string): string {
  return new Date(at).toLocaleString(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(timeZone ? { timeZone } : {}),
  });
}
