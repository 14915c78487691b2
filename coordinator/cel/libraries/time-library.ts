/** Accessors of timestamps and durations. Without a time zone they use UTC. */
import { CelError } from '../language/cel-error.js';
import type { CelDuration, CelTimestamp } from '../language/cel-value.js';
import { type Overload, overload } from '../language/overload.js';
import { floorDivide } from './time-text.js';

/** The fields of a date in a time zone. */
interface DateFields {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

function fieldsIn(timestamp: CelTimestamp, zone: string): DateFields {
  const ms = Number(floorDivide(timestamp.nanos, 1_000_000n)) + offsetMs(timestamp, zone);
  const date = new Date(ms);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

/** Returns the offset of a zone: `+02:00`, or a name of the time zone database. */
function offsetMs(timestamp: CelTimestamp, zone: string): number {
  if (zone === '' || zone === 'UTC') return 0;
  const [, sign, hours, minutes] = /^([+-]?)(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (hours !== undefined) return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  const ms = Number(floorDivide(timestamp.nanos, 1_000_000_000n)) * 1000;
  return Date.parse(`${localText(ms, zone)}Z`) - ms;
}

function localText(ms: number, zone: string): string {
  return formatOf(zone).format(ms).replace(' ', 'T');
}

/** Making a format takes far longer than using it. Expressions decide the zones, so only some are kept. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 16;

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone) ?? newFormat(zone);
  if (!formats.has(zone) && formats.size >= MAX_FORMATS) formats.clear();
  formats.set(zone, known);
  return known;
}

function newFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  } catch {
    throw new CelError(`unknown time zone ${timeZone}`);
  }
}

function dayOfYear({ year, month, day }: DateFields): number {
  return Math.round((Date.UTC(year, month, day) - Date.UTC(year, 0, 1)) / 86_400_000);
}

const ACCESSORS: Readonly<Record<string, (fields: DateFields) => number>> = {
  getFullYear: ({ year }) => year,
  getMonth: ({ month }) => month,
  getDate: ({ day }) => day,
  getDayOfMonth: ({ day }) => day - 1,
  getDayOfWeek: ({ year, month, day }) => new Date(Date.UTC(year, month, day)).getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: ({ hour }) => hour,
  getMinutes: ({ minute }) => minute,
  getSeconds: ({ second }) => second,
};

function milliseconds(nanos: bigint): bigint {
  return floorDivide(nanos, 1_000_000n) - floorDivide(nanos, 1_000_000_000n) * 1000n;
}

const DURATION_UNITS: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
};

export const TIMES: readonly Overload[] = [
  ...Object.entries(ACCESSORS).flatMap(([name, read]) => [
    overload(`timestamp.${name}(): int`, ([time]) => BigInt(read(fieldsIn(time as CelTimestamp, '')))),
    overload(`timestamp.${name}(string): int`, ([time, zone]) =>
      BigInt(read(fieldsIn(time as CelTimestamp, zone as string))),
    ),
  ]),
  overload('timestamp.getMilliseconds(): int', ([time]) => milliseconds((time as CelTimestamp).nanos)),
  overload('timestamp.getMilliseconds(string): int', ([time]) => milliseconds((time as CelTimestamp).nanos)),
  ...Object.entries(DURATION_UNITS).map(([name, unit]) =>
    overload(`duration.${name}(): int`, ([duration]) => (duration as CelDuration).nanos / unit),
  ),
  overload(
    'duration.getMilliseconds(): int',
    ([duration]) => ((duration as CelDuration).nanos % 1_000_000_000n) / 1_000_000n,
  ),
];
