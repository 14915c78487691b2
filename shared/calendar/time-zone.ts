/** Time zones with daylight saving time. Times are milliseconds since the epoch. */
import type { CalendarDay } from './cron-pattern.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Maximum number of cached daily offsets for each zone. The cache is cleared when it is full. */
const MAX_DAYS = 4_000;

export interface TimeZone {
  name: string;
  /** Returns the local time at `instant`, encoded as the instant at which UTC clocks show the same. */
  wallAt(instant: number): number;
  /** Returns the first instant of local time `wall` (format of `wallAt`). Skipped time: the moment of the skip. */
  instantOf(wall: number): number;
  /** Like `instantOf`, but returns both instants of a local time that occurs twice. */
  instantsOf(wall: number): number[];
}

const ZONES = new Map<string, TimeZone>();

/** Returns what is wrong with the name, or an empty list. */
export function timeZoneProblems(name: string): string[] {
  return timeZone(name) ? [] : ['is not a known time zone; use an IANA name such as Europe/Berlin or UTC'];
}

/** Returns undefined for an unknown zone. */
export function timeZone(name: string): TimeZone | undefined {
  const known = ZONES.get(name);
  if (known) return known;
  // Reject offsets such as `+01:00`: only some versions of Intl accept them.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    const zone = makeZone(name);
    ZONES.set(name, zone);
    return zone;
  } catch {
    return undefined;
  }
}

/** Returns the zone that a label's value names, such as `Europe.Berlin`. Label values cannot contain a slash. */
export function timeZoneOfLabel(value: string | undefined): TimeZone | undefined {
  return value === undefined ? undefined : timeZone(value.replaceAll('.', '/'));
}

/**
 * Returns the latest local time that clocks of the zone have shown up to `instant`. It never goes back: while clocks that
 * were set back show an hour again, it is the end of that hour.
 */
export function latestWallAt({ wallAt, instantsOf }: TimeZone, instant: number): number {
  const wall = wallAt(instant);
  const [first = instant] = instantsOf(wall);
  return first < instant ? wallAt(changeBetween(first, instant, wallAt) - 1) : wall;
}

/** Returns the date of a local time. */
export function dayOf(wall: number): CalendarDay {
  const date = new Date(wall);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** Returns the midnight before a local time, also as a local time. */
export function midnightOf(wall: number): number {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

function makeZone(name: string): TimeZone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const shownAt = (instant: number): number => {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const millisecond = ((instant % 1000) + 1000) % 1000;
    return Date.UTC(year, month - 1, day, hour, minute, second) + millisecond;
  };
  const wallAt = rememberingDays(shownAt);
  const instantsOf = (wall: number): number[] => {
    // No zone is more than 14 hours from UTC, and no zone changes its clocks twice within a day.
    const offsets = [wall - DAY_MS, wall + DAY_MS].map((instant) => wallAt(instant) - instant);
    const candidates = [...new Set(offsets)].map((offset) => wall - offset).sort((a, b) => a - b);
    const shown = candidates.filter((instant) => wallAt(instant) === wall);
    return shown.length > 0
      ? shown
      : [changeBetween(candidates[0] ?? wall, candidates.at(-1) ?? wall, wallAt)];
  };
  return { name, wallAt, instantsOf, instantOf: (wall) => instantsOf(wall)[0] ?? wall };
}

/** Caches offsets of days without a clock change: Intl is 100 times slower than an addition. */
function rememberingDays(wallAt: (instant: number) => number): (instant: number) => number {
  const starts = new Map<number, number>();
  const offsetAtStart = (day: number): number => {
    const known = starts.get(day);
    if (known !== undefined) return known;
    if (starts.size >= MAX_DAYS) starts.clear();
    const offset = wallAt(day * DAY_MS) - day * DAY_MS;
    starts.set(day, offset);
    return offset;
  };
  return (instant) => {
    const day = Math.floor(instant / DAY_MS);
    const offset = offsetAtStart(day);
    // The offset is constant within this day: no zone changes its clocks twice within a day.
    return offset === offsetAtStart(day + 1) ? instant + offset : wallAt(instant);
  };
}

/** Returns the instant at which clocks are changed. `before` and `after` are on either side of it. */
function changeBetween(before: number, after: number, wallAt: (instant: number) => number): number {
  const offset = wallAt(before) - before;
  let low = Math.floor(before / MINUTE_MS) * MINUTE_MS;
  let high = Math.ceil(after / MINUTE_MS) * MINUTE_MS;
  while (high - low > MINUTE_MS) {
    const middle = Math.floor((low + high) / 2 / MINUTE_MS) * MINUTE_MS;
    if (wallAt(middle) - middle === offset) low = middle;
    else high = middle;
  }
  return high;
}
