/** Whether a Pod's containers need a sandbox to hold the namespaces they share. */
import type { Container, Pod } from '../../shared/kube/pod.js';

/** True when the container is told the Pod's address, which then must be known before it starts. */
function readsPodIP(container: Container): boolean {
  return (container.env ?? []).some((variable) => {
    const path = variable.valueFrom?.fieldRef?.fieldPath;
    return path === 'status.podIP' || path === 'status.podIPs';
  });
}

/**
 * One container has nobody to share with, so it holds its own namespaces and starts as fast as the engine can.
 * Several share network and IPC by a sandbox, unless both are the host's.
 */
export function needsSandbox(pod: Pod): boolean {
  const { containers, hostNetwork, hostIPC } = pod.spec;
  if (hostNetwork && hostIPC) return false;
  if (containers.length > 1) return true;
  return !hostNetwork && containers.some(readsPodIP);
}
