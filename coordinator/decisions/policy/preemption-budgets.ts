/** Which Pods the scheduler would end against a PodDisruptionBudget (filterPodsWithPDBViolation). */
import type { Matcher } from '../../../shared/kube/objects/selectors.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { PodDisruptionBudget } from '../../../shared/kube/policy/disruption-budget-types.js';
import { budgetMatcher } from './disruption-status.js';

/** A budget in the form that many nodes are checked against. */
interface SpendableBudget {
  matcher: Matcher;
  allowed: number;
  /** Pods that the budget no longer counts. */
  disrupted: Readonly<Record<string, unknown>>;
}

/** By namespace. */
export type SpendableBudgets = ReadonlyMap<string | undefined, readonly SpendableBudget[]>;

/** A budget that covers every Pod of its namespace is ignored here, as upstream's scheduler does. */
export function spendableBudgets(budgets: Iterable<PodDisruptionBudget>): SpendableBudgets {
  const byNamespace = new Map<string | undefined, SpendableBudget[]>();
  for (const budget of budgets) {
    const matcher = budgetMatcher(budget);
    if (matcher.empty) continue;
    const { namespace } = budget.metadata;
    const { disruptionsAllowed: allowed = 0, disruptedPods: disrupted = {} } = budget.status ?? {};
    const ofNamespace = byNamespace.get(namespace) ?? [];
    ofNamespace.push({ matcher, allowed, disrupted });
    byNamespace.set(namespace, ofNamespace);
  }
  return byNamespace;
}

/** Returns the Pods whose end violates a budget, and the others, in the given order. */
export function partitionByBudgets(
  pods: readonly Pod[],
  budgets: SpendableBudgets,
): [violating: Pod[], harmless: Pod[]] {
  if (budgets.size === 0) return [[], [...pods]];
  const left = new Map<SpendableBudget, number>();
  const result: [Pod[], Pod[]] = [[], []];
  for (const pod of pods) {
    const { namespace, name, labels = {} } = pod.metadata;
    let isViolation = false;
    for (const budget of budgets.get(namespace) ?? []) {
      const isCovered = Object.keys(labels).length > 0 && budget.matcher.matches(labels);
      if (!isCovered || Object.hasOwn(budget.disrupted, name)) continue;
      const rest = (left.get(budget) ?? budget.allowed) - 1;
      left.set(budget, rest);
      if (rest < 0) isViolation = true;
    }
    result[isViolation ? 0 : 1].push(pod);
  }
  return result;
}
