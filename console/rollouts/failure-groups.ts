/** Failed hosts by cause. Pure. */
import type { HostFailure } from '../../shared/kube/rollouts/rollout-types.js';

export interface FailureGroup {
  reason: string;
  /** The message of the first failure. Messages of other hosts can name other Pods. */
  message: string;
  /** In the order in which the hosts failed. */
  hosts: HostFailure[];
}

/** Returns the causes, the most frequent first. */
export function failureGroups(failures: readonly HostFailure[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const failure of failures) {
    const { reason, message = '' } = failure;
    const group = groups.get(reason) ?? { reason, message, hosts: [] };
    group.hosts.push(failure);
    groups.set(reason, group);
  }
  return [...groups.values()].sort((a, b) => b.hosts.length - a.hosts.length);
}
