/**
 * Times of Events that are reported later: by this boot's uptime, by the coordinator's time in that boot, or estimated.
 */

/** A moment on this host. Times in ms. */
export interface HostMoment {
  /** Identifies the boot of the host. */
  boot: string;
  /** Time since that boot. */
  uptimeMs: number;
  /** The wall clock at that moment, which may have been wrong. */
  wallMs: number;
  /** The coordinator's time, if it was known in that boot. */
  hubMs?: number;
}

/** A clock with an earlier time was never set: hosts without a battery start in 1970. */
const MIN_PLAUSIBLE_MS = Date.parse('2024-01-01T00:00:00Z');

/** `ms` by the coordinator's clock. */
interface ReportedTime {
  ms: number;
  isEstimate: boolean;
}

/**
 * Returns the times of these moments, oldest first. `now` contains the coordinator's time. A moment of an earlier boot
 * without that time is estimated: by its wall clock if that lies between the previous moment and the current boot.
 * Otherwise it is set as late as possible, with the distances within its boot preserved.
 */
export function reportedTimes(moments: readonly HostMoment[], now: Required<HostMoment>): ReportedTime[] {
  const bootedAt = now.hubMs - now.uptimeMs;
  let latest = MIN_PLAUSIBLE_MS;
  return moments.map((moment, index) => {
    const exact = exactTime(moment, now);
    const last =
      exact === undefined
        ? { ms: estimate(moments, index, latest, bootedAt), isEstimate: true }
        : { ms: Math.min(exact, now.hubMs), isEstimate: false };
    latest = Math.max(latest, last.ms);
    return last;
  });
}

/** Returns when an Event first happened whose last occurrence was reported at `lastTime`. */
export function firstEventTime(
  first: HostMoment,
  last: HostMoment,
  lastTime: ReportedTime,
  now: Required<HostMoment>,
): number {
  const exact = exactTime(first, now);
  const distance = first.boot === last.boot ? last.uptimeMs - first.uptimeMs : 0;
  return Math.min(exact ?? lastTime.ms - distance, lastTime.ms);
}

function exactTime({ boot, uptimeMs, hubMs }: HostMoment, now: Required<HostMoment>): number | undefined {
  return boot === now.boot ? now.hubMs - (now.uptimeMs - uptimeMs) : hubMs;
}

function estimate(moments: readonly HostMoment[], index: number, after: number, before: number): number {
  const moment = moments[index];
  if (!moment) return before;
  if (moment.wallMs >= after && moment.wallMs <= before) return moment.wallMs;
  const sameBoot = moments.filter(({ boot }) => boot === moment.boot);
  const lastUptime = Math.max(...sameBoot.map(({ uptimeMs }) => uptimeMs));
  return Math.min(Math.max(before - (lastUptime - moment.uptimeMs), after), before);
}
