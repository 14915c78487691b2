/** The counts in DaemonSet.status (pkg/controller/daemon storeDaemonSetStatus). */
import type { DaemonSetStatus } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { StatusShare } from './node-record.js';

export type StatusCounts = Record<keyof StatusShare, number>;

/** Returns a status with these counts. Fields that the controller does not count (conditions, collisions) are kept. */
export function daemonSetStatus(
  counts: StatusCounts,
  observedGeneration: number,
  previous: DaemonSetStatus | undefined,
): DaemonSetStatus {
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
    ...(previous?.conditions ? { conditions: previous.conditions } : {}),
  };
}

/** Compares the counts of two statuses. An absent count equals 0. */
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
    (a.numberUnavailable ?? 0) === (b.numberUnavailable ?? 0)
  );
}
