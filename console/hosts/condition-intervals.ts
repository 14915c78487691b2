/** Converts condition changes to intervals of constant status. Pure. */
import type { ConditionChange } from '../../shared/kube/fleet/host-reading-types.js';
import type { Condition } from '../../shared/kube/objects/conditions.js';
import type { Span } from '../charts/chart-marks.js';

/** The longest time axis of a chart. */
const LONGEST_MS = 86_400_000;

/** `from` and `to` are fractions of the time span, in [0, 1]. */
interface Stretch {
  from: number;
  to: number;
  status: string;
}

/** The current status. `since` is in milliseconds. */
export interface CurrentStatus {
  status: string;
  since: number;
}

/** Returns the intervals from `start` to `end` (milliseconds). Omits the time before the first known status. */
export function conditionIntervals(
  changes: readonly ConditionChange[],
  present: CurrentStatus,
  start: number,
  end: number,
): Stretch[] {
  const [first] = changes;
  const marks = changes.map(({ time, status }) => ({ at: Date.parse(time), status }));
  if (first?.from !== undefined) marks.unshift({ at: start, status: first.from });
  if (!first) marks.push({ at: present.since, status: present.status });
  const place = (at: number) => Math.min(Math.max((at - start) / (end - start), 0), 1);
  return marks
    .map(({ at, status }, index) => ({ from: place(at), to: place(marks[index + 1]?.at ?? end), status }))
    .filter(({ from, to }) => to > from);
}

/** Returns when the host was not connected in the last day. `connected`: the present condition. `now` in ms. */
export function offlineSpans(
  changes: readonly ConditionChange[],
  connected: Condition | undefined,
  now: number,
): Span[] {
  if (!connected) return [];
  const start = now - LONGEST_MS;
  const ofLink = changes.filter(({ type }) => type === 'Connected');
  const since = Date.parse(connected.lastTransitionTime ?? '') || start;
  const at = (fraction: number) => (start + fraction * LONGEST_MS) / 1000;
  return conditionIntervals(ofLink, { status: connected.status, since }, start, now)
    .filter(({ status }) => status !== 'True')
    .map(({ from, to }) => ({ from: at(from), to: at(to) }));
}
