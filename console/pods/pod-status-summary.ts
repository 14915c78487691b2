/** A Pod in one word, as kubectl's column STATUS has it for the usual cases. */
import type { Pod } from '../../shared/kube/pods/pod-types.js';

/** The first that fits: going, what a container waits for, not ready, the reason, the phase. */
export function podStatusSummary({ metadata, status }: Pod): string {
  if (metadata.deletionTimestamp) return 'Terminating';
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = statuses.map(({ state }) => state?.waiting?.reason).find((reason) => reason);
  const ready = (status?.containerStatuses ?? []).every((container) => container.ready);
  if (waiting) return waiting;
  if (status?.phase === 'Running' && !ready) return 'Running, not ready';
  return status?.reason ?? status?.phase ?? 'Pending';
}
