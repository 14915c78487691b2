/** How many Pods a DaemonSet may have too few or too many while it is updated (pkg/controller/daemon/util). */
import type {
  DaemonSetUpdateStrategy,
  IntOrString,
} from '../../../shared/kube/daemonsets/daemonset-types.js';

/** Both in Pods. */
interface UpdateBudget {
  maxUnavailable: number;
  maxSurge: number;
}

/** An absolute number as it is, a percentage of `total` rounded up; what is neither counts as 0. */
function scaled(value: IntOrString, total: number): number {
  if (typeof value === 'number') return value;
  const match = /^([+-]?[0-9]+)%$/.exec(value);
  return match ? Math.ceil((Number(match[1]) * total) / 100) : 0;
}

/** An absent or empty type is RollingUpdate, as by defaulting. */
export function isRollingUpdate(strategy: DaemonSetUpdateStrategy | undefined): boolean {
  return (strategy?.type || 'RollingUpdate') === 'RollingUpdate';
}

/**
 * The budget for `desired` nodes; absent parameters are the defaults 1 and 0. With both at 0, which validation
 * refuses, one Pod may be unavailable, or no update would ever end (updatedDesiredNodeCounts).
 */
export function updateBudget(strategy: DaemonSetUpdateStrategy | undefined, desired: number): UpdateBudget {
  const rolling = isRollingUpdate(strategy);
  const maxSurge = rolling ? scaled(strategy?.rollingUpdate?.maxSurge ?? 0, desired) : 0;
  const maxUnavailable = rolling ? scaled(strategy?.rollingUpdate?.maxUnavailable ?? 1, desired) : 0;
  const stuck = desired > 0 && maxUnavailable === 0 && maxSurge === 0;
  return { maxSurge, maxUnavailable: stuck ? 1 : maxUnavailable };
}

/** Whether a node may hold an old and a new Pod at once (util.AllowsSurge: the budget of one node). */
export function allowsSurge(strategy: DaemonSetUpdateStrategy | undefined): boolean {
  return updateBudget(strategy, 1).maxSurge > 0;
}
