/** A moment as `4 minutes ago`, with the exact time in the viewer's zone behind it. */
import { useCallback, useState } from 'react';
import { useEvery } from '../api/live-list.js';

const UNITS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const FORMAT = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const TICK_MS = 1_000;

/** `-90_000` → `1 minute ago`. */
export function relativeText(differenceMs: number): string {
  const seconds = Math.round(differenceMs / 1_000);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return FORMAT.format(Math.trunc(seconds / size), unit);
}

/** Renews itself each second while it is on the screen. */
export function TimeText({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now);
  useEvery(
    TICK_MS,
    useCallback(() => setNow(Date.now()), []),
  );
  return (
    <time dateTime={at} title={new Date(at).toLocaleString(undefined, { timeZoneName: 'short' })}>
      {relativeText(Date.parse(at) - now)}
    </time>
  );
}
