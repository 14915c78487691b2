/**
 * The times of a CronDaemonJob's schedule. With a named time zone a time is an instant. Without one it is a local time,
 * which hosts reach one after the other, in the format of `TimeZone.wallAt`. All values are in ms.
 */
import { lastMatch, nextMatch } from '../../../shared/calendar/cron-matches.js';
import type { CronPattern } from '../../../shared/calendar/cron-pattern.js';
import { parseSchedule, scheduleProblems } from '../../../shared/calendar/job-schedule.js';
import { latestWallAt, type TimeZone, timeZone } from '../../../shared/calendar/time-zone.js';
import type { CronDaemonJobSpec } from '../../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';

export interface CronTimeline {
  /**
   * The present time of the host that is first in the day, and of the host that is last. They never go back while hosts
   * set their clocks back. Otherwise a run that has started would be the next one again.
   */
  first: number;
  last: number;
  /** Returns the first time of the schedule after `time` at which a host starts, or undefined if there is none. */
  nextAfter(time: number): number | undefined;
  /** Returns the last time of the schedule up to `time` and after `since`, or undefined if there is none. */
  lastUntil(time: number, since: number): number | undefined;
  /** Returns the text of `startAt`. */
  textOf(time: number): string;
  /** Returns the instant at which the first host reaches the time, and the reverse. */
  instantOf(time: number): number;
  timeAt(instant: number): number;
}

/** `message`: why the schedule cannot be followed. */
type Timeline =
  | { kind: 'timeline'; timeline: CronTimeline }
  | { kind: 'invalid'; reason: string; message: string };

/** `zones`: those of all hosts. */
export function cronTimeline(spec: CronDaemonJobSpec, zones: readonly TimeZone[], now: number): Timeline {
  const named = timeZone(spec.timeZone ?? 'UTC');
  if (!named) {
    const message = `invalid timeZone: ${JSON.stringify(spec.timeZone)}: unknown time zone ${spec.timeZone}`;
    return { kind: 'invalid', reason: 'UnknownTimeZone', message };
  }
  const [problem] = scheduleProblems(spec.schedule);
  if (problem) {
    const message = `unparseable schedule: ${JSON.stringify(spec.schedule)} : ${problem}`;
    return { kind: 'invalid', reason: 'UnparseableSchedule', message };
  }
  const pattern = parseSchedule(spec.schedule);
  if (spec.timeZone !== undefined) return { kind: 'timeline', timeline: instants(pattern, named, now) };
  return { kind: 'timeline', timeline: localTimes(pattern, named, zones.length > 0 ? zones : [named], now) };
}

function matches(pattern: CronPattern, zone: TimeZone): Pick<CronTimeline, 'nextAfter' | 'lastUntil'> {
  return {
    nextAfter: (time) => nextMatch(pattern, zone, time),
    lastUntil: (time, since) => {
      const found = lastMatch(pattern, zone, time, Math.max(0, time - since));
      return found !== undefined && found > since ? found : undefined;
    },
  };
}

function instants(pattern: CronPattern, zone: TimeZone, now: number): CronTimeline {
  return {
    ...{ first: now, last: now, ...matches(pattern, zone) },
    textOf: toTimestamp,
    instantOf: (time) => time,
    timeAt: (instant) => instant,
  };
}

/** Clock changes are not part of local times: each host maps them to its own instants. */
function localTimes(
  pattern: CronPattern,
  utc: TimeZone,
  zones: readonly TimeZone[],
  now: number,
): CronTimeline {
  const walls = (instant: number) => zones.map((zone) => latestWallAt(zone, instant));
  const { nextAfter, lastUntil } = matches(pattern, utc);
  return {
    first: Math.max(...walls(now)),
    last: Math.min(...walls(now)),
    lastUntil,
    nextAfter: (time) => {
      let next = nextAfter(time);
      for (;;) {
        const following = next === undefined ? undefined : nextAfter(next);
        if (next === undefined || following === undefined || !isSkipped(zones, next, following)) return next;
        next = following;
      }
    },
    textOf: (time) => toTimestamp(time).replace('Z', ''),
    instantOf: (time) => Math.min(...zones.map((zone) => zone.instantOf(time))),
    timeAt: (instant) => Math.max(...walls(instant)),
  };
}

/**
 * True if clocks are put forward over the time on all hosts, and the following run starts at the same moment. A DaemonJob
 * for this time has no hosts: it would end and be deleted before the time, and be created again in a loop.
 */
function isSkipped(zones: readonly TimeZone[], time: number, following: number): boolean {
  return zones.every((zone) => zone.instantOf(following) <= zone.instantOf(time));
}
