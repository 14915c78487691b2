/** Changes of `status.nominatedNodeName`, the node on which Pods of lower priority end for a Pod. */
import type { Pod, PodStatus } from '../../../shared/kube/pods/pod-types.js';

/** What happens to the Pod's nominated node. */
export type Nomination = 'keep' | 'clear' | { node: string };

/** Returns the status after the change. */
export function withNomination(status: PodStatus = {}, nomination: Nomination): PodStatus {
  if (nomination === 'keep') return status;
  const { nominatedNodeName: _, ...rest } = status;
  return nomination === 'clear' ? rest : { ...rest, nominatedNodeName: nomination.node };
}

/** True if the change would change nothing. */
export function hasNomination({ status }: Pick<Pod, 'status'>, nomination: Nomination): boolean {
  if (nomination === 'keep') return true;
  const wanted = nomination === 'clear' ? undefined : nomination.node;
  return (status?.nominatedNodeName || undefined) === wanted;
}
