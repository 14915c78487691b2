/** Which Pods are critical, and which Pods a critical Pod may preempt (pkg/kubelet/types/pod_update.go). */

import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { SYSTEM_CLASSES } from '../../../shared/kube/pods/priority-class.js';

/** Lowest priority of a critical Pod (scheduling.SystemCriticalPriority). */
const CRITICAL_PRIORITY = 2_000_000_000;

type Ranked = Pick<PodSpec, 'priority' | 'priorityClassName'>;

/** Returns the Pod's priority; undefined if neither it nor a system class is set. A static Pod only names its class. */
export function priorityOf({ priority, priorityClassName = '' }: Ranked): number | undefined {
  return priority ?? SYSTEM_CLASSES.get(priorityClassName)?.value;
}

/**
 * Returns true for a static Pod or one of a system priority, which are never evicted (pkg/kubelet/types IsCriticalPod).
 */
export function isCritical({ spec }: { spec: Ranked }, isStatic: boolean): boolean {
  return isStatic || (priorityOf(spec) ?? 0) >= CRITICAL_PRIORITY;
}

/** A Pod of this host; `isStatic`: its manifest is on the host. */
export interface PodOfHost {
  pod: { spec: PodSpec };
  isStatic: boolean;
}

/**
 * Returns true if `preemptor` may preempt `other`: only `preemptor` is critical, or it has the higher priority. A static
 * Pod without a priority is never preempted (pkg/kubelet/types Preemptable).
 */
export function isPreemptable(preemptor: PodOfHost, other: PodOfHost): boolean {
  if (isCritical(preemptor.pod, preemptor.isStatic) && !isCritical(other.pod, other.isStatic)) return true;
  const [own, others] = [priorityOf(preemptor.pod.spec), priorityOf(other.pod.spec)];
  return own !== undefined && others !== undefined && own > others;
}
