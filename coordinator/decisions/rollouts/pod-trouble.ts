/** What counts as a failure of a Pod in a rollout, read from its status alone. */

import { REVERTED_BY_HOST, REVERTED_CONDITION } from '../../../shared/kube/handovers/host-handover.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { ContainerStatus, Pod } from '../../../shared/kube/pods/pod-types.js';

/** A container that was started so often again is not well, even while it runs. */
const MAX_RESTARTS = 1;
/** What a container says while it simply takes its time. */
const PATIENT_REASONS: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

function containerTrouble({ state, restartCount }: ContainerStatus): string | undefined {
  const reason = state?.waiting?.reason ?? '';
  if (!PATIENT_REASONS.has(reason)) return reason;
  return restartCount > MAX_RESTARTS ? 'Restarting' : undefined;
}

/** `CrashLoopBackOff`, `ImagePullBackOff`, `Restarting` and the like; undefined for a Pod that may yet be well. */
export function podFailureReason({ status }: Pod): string | undefined {
  if (isConditionTrue(status?.conditions, REVERTED_CONDITION)) return REVERTED_BY_HOST;
  if (status?.phase === 'Failed') return status.reason || 'Failed';
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return containers.map(containerTrouble).find((trouble) => trouble !== undefined);
}
