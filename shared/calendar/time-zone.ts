/** Clocks on the walls of time zones, daylight saving included. Times are ms since the epoch. */
import type { CalendarDay } from './cron-pattern.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Of so many days a zone knows the offset; who looks decades ahead makes it forget. */
const MAX_DAYS = 4_000;

/** One time zone. */
export interface TimeZone {
  name: string;
  /** What its clocks show at `instant`, as the ms since the epoch at which UTC's show it. */
  wallAt(instant: number): number;
  /**
   * When its clocks first show `wall`, which is given as by `wallAt`. Where they skip it: the moment of the skip.
   */
  instantOf(wall: number): number;
  /** As `instantOf`, and when they show it a second time, where they do. */
  instantsOf(wall: number): number[];
}

const ZONES = new Map<string, TimeZone>();

/** What is wrong with a name, in words; [] = nothing. */
export function timeZoneProblems(name: string): string[] {
  return timeZone(name) ? [] : ['is not the name of a time zone that is known here, as Europe/Berlin or UTC'];
}

/** Undefined when there is no such zone. */
export function timeZone(name: string): TimeZone | undefined {
  const known = ZONES.get(name);
  if (known) return known;
  // Offsets are accepted by some versions of Intl and not by others.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    const zone = makeZone(name);
    ZONES.set(name, zone);
    return zone;
  } catch {
    return undefined;
  }
}

/** The zone that a label's value names: `Europe.Berlin`, for a label cannot hold the slash. */
export function timeZoneOfLabel(value: string | undefined): TimeZone | undefined {
  return value === undefined ? undefined : timeZone(value.replaceAll('.', '/'));
}

/** The date that a wall clock shows. */
export function dayOf(wall: number): CalendarDay {
  const date = new Date(wall);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** Midnight on the wall clock, as by `wallAt`. */
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
    // No zone is further from UTC than 14 hours, and none changes its clocks twice within a day.
    const offsets = [wall - DAY_MS, wall + DAY_MS].map((instant) => wallAt(instant) - instant);
    const candidates = [...new Set(offsets)].map((offset) => wall - offset).sort((a, b) => a - b);
    const shown = candidates.filter((instant) => wallAt(instant) === wall);
    return shown.length > 0 ? shown : [skipBetween(candidates[0] ?? wall, candidates.at(-1) ?? wall, wallAt)];
  };
  return { name, wallAt, instantsOf, instantOf: (wall) => instantsOf(wall)[0] ?? wall };
}

/** As `wallAt`, which takes a hundred times as long as an addition: asked only at the ends of days, and in those in which clocks are changed. */
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
    // None changes its clocks twice within a day.
    return offset === offsetAtStart(day + 1) ? instant + offset : wallAt(instant);
  };
}

/** The moment between two instants at which the clocks are put forward; they are on either side of it. */
function skipBetween(before: number, after: number, wallAt: (instant: number) => number): number {
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
