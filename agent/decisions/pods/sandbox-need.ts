/** Decides whether a Pod's containers need a sandbox for their shared namespaces. */
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { type ObservedContainer, SANDBOX } from '../../runtime/runtime-driver.js';
import { attemptsOf } from '../containers/container-attempts.js';
import { allContainersOf, containerRole, initContainersOf, sidecarsOf } from './pod-containers.js';
import type { PodView } from './pod-view.js';

/** Returns true if the container's environment contains the Pod's address, which must be known before its start. */
function readsPodIP(container: Container): boolean {
  return (container.env ?? []).some((variable) => {
    const path = variable.valueFrom?.fieldRef?.fieldPath;
    return path === 'status.podIP' || path === 'status.podIPs';
  });
}

/**
 * Returns true if namespaces are shared or outlive a container: a shared process namespace, a network that init
 * containers configure or whose address is needed, or network and IPC of several concurrent containers. A single
 * container owns its namespaces, which makes it start fastest. Namespaces of the host need no holder.
 */
export function needsSandbox(pod: Pod): boolean {
  const { containers, hostNetwork, hostIPC, shareProcessNamespace } = pod.spec;
  if (shareProcessNamespace) return true;
  if (containers.length + sidecarsOf(pod).length > 1) return !(hostNetwork && hostIPC);
  return !hostNetwork && (initContainersOf(pod).length > 0 || allContainersOf(pod).some(readsPodIP));
}

/**
 * Returns the container whose namespaces this container joins: the sandbox, or for an ephemeral container of a Pod
 * without one, the running container that owns the Pod's namespaces. Undefined: it gets its own.
 */
export function namespaceHolder(
  view: Pick<PodView, 'pod' | 'containers'>,
  { name }: Pick<Container, 'name'>,
): ObservedContainer | undefined {
  if (needsSandbox(view.pod)) return attemptsOf(view, SANDBOX)[0];
  if (containerRole(view.pod, name) !== 'ephemeral') return undefined;
  return view.pod.spec.containers
    .flatMap((container) => attemptsOf(view, container.name).slice(0, 1))
    .find(({ state }) => state === 'running');
}

/**
 * Returns the host's address for Pods in the host network, else the address of the Pod's network holder; undefined
 * while there is none.
 */
export function podAddress(
  view: Pick<PodView, 'pod' | 'containers'>,
  hostIP: string | undefined,
): string | undefined {
  if (view.pod.spec.hostNetwork) return view.containers.length > 0 ? hostIP : undefined;
  const holders = [SANDBOX, ...allContainersOf(view.pod).map((container) => container.name)];
  const newest = holders.flatMap((name) => attemptsOf(view, name).slice(0, 1));
  return newest.find((container) => container.ip)?.ip;
}
