/** How long a Pod of a DaemonSet takes to stop and start, measured on its present Pods. Estimates use these times. */
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

/** Durations of one replacement, in ms. */
export interface PodTimings {
  /** From the deletion until the old Pod has stopped. */
  stopMs: number;
  /** From when the new Pod could start until it is ready. */
  startMs: number;
  /** False if no Pod could be measured, so that the times are assumed. */
  isMeasured: boolean;
}

/** Used if no Pod could be measured. */
const ASSUMED_START_MS = 10_000;
/** Few programs use their whole grace period. Programs that ignore SIGTERM do. */
const ASSUMED_STOP_MS = 2_000;
/** Sample size. More Pods would hardly change the median. */
const PACE_SAMPLE = 100;

/** Stored times are whole seconds, so a measured 0 means half a second on average. */
const LEAST_MS = 500;

function startTimeOf({ metadata, status }: Pod): number | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  const restarts = (status?.containerStatuses ?? []).some(({ restartCount }) => restartCount > 0);
  if (ready?.status !== 'True' || !ready.lastTransitionTime || restarts) return undefined;
  // A host that replaces its Pod itself creates the new one before the old one has stopped. Do not count that stop.
  const startedAt = Date.parse(status?.startTime ?? '') || 0;
  const madeAt = Date.parse(metadata.creationTimestamp ?? '');
  return Date.parse(ready.lastTransitionTime) - Math.max(madeAt, startedAt);
}

/** Returns the median of at most `PACE_SAMPLE` Pods that never restarted. */
export function measurePodTimings(pods: Iterable<Pod>): PodTimings {
  const times: number[] = [];
  for (const pod of pods) {
    const time = startTimeOf(pod);
    if (time !== undefined && time >= 0) times.push(time);
    if (times.length === PACE_SAMPLE) break;
  }
  times.sort((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  return {
    stopMs: ASSUMED_STOP_MS,
    startMs: middle === undefined ? ASSUMED_START_MS : Math.max(LEAST_MS, middle),
    isMeasured: middle !== undefined,
  };
}
