/** Whether a PodDisruptionBudget allows an eviction (pkg/registry/core/pod/storage/eviction.go). */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  POLICY_GROUP,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
} from '../../../shared/kube/policy/disruption-budget-types.js';
import { budgetMatcher, withDisruptionCondition } from './disruption-status.js';

const CAUSE = 'DisruptionBudget';
const VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget.";
/** MaxDisruptedPodSize: so many evictions may be unconfirmed. */
const MAX_DISRUPTED_PODS = 2000;
const RETRY_SECONDS = 10;

/**
 * `free`: no budget counts the Pod. With `atRevision`, only this version of the Pod may be evicted: it may become Ready
 * in the meantime and would count then. `spend`: one disruption of the budget is spent.
 */
export type EvictionVerdict =
  | { outcome: 'free'; atRevision?: string; budget?: string }
  | { outcome: 'spend'; budget: PodDisruptionBudget };

/** True for Pods that can be deleted without checking budgets (canIgnorePDB). */
function isIgnored(pod: Pod): boolean {
  return (
    isPodTerminal(pod) || pod.status?.phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined
  );
}

/** True if a Pod that is not Ready may be evicted without spending a disruption. */
function mayEndUnhealthy({ spec, status }: PodDisruptionBudget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function withRevision(pod: Pod, budget?: string): EvictionVerdict {
  const { resourceVersion } = pod.metadata;
  return {
    outcome: 'free',
    ...(resourceVersion === undefined ? {} : { atRevision: resourceVersion }),
    ...(budget === undefined ? {} : { budget }),
  };
}

/** `budgets`: those of the Pod's namespace. Throws 500 if several cover the Pod. */
export function evictionVerdict(pod: Pod, budgets: readonly PodDisruptionBudget[]): EvictionVerdict {
  if (isIgnored(pod)) return pod.status?.phase === 'Pending' ? withRevision(pod) : { outcome: 'free' };
  const covering = budgets.filter((budget) => budgetMatcher(budget).matches(pod.metadata.labels));
  const [budget, ...others] = covering;
  if (!budget) return { outcome: 'free' };
  if (others.length > 0) {
    const text =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new ApiError('InternalError', text);
  }
  if (!isConditionTrue(pod.status?.conditions, 'Ready') && mayEndUnhealthy(budget))
    return withRevision(pod, budget.metadata.name);
  return { outcome: 'spend', budget };
}

/** The error while the budget's status is outdated. Clients retry. */
export function stillProcessed(budget: string): ApiError {
  const message = `The disruption budget ${budget} is still being processed by the server.`;
  return new ApiError('TooManyRequests', VIOLATED, {
    retryAfterSeconds: RETRY_SECONDS,
    causes: [{ reason: CAUSE, message }],
  });
}

function budgetForbidden(name: string, why: string): ApiError {
  const message = `poddisruptionbudgets.${POLICY_GROUP} "${name}" is forbidden: ${why}`;
  return new ApiError('Forbidden', message, { name, group: POLICY_GROUP, kind: 'poddisruptionbudgets' });
}

/**
 * Returns the budget's status after one disruption is spent for the Pod, or throws 429 (checkAndDecrement). `now`: in ms
 * since the epoch.
 */
export function spendDisruption(
  { metadata, status }: PodDisruptionBudget,
  pod: string,
  now: number,
): PodDisruptionBudgetStatus {
  const { name, generation = 0 } = metadata;
  if (!status || (status.observedGeneration ?? 0) < generation) throw stillProcessed(name);
  const { disruptionsAllowed, disruptedPods = {}, desiredHealthy, currentHealthy } = status;
  if (disruptionsAllowed < 0) throw budgetForbidden(name, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED_PODS) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw budgetForbidden(name, why);
  }
  if (disruptionsAllowed === 0) {
    const message = `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
    throw new ApiError('TooManyRequests', VIOLATED, { causes: [{ reason: CAUSE, message }] });
  }
  const spent: PodDisruptionBudgetStatus = {
    ...status,
    disruptionsAllowed: disruptionsAllowed - 1,
    disruptedPods: { ...disruptedPods, [pod]: toTimestamp(now) },
  };
  return spent.disruptionsAllowed === 0 ? withDisruptionCondition(spent, now) : spent;
}
