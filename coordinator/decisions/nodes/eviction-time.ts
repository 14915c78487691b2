/** Computes when NoExecute taints evict a Pod from its node (pkg/controller/tainteviction). */
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import { tolerates } from '../placement/taint-tolerations.js';

/** A decided eviction, due at `at`. Times have any unit and origin of the caller. */
export interface PendingEviction {
  since: number;
  at: number;
}

/** Returns how long these taints are tolerated, in seconds. The first matching toleration of each taint counts. */
function secondsTolerated(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  const perTaint = taints.map((taint) => {
    const used = tolerations.find((toleration) => tolerates(toleration, taint));
    if (!used) return 0;
    return Math.max(used.tolerationSeconds ?? Number.POSITIVE_INFINITY, 0);
  });
  return Math.min(...perTaint);
}

/**
 * Returns the pending eviction of a Pod on a node with these taints; undefined if it may stay. The time starts when the
 * taints are first observed. A pending eviction keeps its time, even if a shorter toleration is added later.
 * @param unitsPerSecond of `now` and the results, for example 1000 for milliseconds
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
  const seconds = secondsTolerated(evicting, tolerations);
  if (seconds === Number.POSITIVE_INFINITY) return undefined;
  if (pending && pending.since < now) return pending;
  return { since: now, at: now + seconds * unitsPerSecond };
}
