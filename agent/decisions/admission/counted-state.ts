/** How the Pods of a host count against a new one. */

import { type AssignedPod, hasRemovedContainers, isStopping } from '../pods/assigned-pod.js';
import { cameBefore } from '../pods/pod-predecessors.js';
import type { OtherPod } from './resource-admission.js';

/** What is known of another Pod of this host. */
interface OtherPodFacts {
  assigned: AssignedPod;
  /** False until this agent has inspected its containers. */
  isInspected: boolean;
  /** True if it ended by itself or never starts. */
  isFinished: boolean;
  /** True if a container runs or may have been started since the inspection. */
  mayRun: boolean;
  /** True if the host has accepted its requests. */
  isAdmitted: boolean;
  /** True while its predecessor runs, which may last until the link is back. */
  waitsForPredecessor: boolean;
  /** True while its preemption is being written to disk. */
  isBeingPreempted: boolean;
}

/** Returns how `other` counts against the new Pod `own`; undefined if it does not. */
export function countedState(own: AssignedPod, other: OtherPodFacts): OtherPod['state'] | undefined {
  const { assigned, mayRun } = other;
  if (!other.isInspected) return hasRemovedContainers(assigned) ? undefined : 'undecided';
  if (isStopping(assigned) || assigned.terminal || other.isFinished) return mayRun ? 'leaving' : undefined;
  if (other.isBeingPreempted) return 'leaving';
  if (other.isAdmitted) return 'active';
  if (!cameBefore(assigned, own)) return undefined;
  return other.waitsForPredecessor ? 'active' : 'undecided';
}
