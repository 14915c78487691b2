/** How long a Pod of a DaemonSet takes, as its present Pods show: what estimates are made of. */
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

/** Times of one replacement, ms. */
export interface PodTimings {
  /** From the order to stop until the old Pod is gone. */
  stopMs: number;
  /** From when the new Pod could begin until it is ready. */
  startMs: number;
  /** Whether Pods have shown it, or nothing is known yet. */
  isMeasured: boolean;
}

/** Where no Pod has shown how long it takes. */
const ASSUMED_START_MS = 10_000;
/** Few programs use their whole grace; those that ignore SIGTERM do. */
const ASSUMED_STOP_MS = 2_000;
/** Beyond so many Pods the median does not move any more. */
const PACE_SAMPLE = 100;

/** Stored times are whole seconds, so what they show is at least half of one. */
const LEAST_MS = 500;

function startTimeOf({ metadata, status }: Pod): number | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  const restarts = (status?.containerStatuses ?? []).some(({ restartCount }) => restartCount > 0);
  if (ready?.status !== 'True' || !ready.lastTransitionTime || restarts) return undefined;
  // One that its host made beside the Pod before it could begin only when that had ended, which is the stop's time.
  const startedAt = Date.parse(status?.startTime ?? '') || 0;
  const madeAt = Date.parse(metadata.creationTimestamp ?? '');
  return Date.parse(ready.lastTransitionTime) - Math.max(madeAt, startedAt);
}

/** The median over Pods that came up at once, of at most `PACE_SAMPLE`. */
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
