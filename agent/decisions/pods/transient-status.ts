/** Which statuses say nothing but that a Pod is on its way. */
import type { ContainerStatus, PodStatus } from '../../../shared/kube/pods/pod-types.js';

const ON_ITS_WAY = 'ContainerCreating';

function isOnItsWay({ state, lastState }: ContainerStatus): boolean {
  return state?.waiting?.reason === ON_ITS_WAY && !lastState?.terminated;
}

/** True for a Pod whose containers are all being created for the first time, without trouble so far: its next status says more. */
export function isTransientStatus({ phase, containerStatuses = [] }: PodStatus): boolean {
  return phase === 'Pending' && containerStatuses.length > 0 && containerStatuses.every(isOnItsWay);
}
