/** Whether a Pod's containers need a sandbox to hold the namespaces they share. */
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { allContainersOf, initContainersOf, sidecarsOf } from './pod-containers.js';

/** True when the container is told the Pod's address, which then must be known before it starts. */
function readsPodIP(container: Container): boolean {
  return (container.env ?? []).some((variable) => {
    const path = variable.valueFrom?.fieldRef?.fieldPath;
    return path === 'status.podIP' || path === 'status.podIPs';
  });
}

/**
 * One container has nobody to share with, so it holds its own namespaces and starts as fast as the engine can. A sandbox
 * is needed where namespaces outlive a container or are shared: a process namespace, a network that init containers set
 * up and ask the address of, network and IPC of several that run at a time. What is the host's needs nobody to hold it.
 */
export function needsSandbox(pod: Pod): boolean {
  const { containers, hostNetwork, hostIPC, shareProcessNamespace } = pod.spec;
  if (shareProcessNamespace) return true;
  if (containers.length + sidecarsOf(pod).length > 1) return !(hostNetwork && hostIPC);
  return !hostNetwork && (initContainersOf(pod).length > 0 || allContainersOf(pod).some(readsPodIP));
}
