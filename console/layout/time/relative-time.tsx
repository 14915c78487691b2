/** Shows a time as `4 minutes ago` with the exact time as a tooltip, or as local time of the host. */
import { useCallback, useState } from 'react';
import { useInterval } from '../../api/live-list.js';
import { exactTimeText } from './host-time-zone.js';
import { useHostZone } from './host-times.js';

const UNITS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const FORMAT = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const TICK_MS = 1_000;

/** Formats `-90_000` as `1 minute ago`. */
function relativeText(differenceMs: number): string {
  const seconds = Math.round(differenceMs / 1_000);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return FORMAT.format(Math.trunc(seconds / size), unit);
}

/** Updated every second while mounted. */
export function RelativeTime({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now);
  const { zone, inHostZone } = useHostZone();
  useInterval(
    TICK_MS,
    useCallback(() => setNow(Date.now()), []),
  );
  return (
    <time dateTime={at} title={exactTimeText(at) + (zone ? `; there ${exactTimeText(at, zone)}` : '')}>
      {inHostZone ? exactTimeText(at, zone) : relativeText(Date.parse(at) - now)}
    </time>
  );
}
