/** Events for changes of a Pod's status, with the kubelet's messages (pkg/kubelet/events). */
import type {
  ContainerStateWaiting,
  ContainerStatus,
  Pod,
  PodStatus,
} from '../../../shared/kube/pods/pod-types.js';
import { findContainer } from './pod-containers.js';

/** An Event about a Pod or one of its containers. */
export interface PodEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  container?: string;
}

/** Returns the Events for the differences between two statuses. */
export function statusEvents(pod: Pod, previous: PodStatus | undefined, next: PodStatus): PodEvent[] {
  const before = statusesOf(previous);
  return statusesOf(next).flatMap((status) => {
    const old = before.find(({ name }) => name === status.name);
    const waiting = status.state?.waiting;
    if (!waiting?.reason || old?.state?.waiting?.reason === waiting.reason) return [];
    const image = findContainer(pod, status.name)?.image ?? status.image;
    return waitingEvents(pod, status.name, image, waiting).map((event) => ({
      ...event,
      container: status.name,
    }));
  });
}

function statusesOf(status: PodStatus | undefined): ContainerStatus[] {
  const {
    initContainerStatuses = [],
    containerStatuses = [],
    ephemeralContainerStatuses = [],
  } = status ?? {};
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
}

function waitingEvents(
  pod: Pod,
  container: string,
  image: string,
  waiting: ContainerStateWaiting,
): PodEvent[] {
  const { reason = '', message = '' } = waiting;
  const failed: PodEvent = { type: 'Warning', reason: 'Failed', message: `Error: ${reason}` };
  switch (reason) {
    case 'ErrImagePull': {
      const why = `Failed to pull image "${image}": ${message}`;
      return [{ type: 'Warning', reason: 'Failed', message: why }, failed];
    }
    case 'ImagePullBackOff':
      return [{ type: 'Normal', reason: 'BackOff', message: `Back-off pulling image "${image}"` }, failed];
    case 'ErrImageNeverPull':
      return [{ type: 'Warning', reason, message }, failed];
    case 'HostPolicy':
      return [{ ...failed, message: `Error: ${message}` }];
    case 'InvalidImageName':
      return [{ type: 'Warning', reason: 'InspectFailed', message }, failed];
    case 'CreateContainerError':
    case 'CreateContainerConfigError':
      return [{ ...failed, message: `Error: ${message}` }];
    case 'CrashLoopBackOff': {
      const { name, namespace, uid } = pod.metadata;
      const where = `${container} in pod ${name}_${namespace}(${uid})`;
      const text = `Back-off restarting failed container ${where}`;
      return [{ type: 'Warning', reason: 'BackOff', message: text }];
    }
    default:
      return [];
  }
}
