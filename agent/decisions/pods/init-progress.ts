/** Progress of a Pod's init containers (pkg/kubelet/kuberuntime computeInitContainerActions). */
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import { type ObservedContainer, SANDBOX } from '../../runtime/runtime-driver.js';
import { BOOT_LABEL, SANDBOX_LABEL } from '../container-spec/container-labels.js';
import { attemptsOf, containerExitOf } from '../containers/container-attempts.js';
import { isStarted } from '../containers/container-local-state.js';
import { initContainersOf, isSidecar } from './pod-containers.js';
import type { PodView } from './pod-view.js';
import { needsSandbox } from './sandbox-need.js';

type InitView = Pick<PodView, 'pod' | 'containers' | 'progress' | 'bootMark'>;

/**
 * Returns the newest attempt of the Pod's current run: in its current sandbox or, without one, in this boot of the
 * host. The results of init containers are lost with either, so they run again.
 */
export function currentAttempt(view: InitView, name: string): ObservedContainer | undefined {
  const [newest] = attemptsOf(view, name);
  if (!newest) return undefined;
  if (!needsSandbox(view.pod)) return newest.labels[BOOT_LABEL] === view.bootMark ? newest : undefined;
  const [sandbox] = attemptsOf(view, SANDBOX);
  return sandbox && newest.labels[SANDBOX_LABEL] === sandbox.id ? newest : undefined;
}

/**
 * Returns the index of the current init container; their number once all are done and the main containers may start.
 */
export function currentInitIndex(view: InitView): number {
  const inits = initContainersOf(view.pod);
  if (view.pod.spec.containers.some(({ name }) => currentAttempt(view, name))) return inits.length;
  // A started init container proves that all earlier ones were done, whatever their state is now.
  const started = inits.map(({ name }) => currentAttempt(view, name));
  const last = started.findLastIndex((attempt) => attempt !== undefined);
  const container = inits[last];
  const attempt = started[last];
  if (!container || !attempt) return 0;
  return isDone(view, container, attempt) ? last + 1 : last;
}

function isDone(view: InitView, container: Container, attempt: ObservedContainer): boolean {
  if (isSidecar(container)) return isStarted(view, container, attempt);
  return containerExitOf(view, attempt)?.exitCode === 0;
}
