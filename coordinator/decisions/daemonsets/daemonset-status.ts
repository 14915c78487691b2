/** The counts in DaemonSet.status (pkg/controller/daemon storeDaemonSetStatus). */
import type { DaemonSetStatus } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { daemonSetConditions } from '../rollouts/rollout-conditions.js';
import type { StatusShare } from './node-record.js';

export type StatusCounts = Record<keyof StatusShare, number>;

/**
 * Returns a status with these counts and the conditions of the rollout. Collisions and other conditions are kept.
 */
export function daemonSetStatus(
  counts: StatusCounts,
  observedGeneration: number,
  previous: DaemonSetStatus | undefined,
  rollout?: Parameters<typeof daemonSetConditions>[1],
): DaemonSetStatus {
  const conditions = daemonSetConditions(previous?.conditions, rollout);
  const unavailable = counts.desired - counts.available;
  return {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
    ...(observedGeneration === 0 ? {} : { observedGeneration }),
    ...(counts.updated === 0 ? {} : { updatedNumberScheduled: counts.updated }),
    ...(counts.available === 0 ? {} : { numberAvailable: counts.available }),
    ...(unavailable === 0 ? {} : { numberUnavailable: unavailable }),
    ...(previous?.collisionCount === undefined ? {} : { collisionCount: previous.collisionCount }),
    ...(conditions ? { conditions } : {}),
  };
}

/** Compares the counts and conditions of two statuses. An absent count equals 0. */
export function isSameStatus(a: DaemonSetStatus | undefined, b: DaemonSetStatus): boolean {
  return (
    a !== undefined &&
    a.desiredNumberScheduled === b.desiredNumberScheduled &&
    a.currentNumberScheduled === b.currentNumberScheduled &&
    a.numberMisscheduled === b.numberMisscheduled &&
    a.numberReady === b.numberReady &&
    (a.observedGeneration ?? 0) === (b.observedGeneration ?? 0) &&
    (a.updatedNumberScheduled ?? 0) === (b.updatedNumberScheduled ?? 0) &&
    (a.numberAvailable ?? 0) === (b.numberAvailable ?? 0) &&
    (a.numberUnavailable ?? 0) === (b.numberUnavailable ?? 0) &&
    (a.conditions === b.conditions || JSON.stringify(a.conditions) === JSON.stringify(b.conditions))
  );
}
