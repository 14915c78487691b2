/** Converts condition changes to intervals of constant status. Pure. */
import type { ConditionChange } from '../../shared/kube/fleet/host-reading-types.js';

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
