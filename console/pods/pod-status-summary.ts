/** Summary of a Pod's status, like kubectl's column STATUS in common cases. */
import type { Pod } from '../../shared/kube/pods/pod-types.js';

/** Returns the first that applies: Terminating, waiting reason, not ready, status reason, phase. */
export function podStatusSummary({ metadata, status }: Pod): string {
  if (metadata.deletionTimestamp) return 'Terminating';
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = statuses.map(({ state }) => state?.waiting?.reason).find((reason) => reason);
  const ready = (status?.containerStatuses ?? []).every((container) => container.ready);
  if (waiting) return waiting;
  if (status?.phase === 'Running' && !ready) return 'Running, not ready';
  return status?.reason ?? status?.phase ?? 'Pending';
}
