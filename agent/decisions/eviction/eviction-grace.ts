/** How long a Pod has to end that its host evicts (pkg/kubelet/eviction managerImpl.synchronize). */

import { DEFAULT_GRACE_SECONDS } from '../../../shared/kube/pods/pod-defaults.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import type { Threshold } from './eviction-thresholds.js';

/** As a kubelet's immediate evictions. */
const HARD_SECONDS = 1;

/**
 * Seconds. A hard threshold leaves no time; a soft one the Pod's own grace period, and not more than `mostSeconds`. Less than 0 sets no
 * bound, as upstream says of its setting; its kubelets take it for no time at all (kubernetes#118172).
 */
export function evictionGraceSeconds(
  { graceMs }: Pick<Threshold, 'graceMs'>,
  { terminationGracePeriodSeconds = DEFAULT_GRACE_SECONDS }: PodSpec,
  mostSeconds: number,
): number {
  if (graceMs === 0) return HARD_SECONDS;
  return mostSeconds < 0
    ? terminationGracePeriodSeconds
    : Math.min(terminationGracePeriodSeconds, mostSeconds);
}
