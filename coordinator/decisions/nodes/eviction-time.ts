/** When NoExecute taints drive a Pod off its node (pkg/controller/tainteviction). */
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import { tolerates } from '../placement/taint-tolerations.js';

/** An eviction that was decided; due when `at` has come. Times are in one unit of the caller's, from one origin. */
export interface PendingEviction {
  /** When it was decided. */
  since: number;
  at: number;
}

/** How long these taints are borne, in seconds; each counts by its first matching toleration. */
function secondsBorne(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  const perTaint = taints.map((taint) => {
    const used = tolerations.find((toleration) => tolerates(toleration, taint));
    if (!used) return 0;
    return Math.max(used.tolerationSeconds ?? Number.POSITIVE_INFINITY, 0);
  });
  return Math.min(...perTaint);
}

/**
 * What is pending for a Pod once its node is seen with these taints; undefined = it may stay. The clock starts when
 * the taints are seen. Something pending is kept while it has to be, even when a shorter toleration joins later.
 * @param unitsPerSecond of `now` and the results, e.g. 1000 for milliseconds
 */
export function evictionTime(
  pending: PendingEviction | undefined,
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  now: number,
  unitsPerSecond = 1000,
): PendingEviction | undefined {
  const evicting = taints.filter((taint) => taint.effect === 'NoExecute');
  if (evicting.length === 0) return undefined;
  const untolerated = evicting.some((taint) => !tolerations.some((one) => tolerates(one, taint)));
  if (untolerated) return { since: now, at: now };
  const seconds = secondsBorne(evicting, tolerations);
  if (seconds === Number.POSITIVE_INFINITY) return undefined;
  if (pending && pending.since < now) return pending;
  return { since: now, at: now + seconds * unitsPerSecond };
}
