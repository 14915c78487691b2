/** The containers of a Pod by the part that they play. */
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';

/** `init`: runs to its end before the others start. `sidecar`: starts among the init containers and stays. */
type ContainerRole = 'init' | 'sidecar' | 'main';

/** An init container that is restarted whenever it ends (pkg/kubelet/types IsRestartableInitContainer). */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** Init containers and sidecars, in the order in which they start. */
export function initContainersOf(pod: Pick<Pod, 'spec'>): readonly Container[] {
  return pod.spec.initContainers ?? [];
}

/** Init containers that run on beside the main ones (restartPolicy Always), in order. */
export function sidecarsOf(pod: Pick<Pod, 'spec'>): Container[] {
  return initContainersOf(pod).filter(isSidecar);
}

/** All containers of the spec, in the order in which they start. */
export function allContainersOf(pod: Pick<Pod, 'spec'>): Container[] {
  return [...initContainersOf(pod), ...pod.spec.containers];
}

/** The images that its containers name, each once. */
export function podImages(pod: Pick<Pod, 'spec'>): string[] {
  return [...new Set(allContainersOf(pod).map(({ image }) => image))];
}

/** The container of this name, init containers included; undefined when the spec has none. */
export function findContainer(pod: Pick<Pod, 'spec'>, name: string): Container | undefined {
  return allContainersOf(pod).find((container) => container.name === name);
}

/** The part of the container of this name; a name that the spec does not know counts as `main`. */
export function containerRole(pod: Pick<Pod, 'spec'>, name: string): ContainerRole {
  const init = initContainersOf(pod).find((container) => container.name === name);
  if (!init) return 'main';
  return isSidecar(init) ? 'sidecar' : 'init';
}
