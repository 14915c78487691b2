/** Which nodes go back from a revision that failed: those without use of it at once, the others within the budget. */
import type { DaemonSetUpdateStrategy } from '../../shared/kube/workload.js';
import type { Fleet } from './rolling-update.js';
import { updateBudget } from './update-strategy.js';

/** Names of nodes whose Pod of the revision is to go now. `failed` are apart from `fleet`. */
export function chooseReverts(
  { nodes, desired }: Fleet,
  failed: ReadonlySet<string>,
  strategy: DaemonSetUpdateStrategy | undefined,
): string[] {
  const useless = [...failed, ...nodes.newUnavailable, ...nodes.pairUnavailable, ...nodes.pairAvailable];
  const { maxUnavailable, maxSurge } = updateBudget(strategy, desired);
  const without = useless.length + nodes.oldUnavailable.size + nodes.empty.size + nodes.underWay.size;
  const room = Math.max(0, Math.max(maxUnavailable, maxSurge) - without);
  return [...useless, ...[...nodes.newAvailable].slice(0, room)];
}
