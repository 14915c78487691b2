/** Grace period of an evicted Pod (pkg/kubelet/eviction managerImpl.synchronize). */

import { DEFAULT_GRACE_SECONDS } from '../../../shared/kube/pods/pod-defaults.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import type { Threshold } from './eviction-thresholds.js';

/** Same as the kubelet's immediate evictions. */
const HARD_SECONDS = 1;

/**
 * Returns seconds. A hard threshold leaves no time; a soft one the Pod's own grace period, up to `mostSeconds`. A
 * negative value means no limit, as documented upstream; actual kubelets treat it as 0 (kubernetes#118172).
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
