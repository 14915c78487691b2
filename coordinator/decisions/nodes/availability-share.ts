/**
 * The share of time in which hosts were Ready. Time in which no coordinator ran is unknown: hosts keep running then, so
 * it counts neither as Ready nor as an outage. Times are in seconds since the epoch.
 */
import type { AvailabilityShare } from '../../../shared/kube/fleet/availability-types.js';
import type { Outage } from './outage-history.js';

/** Members and leaders that change all day long must not let the list of gaps grow. */
export const MAX_GAPS = 40;

/** A time in which no coordinator observed the hosts. */
export interface ObservationGap {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the gaps with one more, without those that ended before `since`. Gaps that overlap are merged, otherwise their
 * common time would be subtracted twice. The closest two are merged above the limit.
 */
export function withGap(
  gaps: readonly ObservationGap[],
  gap: ObservationGap,
  since: number,
): ObservationGap[] {
  const recent = [...gaps, gap].filter(({ from, to }) => to > from && to > since);
  const kept: ObservationGap[] = [];
  for (const { from, to } of recent.sort((a, b) => a.from - b.from)) {
    const last = kept.at(-1);
    if (last && from <= last.to) kept[kept.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else kept.push({ from, to });
  }
  while (kept.length > MAX_GAPS) {
    const spaces = kept.map(({ from }, index) => from - (kept[index - 1]?.to ?? Number.NEGATIVE_INFINITY));
    const at = spaces.indexOf(Math.min(...spaces)) - 1;
    const [first, second] = kept.slice(at, at + 2);
    if (!first || !second) break;
    kept.splice(at, 2, { from: first.from, to: Math.max(first.to, second.to) });
  }
  return kept;
}

/**
 * Returns the gaps, those that end after `now` only until then. A coordinator that started with its clock ahead stored such
 * a gap: until its end no time would count as observed. A gap that begins later is kept: the clock may be behind, and is
 * set right soon.
 */
export function gapsUntil(gaps: readonly ObservationGap[], now: number): ObservationGap[] {
  return gaps.map(({ from, to }) => ({ from, to: from <= now ? Math.min(to, now) : to }));
}

interface HostHistory {
  /** When the host was added. */
  readonly begin: number;
  /** Oldest first, with the present outage. */
  readonly outages: readonly Outage[];
}

/** Returns the share from `since` to `now`. */
export function shareOf(
  { begin, outages }: HostHistory,
  gaps: readonly ObservationGap[],
  since: number,
  now: number,
): AvailabilityShare {
  const start = Math.max(since, begin);
  if (start >= now) return NOTHING;
  const observed = now - start - overlapWith(gaps, start, now);
  const down = outages.reduce((sum, outage) => sum + downWithin(outage, gaps, start, now), 0);
  return { observedSeconds: observed, readySeconds: Math.max(0, Math.round(observed - down)) };
}

export const NOTHING: AvailabilityShare = { observedSeconds: 0, readySeconds: 0 };

export function sumOfShares(a: AvailabilityShare, b: AvailabilityShare): AvailabilityShare {
  return {
    observedSeconds: a.observedSeconds + b.observedSeconds,
    readySeconds: a.readySeconds + b.readySeconds,
  };
}

/** Seconds of an outage in the time span that were observed. A merged outage counts in proportion. */
function downWithin(
  { from, to, down }: Outage,
  gaps: readonly ObservationGap[],
  start: number,
  end: number,
): number {
  const [first, last] = [Math.max(from, start), Math.min(to, end)];
  if (first >= last) return 0;
  return ((last - first - overlapWith(gaps, first, last)) * down) / (to - from);
}

function overlapWith(gaps: readonly ObservationGap[], start: number, end: number): number {
  return gaps.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, end) - Math.max(from, start)), 0);
}
