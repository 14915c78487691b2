/** policy/v1 PodDisruptionBudget. */
import type { Condition } from '../objects/conditions.js';
import type { IntOrString, KubeObject, Timestamp } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';

export const POLICY_GROUP = 'policy';

interface PodDisruptionBudgetSpec {
  /** Pods that must stay available: a number, or a percentage of the expected Pods, rounded up. */
  minAvailable?: IntOrString;
  /** Pods that may be unavailable: a number, or a percentage of the expected Pods, rounded up. */
  maxUnavailable?: IntOrString;
  selector?: LabelSelector;
  unhealthyPodEvictionPolicy?: string;
}

export interface PodDisruptionBudgetStatus {
  observedGeneration?: number;
  /** Pods whose eviction was admitted and that are not deleted yet, with the time of the eviction. */
  disruptedPods?: Record<string, Timestamp>;
  disruptionsAllowed: number;
  currentHealthy: number;
  desiredHealthy: number;
  expectedPods: number;
  conditions?: Condition[];
}

export interface PodDisruptionBudget extends KubeObject {
  spec?: PodDisruptionBudgetSpec;
  status?: PodDisruptionBudgetStatus;
}
