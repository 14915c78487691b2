/** Changes of a condition as the stretches of time in between. Pure. */
import type { ConditionChange } from '../../shared/kube/fleet/host-reading-types.js';

/** `from` and `to` are parts of the span, in [0, 1]. */
interface Stretch {
  from: number;
  to: number;
  status: string;
}

/** The condition as it is now; `since` in ms. */
export interface CurrentStatus {
  status: string;
  since: number;
}

/** From `start` to `end` (ms), as far as it is known: what was before the first thing that is told is left out. */
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
