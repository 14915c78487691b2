/** Decides which nodes roll back from a failed revision: useless Pods at once, available ones within the budget. */
import type { DaemonSetUpdateStrategy } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Fleet } from '../daemonsets/rolling-update.js';
import { updateBudget } from '../daemonsets/update-strategy.js';

/**
 * The nodes of one wave. `failed` nodes are not in `fleet`. `staleFailed` have an available Pod of another failed revision.
 */
interface RevertShare {
  fleet: Fleet;
  failed: readonly string[];
  staleFailed: readonly string[];
}

/** Returns the nodes whose Pod has to be deleted now. All shares use one budget, in their order. */
export function chooseReverts(
  shares: readonly RevertShare[],
  strategy: DaemonSetUpdateStrategy | undefined,
): string[] {
  const useless = shares.flatMap(uselessOf);
  const desired = shares.reduce((total, { fleet }) => total + fleet.desired, 0);
  const { maxUnavailable, maxSurge } = updateBudget(strategy, desired);
  const without = shares.reduce((total, { fleet }) => total + withoutOf(fleet), useless.length);
  const room = Math.max(0, Math.max(maxUnavailable, maxSurge) - without);
  const well = shares.flatMap(({ fleet, staleFailed }) => [...fleet.nodes.newAvailable, ...staleFailed]);
  return [...useless, ...well.slice(0, room)];
}

function uselessOf({ fleet: { nodes }, failed }: RevertShare): string[] {
  return [...failed, ...nodes.newUnavailable, ...nodes.pairUnavailable, ...nodes.pairAvailable];
}

/** Counts nodes that have no available Pod, or may lose it at any time. */
function withoutOf({ nodes, alsoUnavailable = 0 }: Fleet): number {
  const { oldUnavailable, empty, inProgress, handedOver, awaitingResync } = nodes;
  return [oldUnavailable, empty, inProgress, handedOver, awaitingResync].reduce(
    (sum, { size }) => sum + size,
    alsoUnavailable,
  );
}
