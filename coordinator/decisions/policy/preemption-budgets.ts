/** Which Pods the scheduler would end against a PodDisruptionBudget (filterPodsWithPDBViolation). */
import type { Matcher } from '../../../shared/kube/objects/selectors.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { PodDisruptionBudget } from '../../../shared/kube/policy/disruption-budget-types.js';
import { budgetMatcher } from './disruption-status.js';

/** A budget in the form that many nodes are checked against. */
export interface SpendableBudget {
  namespace: string | undefined;
  matcher: Matcher;
  allowed: number;
  /** Pods that the budget no longer counts. */
  disrupted: Readonly<Record<string, unknown>>;
}

/** A budget that covers every Pod of its namespace is ignored here, as upstream's scheduler does. */
export function spendableBudgets(budgets: Iterable<PodDisruptionBudget>): SpendableBudget[] {
  return [...budgets]
    .map((budget) => ({
      namespace: budget.metadata.namespace,
      matcher: budgetMatcher(budget),
      allowed: budget.status?.disruptionsAllowed ?? 0,
      disrupted: budget.status?.disruptedPods ?? {},
    }))
    .filter(({ matcher }) => !matcher.empty);
}

/** Returns the Pods whose end violates a budget, and the others, in the given order. */
export function partitionByBudgets(
  pods: readonly Pod[],
  budgets: readonly SpendableBudget[],
): [violating: Pod[], harmless: Pod[]] {
  if (budgets.length === 0) return [[], [...pods]];
  const left = budgets.map(({ allowed }) => allowed);
  const result: [Pod[], Pod[]] = [[], []];
  for (const pod of pods) {
    const { namespace, name, labels = {} } = pod.metadata;
    let isViolation = false;
    for (const [index, budget] of budgets.entries()) {
      const isCovered =
        Object.keys(labels).length > 0 && budget.namespace === namespace && budget.matcher.matches(labels);
      if (!isCovered || Object.hasOwn(budget.disrupted, name)) continue;
      left[index] = (left[index] ?? 0) - 1;
      if ((left[index] ?? 0) < 0) isViolation = true;
    }
    result[isViolation ? 0 : 1].push(pod);
  }
  return result;
}
