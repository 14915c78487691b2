/**
 * Decides whether an exited container is started again (pkg/kubelet/container/helpers.go ShouldContainerBeRestarted).
 */
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import { fullImageName } from '../images/image-name.js';
import { containerRole } from '../pods/pod-containers.js';
import type { PodView } from '../pods/pod-view.js';
import type { ContainerExit } from './container-attempts.js';
import { localStateOf } from './container-local-state.js';

/**
 * Returns true if the image changed (pkg/kubelet/container HashContainer); a completed init container is never
 * restarted for that.
 */
export function isChanged(
  view: Pick<PodView, 'pod'>,
  container: Container,
  current: ObservedContainer,
): boolean {
  const role = containerRole(view.pod, container.name);
  return role !== 'init' && role !== 'ephemeral' && current.image !== fullImageName(container.image);
}

/** Returns true if another attempt follows. The exit code of an unhealthy container is ignored. */
export function restartsAfter(
  view: Pick<PodView, 'pod' | 'progress'>,
  container: Container,
  current: ObservedContainer,
  ending: ContainerExit,
): boolean {
  const { restartPolicy } = view.pod.spec;
  if (isChanged(view, container, current)) return true;
  switch (containerRole(view.pod, container.name)) {
    case 'ephemeral':
      return false;
    case 'sidecar':
      return true;
    case 'init':
      return ending.exitCode !== 0 && restartPolicy !== 'Never';
    case 'main':
      if (restartPolicy === 'Never') return false;
      if (restartPolicy !== 'OnFailure') return true;
      return ending.exitCode !== 0 || localStateOf(view, current.id).unhealthy !== undefined;
  }
}
