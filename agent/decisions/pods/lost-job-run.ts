/** A Pod of a DaemonJob that this host has started, and whose containers it no longer has. */
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { SANDBOX } from '../../runtime/runtime-driver.js';
import type { PodView } from './pod-view.js';

/** Returns true if starting the Pod twice must be prevented on this host. */
export function isJobPod({ metadata }: Pick<Pod, 'metadata'>): boolean {
  return controllerOf(metadata)?.kind === 'DaemonJob';
}

/**
 * Returns the phase of a Pod that ran here and has lost its containers. The end of a Pod that was seen only at its start is
 * unknown: it counts as failed, as in a kubelet (pkg/kubelet/kubelet_pods.go, `ContainerStatusUnknown`).
 */
export function lostRunPhase({ jobRun, containers }: PodView): 'Succeeded' | 'Failed' | undefined {
  if (jobRun === undefined || containers.some(({ identity }) => identity.container !== SANDBOX))
    return undefined;
  return jobRun === 'Succeeded' ? 'Succeeded' : 'Failed';
}

/** Reason and message of such a Pod, unless it succeeded. */
export const LOST_RUN = {
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located.  The container used to be Running',
} as const;
