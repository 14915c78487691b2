/** When something happened that is told later: by this boot's own count, by what the coordinator said in that boot, or estimated. */

/** A moment on this host. Times in ms. */
export interface HostMoment {
  /** Marks the boot of the host. */
  boot: string;
  /** Since that boot. */
  uptimeMs: number;
  /** By the wall clock of that moment, which may have been wrong. */
  wallMs: number;
  /** The coordinator's time, where it had been heard in that boot. */
  hubMs?: number;
}

/** A clock that says an earlier time was never set: hosts without a battery begin in 1970. */
const LEAST_PLAUSIBLE_MS = Date.parse('2024-01-01T00:00:00Z');

/** `ms` by the coordinator's clock. */
interface ToldTime {
  ms: number;
  isEstimate: boolean;
}

/**
 * The times of these moments, oldest first, as of `now`, at which the coordinator's time is known. A moment of an earlier boot
 * that never heard the coordinator is estimated: by its wall clock where that fits between what came before it and the
 * present boot, else as late as it can have been, with the distances within its boot kept.
 */
export function reportedTimes(moments: readonly HostMoment[], now: Required<HostMoment>): ToldTime[] {
  const bootedAt = now.hubMs - now.uptimeMs;
  let latest = LEAST_PLAUSIBLE_MS;
  return moments.map((moment, index) => {
    const exact = exactTime(moment, now);
    const told =
      exact === undefined
        ? { ms: estimate(moments, index, latest, bootedAt), isEstimate: true }
        : { ms: Math.min(exact, now.hubMs), isEstimate: false };
    latest = Math.max(latest, told.ms);
    return told;
  });
}

/** When something first happened that last happened at `told`. */
export function firstEventTime(
  first: HostMoment,
  last: HostMoment,
  told: ToldTime,
  now: Required<HostMoment>,
): number {
  const exact = exactTime(first, now);
  const distance = first.boot === last.boot ? last.uptimeMs - first.uptimeMs : 0;
  return Math.min(exact ?? told.ms - distance, told.ms);
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
