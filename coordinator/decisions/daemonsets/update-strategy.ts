/** How many Pods may be unavailable or surplus during an update (pkg/controller/daemon/util). */
import type {
  DaemonSetUpdateStrategy,
  IntOrString,
} from '../../../shared/kube/daemonsets/daemonset-types.js';

/** In Pods. */
interface UpdateBudget {
  maxUnavailable: number;
  maxSurge: number;
}

/** Returns a number unchanged and a percentage of `total` rounded up. Any other value counts as 0. */
function scaled(value: IntOrString, total: number): number {
  if (typeof value === 'number') return value;
  const match = /^([+-]?[0-9]+)%$/.exec(value);
  return match ? Math.ceil((Number(match[1]) * total) / 100) : 0;
}

/** An absent or empty type is RollingUpdate, like the default. */
export function isRollingUpdate(strategy: DaemonSetUpdateStrategy | undefined): boolean {
  return (strategy?.type || 'RollingUpdate') === 'RollingUpdate';
}

/**
 * The budget for `desired` nodes. Absent parameters have the defaults 1 and 0. If both are 0, which validation refuses,
 * one Pod may be unavailable: otherwise no update would ever end (updatedDesiredNodeCounts).
 */
export function updateBudget(strategy: DaemonSetUpdateStrategy | undefined, desired: number): UpdateBudget {
  const rolling = isRollingUpdate(strategy);
  const maxSurge = rolling ? scaled(strategy?.rollingUpdate?.maxSurge ?? 0, desired) : 0;
  const maxUnavailable = rolling ? scaled(strategy?.rollingUpdate?.maxUnavailable ?? 1, desired) : 0;
  const stuck = desired > 0 && maxUnavailable === 0 && maxSurge === 0;
  return { maxSurge, maxUnavailable: stuck ? 1 : maxUnavailable };
}

/** Returns true if a node may have an old and a new Pod at once (util.AllowsSurge). */
export function allowsSurge(strategy: DaemonSetUpdateStrategy | undefined): boolean {
  return updateBudget(strategy, 1).maxSurge > 0;
}
