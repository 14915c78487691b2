/** Statuses that are soon replaced during a Pod's start. */
import type { ContainerStatus, PodStatus } from '../../../shared/kube/pods/pod-types.js';

const ON_ITS_WAY = 'ContainerCreating';

function isOnItsWay({ state, lastState }: ContainerStatus): boolean {
  return state?.waiting?.reason === ON_ITS_WAY && !lastState?.terminated;
}

/**
 * Returns true while all containers are being created for the first time without errors: the next status follows soon.
 */
export function isTransientStatus({ phase, containerStatuses = [] }: PodStatus): boolean {
  return phase === 'Pending' && containerStatuses.length > 0 && containerStatuses.every(isOnItsWay);
}
