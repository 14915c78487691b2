/** Shows a time as `4 minutes ago` with the exact time as its explanation, or as local time of the host. */
import { useCallback, useState } from 'react';
import { useInterval } from '../../api/live-list.js';
import { currentFormatTag, t } from '../../texts/translate.js';
import { Explained } from '../widgets/explained.js';
import { exactTimeText } from './host-time-zone.js';
import { useHostZone } from './host-times.js';

const UNITS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

const TICK_MS = 1_000;

/** One per language: a table shows hundreds of times, and a format costs more than its use. */
const FORMATS = new Map<string, Intl.RelativeTimeFormat>();

function relativeFormat(tag: string | undefined): Intl.RelativeTimeFormat {
  const known = FORMATS.get(tag ?? '') ?? new Intl.RelativeTimeFormat(tag, { numeric: 'auto' });
  FORMATS.set(tag ?? '', known);
  return known;
}

/** Formats `-90_000` as `1 minute ago`. */
function relativeText(differenceMs: number): string {
  const seconds = Math.round(differenceMs / 1_000);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relativeFormat(currentFormatTag()).format(Math.trunc(seconds / size), unit);
}

export function RelativeTime({ at }: { at: string }) {
  const { zone, inHostZone } = useHostZone();
  return (
    <Explained explanation={<ExactTime at={at} zone={zone} />}>
      <time dateTime={at}>{inHostZone ? exactTimeText(at, zone) : <Age at={at} />}</time>
    </Explained>
  );
}

function ExactTime({ at, zone }: { at: string; zone: string | undefined }) {
  return exactTimeText(at) + (zone ? `; ${t('there {{time}}', { time: exactTimeText(at, zone) })}` : '');
}

/** Updated every second while mounted. */
function Age({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now);
  useInterval(
    TICK_MS,
    useCallback(() => setNow(Date.now()), []),
  );
  return relativeText(Date.parse(at) - now);
}
