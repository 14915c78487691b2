/** Containers of a Pod by their role. */
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';

/**
 * `init`: runs to completion before the main containers. `sidecar`: starts among the init containers and keeps running.
 */
type ContainerRole = 'init' | 'sidecar' | 'main';

/** Returns true for an init container with restartPolicy Always (pkg/kubelet/types IsRestartableInitContainer). */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** Returns init containers and sidecars in start order. */
export function initContainersOf(pod: Pick<Pod, 'spec'>): readonly Container[] {
  return pod.spec.initContainers ?? [];
}

/** Returns the sidecars in start order. */
export function sidecarsOf(pod: Pick<Pod, 'spec'>): Container[] {
  return initContainersOf(pod).filter(isSidecar);
}

/** Returns all containers in start order. */
export function allContainersOf(pod: Pick<Pod, 'spec'>): Container[] {
  return [...initContainersOf(pod), ...pod.spec.containers];
}

/** Returns the images of all containers without duplicates. */
export function podImages(pod: Pick<Pod, 'spec'>): string[] {
  return [...new Set(allContainersOf(pod).map(({ image }) => image))];
}

/** Returns the container of this name, including init containers; undefined if the spec has none. */
export function findContainer(pod: Pick<Pod, 'spec'>, name: string): Container | undefined {
  return allContainersOf(pod).find((container) => container.name === name);
}

/** Returns the role of the container of this name; `main` for an unknown name. */
export function containerRole(pod: Pick<Pod, 'spec'>, name: string): ContainerRole {
  const init = initContainersOf(pod).find((container) => container.name === name);
  if (!init) return 'main';
  return isSidecar(init) ? 'sidecar' : 'init';
}
