/** scheduling.k8s.io/v1 PriorityClass, and the priority of Pods. */

import type { KubeObject } from '../objects/meta.js';
import type { Pod } from './pod-types.js';

export const SCHEDULING_GROUP = 'scheduling.k8s.io';

export interface PriorityClass extends KubeObject {
  value: number;
  globalDefault?: boolean;
  description?: string;
  preemptionPolicy?: string;
}

/** Pods with this policy wait for free capacity and never end other Pods. */
export const PREEMPT_NEVER = 'Never';
export const PREEMPT_LOWER_PRIORITY = 'PreemptLowerPriority';
export const PREEMPTION_POLICIES = [PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY];

/** The highest value of a PriorityClass that is not a system class. */
export const HIGHEST_USER_PRIORITY = 1_000_000_000;
/** Names with this prefix are reserved. */
export const SYSTEM_CLASS_PREFIX = 'system-';

function systemClass(name: string, value: number, description: string): PriorityClass {
  return {
    apiVersion: `${SCHEDULING_GROUP}/v1`,
    kind: 'PriorityClass',
    metadata: { name },
    value,
    description,
    preemptionPolicy: PREEMPT_LOWER_PRIORITY,
  };
}

/** The classes that always exist (pkg/apis/scheduling/v1/helpers.go), by name. */
export const SYSTEM_CLASSES: ReadonlyMap<string, PriorityClass> = new Map(
  [
    systemClass(
      'system-node-critical',
      2_000_001_000,
      'Used for system critical pods that must not be moved from their current node.',
    ),
    systemClass(
      'system-cluster-critical',
      2_000_000_000,
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
    ),
  ].map((each) => [each.metadata.name, each]),
);

/** A Pod without a priority, such as one from before PriorityClasses were served, has priority 0. */
export function podPriority({ spec }: Pick<Pod, 'spec'>): number {
  return spec.priority ?? 0;
}

/** The condition of a Pod that is ended for another one, and its reasons. */
export const DISRUPTION_TARGET = 'DisruptionTarget';
export const PREEMPTION_BY_SCHEDULER = 'PreemptionByScheduler';
