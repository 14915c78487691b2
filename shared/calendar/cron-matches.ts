/** Finds the previous and next match of a cron pattern in a time zone. Times are milliseconds since the epoch. */
import type { CronPattern } from './cron-pattern.js';
import { dayOf, midnightOf, type TimeZone } from './time-zone.js';

const DAY_MS = 86_400_000;
/** Larger than any clock change. Local times further apart are in the order of their instants. */
const MAX_CHANGE_MS = 3 * 3_600_000;
/** Search limit. 29 February on a given weekday recurs after 28 years; no other pattern needs longer. */
const HORIZON_DAYS = 28 * 366;

/**
 * Returns the instants of one local time. A local time that clocks skip matches at the moment of the skip. A local time
 * that occurs twice matches once, except for an hourly pattern: it matches both times, and never at skipped times.
 */
function matchesAt(pattern: CronPattern, zone: TimeZone, wall: number): number[] {
  const instants = zone.instantsOf(wall);
  if (!pattern.everyHour) return instants.slice(0, 1);
  return instants.filter((instant) => zone.wallAt(instant) === wall);
}

/** Returns the matches on the day that starts at `midnight`, ascending. All arguments and results are local times. */
function wallsOf(pattern: CronPattern, midnight: number, from: number, to: number): number[] {
  if (!pattern.matchesDay(dayOf(midnight))) return [];
  return pattern.times.map((seconds) => midnight + seconds * 1000).filter((at) => at >= from && at <= to);
}

/** Returns the last match at or before `now`, or undefined if it is more than `lookBackMs` ago. */
export function lastMatch(
  pattern: CronPattern,
  zone: TimeZone,
  now: number,
  lookBackMs: number,
): number | undefined {
  const wall = zone.wallAt(now);
  const [from, to] = [wall - lookBackMs - MAX_CHANGE_MS, wall + MAX_CHANGE_MS];
  for (let midnight = midnightOf(to); midnight > from - DAY_MS; midnight -= DAY_MS) {
    for (const at of wallsOf(pattern, midnight, from, to).reverse()) {
      const found = matchesAt(pattern, zone, at).findLast((instant) => instant <= now);
      if (found !== undefined) return found >= now - lookBackMs ? found : undefined;
    }
  }
  return undefined;
}

/** Returns true if the pattern matches more than `limit` times after `since` and up to `now`. */
export function matchesMoreThan(
  limit: number,
  pattern: CronPattern,
  zone: TimeZone,
  since: number,
  now: number,
): boolean {
  const [from, to] = [zone.wallAt(since) - MAX_CHANGE_MS, zone.wallAt(now) + MAX_CHANGE_MS];
  let count = 0;
  for (let midnight = midnightOf(from); midnight <= to; midnight += DAY_MS) {
    for (const at of wallsOf(pattern, midnight, from, to)) {
      count += matchesAt(pattern, zone, at).filter((instant) => instant > since && instant <= now).length;
      if (count > limit) return true;
    }
  }
  return false;
}

/** Returns the first match after `now`, or undefined if the pattern never matches. */
export function nextMatch(pattern: CronPattern, zone: TimeZone, now: number): number | undefined {
  const from = zone.wallAt(now) - MAX_CHANGE_MS;
  const first = midnightOf(from);
  for (let midnight = first; midnight <= first + HORIZON_DAYS * DAY_MS; midnight += DAY_MS) {
    let next: number | undefined;
    for (const at of wallsOf(pattern, midnight, from, Number.POSITIVE_INFINITY)) {
      // When clocks are set back, a later local time can be an earlier instant.
      if (next !== undefined && at > zone.wallAt(next) + MAX_CHANGE_MS) break;
      const [instant] = matchesAt(pattern, zone, at).filter((one) => one > now);
      if (instant !== undefined && (next === undefined || instant < next)) next = instant;
    }
    if (next !== undefined) return next;
  }
  return undefined;
}
