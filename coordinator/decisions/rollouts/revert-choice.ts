/** Which nodes go back from a revision that failed: those without use of it at once, the others within the budget. */
import type { DaemonSetUpdateStrategy } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Fleet } from '../daemonsets/rolling-update.js';
import { updateBudget } from '../daemonsets/update-strategy.js';

/** Nodes of one wave; `failed` are apart from `fleet`. `strays` serve, with a Pod of another revision that failed. */
interface RevertShare {
  fleet: Fleet;
  failed: readonly string[];
  strays: readonly string[];
}

/** Names of nodes whose Pod of the revision is to go now. All shares use one budget, the earlier ones first. */
export function chooseReverts(
  shares: readonly RevertShare[],
  strategy: DaemonSetUpdateStrategy | undefined,
): string[] {
  const useless = shares.flatMap(uselessOf);
  const desired = shares.reduce((total, { fleet }) => total + fleet.desired, 0);
  const { maxUnavailable, maxSurge } = updateBudget(strategy, desired);
  const without = shares.reduce((total, { fleet }) => total + withoutOf(fleet), useless.length);
  const room = Math.max(0, Math.max(maxUnavailable, maxSurge) - without);
  const well = shares.flatMap(({ fleet, strays }) => [...fleet.nodes.newAvailable, ...strays]);
  return [...useless, ...well.slice(0, room)];
}

function uselessOf({ fleet: { nodes }, failed }: RevertShare): string[] {
  return [...failed, ...nodes.newUnavailable, ...nodes.pairUnavailable, ...nodes.pairAvailable];
}

/** Hosts that have no available Pod now, or may have none at any moment. */
function withoutOf({ nodes, alsoUnavailable = 0 }: Fleet): number {
  const { oldUnavailable, empty, inProgress, handedOver, awaitingResync } = nodes;
  return [oldUnavailable, empty, inProgress, handedOver, awaitingResync].reduce(
    (sum, { size }) => sum + size,
    alsoUnavailable,
  );
}
