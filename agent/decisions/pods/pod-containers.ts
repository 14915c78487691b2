/** Containers of a Pod by their role. */
import type { Container, EphemeralContainer, Pod } from '../../../shared/kube/pods/pod-types.js';

/**
 * `init`: runs to completion before the main containers. `sidecar`: starts among the init containers and keeps running.
 * `ephemeral`: is added to the running Pod and never restarted.
 */
type ContainerRole = 'init' | 'sidecar' | 'main' | 'ephemeral';

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

/** Returns the containers that were added to the running Pod, to find errors in it. */
export function ephemeralContainersOf(pod: Pick<Pod, 'spec'>): readonly EphemeralContainer[] {
  return pod.spec.ephemeralContainers ?? [];
}

/** Returns all containers but the ephemeral ones, in start order. */
export function allContainersOf(pod: Pick<Pod, 'spec'>): Container[] {
  return [...initContainersOf(pod), ...pod.spec.containers];
}

/** Returns the images of all containers without duplicates. */
export function podImages(pod: Pick<Pod, 'spec'>): string[] {
  return [...new Set(allContainersOf(pod).map(({ image }) => image))];
}

/** Returns the container of this name and of any role; undefined if the spec has none. */
export function findContainer(pod: Pick<Pod, 'spec'>, name: string): EphemeralContainer | undefined {
  return [...allContainersOf(pod), ...ephemeralContainersOf(pod)].find(
    (container) => container.name === name,
  );
}

/** Returns the role of the container of this name; `main` for an unknown name. */
export function containerRole(pod: Pick<Pod, 'spec'>, name: string): ContainerRole {
  const init = initContainersOf(pod).find((container) => container.name === name);
  if (!init) return ephemeralContainersOf(pod).some((each) => each.name === name) ? 'ephemeral' : 'main';
  return isSidecar(init) ? 'sidecar' : 'init';
}
