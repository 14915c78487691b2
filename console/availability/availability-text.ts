/** The availability of hosts as text, and as spans of a strip. Pure. */
import type { AvailabilityShare, HostAvailability } from '../../shared/kube/fleet/availability-types.js';
import { countText } from '../../shared/kube/objects/meta.js';

/**
 * Returns for example `99.95%`. It is rounded down: `100%` says that there was no outage at all. Undefined while nothing
 * was observed.
 */
export function shareText({ observedSeconds, readySeconds }: AvailabilityShare): string | undefined {
  if (observedSeconds <= 0) return undefined;
  const percent = (100 * readySeconds) / observedSeconds;
  const steps = percent >= 99 ? 100 : 10;
  return `${Math.floor(percent * steps) / steps}%`;
}

/** A part of a strip. `from` and `to` are fractions of its length, in [0, 1]. */
interface StripSpan {
  from: number;
  to: number;
  state: 'ready' | 'down' | 'flapping' | 'unknown';
}

/** The narrowest span that can be seen on a strip. */
const LEAST = 1 / 400;

/** Returns the spans of the last `lengthMs`, those that cover others at the end. Times before the host are left out. */
export function stripSpans(
  { day, week, outages, unknown }: HostAvailability,
  now: number,
  lengthMs: number,
): StripSpan[] {
  const start = now - lengthMs;
  const place = (time: number) => Math.min(1, Math.max(0, (time - start) / lengthMs));
  const span = (from: number, to: number, state: StripSpan['state']): StripSpan[] => {
    const [first, last] = [place(from), place(to)];
    return first < last
      ? [{ from: Math.min(first, 1 - LEAST), to: Math.max(last, first + LEAST), state }]
      : [];
  };
  const { observedSeconds } = lengthMs > DAY_MS ? week : day;
  const gapsMs = unknown.reduce(
    (sum, { from, to }) =>
      sum + Math.max(0, Math.min(Date.parse(to), now) - Math.max(Date.parse(from), start)),
    0,
  );
  const lives = Math.min(lengthMs, observedSeconds * 1000 + gapsMs);
  return [
    ...span(now - lives, now, 'ready'),
    ...outages.flatMap(({ from, to, downSeconds }) => {
      const end = to === undefined ? now : Date.parse(to);
      const isWhole = downSeconds * 1000 >= (end - Date.parse(from)) * MOSTLY;
      return span(Date.parse(from), end, isWhole ? 'down' : 'flapping');
    }),
    ...unknown.flatMap(({ from, to }) => span(Date.parse(from), Date.parse(to), 'unknown')),
  ];
}

/** A merged outage counts as one if the host was not ready for this share of it. */
const MOSTLY = 0.9;
const DAY_MS = 86_400_000;

/** Returns for example `99.8% ready in the last day, 2 outages`. `lengthMs`: a day or a week. */
export function stripText(availability: HostAvailability, now: number, lengthMs: number): string {
  const isDay = lengthMs <= DAY_MS;
  const share = shareText(isDay ? availability.day : availability.week);
  const during = isDay ? 'in the last day' : 'in the last 7 days';
  if (share === undefined) return `Not observed ${during}`;
  const outages = availability.outages.filter(
    ({ to }) => to === undefined || Date.parse(to) > now - lengthMs,
  ).length;
  return `${share} ready ${during}, ${countText(outages, 'outage')}`;
}

/** Returns for example `2 h 5 min`. */
export function durationText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return `${days} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`;
}
