/** The status of a PodDisruptionBudget (pkg/controller/disruption). */
import { type Condition, isConditionTrue, withCondition } from '../../../shared/kube/objects/conditions.js';
import { type IntOrString, type Timestamp, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type Matcher } from '../../../shared/kube/objects/selectors.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '../../../shared/kube/policy/disruption-budget-types.js';
import { scaledAmount } from '../rollouts/wave-plan.js';

const DISRUPTION_ALLOWED = 'DisruptionAllowed';
/** An evicted Pod that is not deleted within this time counts again (DeletionTimeout). */
const DELETION_TIMEOUT_MS = 2 * 60_000;

/** Returns the matcher of the Pods that a budget covers. An absent selector covers none, `{}` the whole namespace. */
export function budgetMatcher({ spec }: PodDisruptionBudget): Matcher {
  return compileLabelSelector(spec?.selector);
}

/** A Pod is healthy if it is Ready. A Pod that is being deleted does not count. */
export function isHealthy({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && isConditionTrue(status?.conditions, 'Ready');
}

/** True if the budget needs the scale of the Pods' controllers. With an integer `minAvailable`, it counts the Pods. */
export function needsScale({ spec = {} }: PodDisruptionBudget): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string';
}

/** What the budget covers at present. */
export interface CoveredPods {
  pods: number;
  healthy: number;
  /** Returns whether a covered Pod exists, is not being deleted, and is healthy. Undefined: it no longer counts. */
  stateOf(name: string): 'healthy' | 'unhealthy' | undefined;
  /** Sum of the scales of all controllers. Absent if `needsScale` is false. */
  scale?: number;
}

interface DisruptionCounts {
  expectedPods: number;
  desiredHealthy: number;
}

/** getExpectedPodCount. Percentages are rounded up. */
function expectedCounts({ spec = {} }: PodDisruptionBudget, covered: CoveredPods): DisruptionCounts {
  const { minAvailable, maxUnavailable } = spec;
  const scale = covered.scale ?? 0;
  const share = (value: IntOrString) => scaledAmount(value, scale, Math.ceil);
  if (maxUnavailable !== undefined) {
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - share(maxUnavailable)) };
  }
  if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0 };
  if (typeof minAvailable === 'number') return { expectedPods: covered.pods, desiredHealthy: minAvailable };
  return { expectedPods: scale, desiredHealthy: share(minAvailable) };
}

/** Evicted Pods that still exist, and when the first of them counts again. `expired`: they were never deleted. */
interface DisruptedPods {
  kept: Record<string, Timestamp>;
  expired: string[];
  recheckAt?: number;
}

/** buildDisruptedPodMap. */
function disruptedPods(
  stored: Readonly<Record<string, Timestamp>> | undefined,
  covered: CoveredPods,
  now: number,
): DisruptedPods {
  const result: DisruptedPods = { kept: {}, expired: [] };
  for (const [name, time] of Object.entries(stored ?? {})) {
    if (covered.stateOf(name) === undefined) continue;
    const until = Date.parse(time) + DELETION_TIMEOUT_MS;
    if (until < now) {
      result.expired.push(name);
      continue;
    }
    result.kept[name] = time;
    result.recheckAt = Math.min(result.recheckAt ?? until, until);
  }
  return result;
}

interface DisruptionDecision {
  status: PodDisruptionBudgetStatus;
  /** Names of Pods whose eviction was admitted, but which were not deleted. */
  expired: readonly string[];
  /** When the status changes without an event, in ms since the epoch. */
  recheckAt?: number;
}

/** updatePdbStatus. `now`: in ms since the epoch. */
export function disruptionStatus(
  budget: PodDisruptionBudget,
  covered: CoveredPods,
  now: number,
): DisruptionDecision {
  const { kept, expired, recheckAt } = disruptedPods(budget.status?.disruptedPods, covered, now);
  const disrupted = Object.keys(kept).filter((name) => covered.stateOf(name) === 'healthy').length;
  const currentHealthy = covered.healthy - disrupted;
  const { expectedPods, desiredHealthy } = expectedCounts(budget, covered);
  // Without expected Pods the first ones could be evicted before their status is known.
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const { generation } = budget.metadata;
  const status: PodDisruptionBudgetStatus = {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(Object.keys(kept).length > 0 ? { disruptedPods: kept } : {}),
    ...{ disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods },
    ...(budget.status?.conditions ? { conditions: budget.status.conditions } : {}),
  };
  const decision = { status: withDisruptionCondition(status, now), expired };
  return recheckAt === undefined ? decision : { ...decision, recheckAt };
}

/** UpdateDisruptionAllowedCondition. */
export function withDisruptionCondition(
  status: PodDisruptionBudgetStatus,
  now: number,
): PodDisruptionBudgetStatus {
  const isAllowed = status.disruptionsAllowed > 0;
  return withAllowed(status, isAllowed, isAllowed ? 'SufficientPods' : 'InsufficientPods', '', now);
}

/** The status after the expected Pods could not be counted: nothing may be evicted (failSafe). */
export function failedStatus(
  before: PodDisruptionBudgetStatus | undefined,
  message: string,
  now: number,
): PodDisruptionBudgetStatus {
  const counts = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...before, disruptionsAllowed: 0 };
  return withAllowed(counts, false, 'SyncFailed', message, now);
}

function withAllowed(
  status: PodDisruptionBudgetStatus,
  isAllowed: boolean,
  reason: string,
  message: string,
  now: number,
): PodDisruptionBudgetStatus {
  const { observedGeneration } = status;
  const condition: Condition = {
    ...{ type: DISRUPTION_ALLOWED, status: isAllowed ? 'True' : 'False', reason, message },
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  };
  return { ...status, conditions: withCondition(status.conditions, condition, toTimestamp(now)) };
}
