/** When a cron pattern matches in a time zone: the last time and the next. Times are ms since the epoch. */
import type { CronPattern } from './cron-pattern.js';
import { dayOf, midnightOf, type TimeZone } from './time-zone.js';

const DAY_MS = 86_400_000;
/** Clocks are not changed by more: what lies further ahead on the wall is ahead. */
const MAX_CHANGE_MS = 3 * 3_600_000;
/** A pattern that does not match within so many days never does: a 29th of February on a certain weekday takes 28 years. */
const HORIZON_DAYS = 28 * 366;

/**
 * A time that the clocks skip matches at the skip. One that they show twice matches at the first, save for a pattern of
 * every hour, which matches at both and has no need of skipped ones.
 */
function matchesAt(pattern: CronPattern, zone: TimeZone, wall: number): number[] {
  const instants = zone.instantsOf(wall);
  if (!pattern.everyHour) return instants.slice(0, 1);
  return instants.filter((instant) => zone.wallAt(instant) === wall);
}

/** Of the day that begins at `midnight` on the wall, those times that `from` and `to`, on the wall, leave, in order. */
function wallsOf(pattern: CronPattern, midnight: number, from: number, to: number): number[] {
  if (!pattern.matchesDay(dayOf(midnight))) return [];
  return pattern.times.map((seconds) => midnight + seconds * 1000).filter((at) => at >= from && at <= to);
}

/** The last match at or before `now`, if that is at most `lookBackMs` ago. */
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

/** The first match after `now`; undefined for a pattern that never matches. */
export function nextMatch(pattern: CronPattern, zone: TimeZone, now: number): number | undefined {
  const from = zone.wallAt(now) - MAX_CHANGE_MS;
  const first = midnightOf(from);
  for (let midnight = first; midnight <= first + HORIZON_DAYS * DAY_MS; midnight += DAY_MS) {
    let next: number | undefined;
    for (const at of wallsOf(pattern, midnight, from, Number.POSITIVE_INFINITY)) {
      // Clocks that are set back bring a later time of the wall before an earlier one.
      if (next !== undefined && at > zone.wallAt(next) + MAX_CHANGE_MS) break;
      const [instant] = matchesAt(pattern, zone, at).filter((one) => one > now);
      if (instant !== undefined && (next === undefined || instant < next)) next = instant;
    }
    if (next !== undefined) return next;
  }
  return undefined;
}
