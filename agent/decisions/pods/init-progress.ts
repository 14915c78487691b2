/** How far a Pod's init containers have come (pkg/kubelet/kuberuntime computeInitContainerActions). */
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
 * The newest attempt that belongs to the Pod's present run: to its present sandbox or, without one, to this boot of the
 * host. What init containers set up is lost with either, so they run again then.
 */
export function currentAttempt(view: InitView, name: string): ObservedContainer | undefined {
  const [newest] = attemptsOf(view, name);
  if (!newest) return undefined;
  if (!needsSandbox(view.pod)) return newest.labels[BOOT_LABEL] === view.bootMark ? newest : undefined;
  const [sandbox] = attemptsOf(view, SANDBOX);
  return sandbox && newest.labels[SANDBOX_LABEL] === sandbox.id ? newest : undefined;
}

/** Index of the init container whose turn it is; their number once all are done and the others may start. */
export function currentInitIndex(view: InitView): number {
  const inits = initContainersOf(view.pod);
  if (view.pod.spec.containers.some(({ name }) => currentAttempt(view, name))) return inits.length;
  // Whoever was begun has all before it done, whatever became of those since.
  const begun = inits.map(({ name }) => currentAttempt(view, name));
  const last = begun.findLastIndex((attempt) => attempt !== undefined);
  const container = inits[last];
  const attempt = begun[last];
  if (!container || !attempt) return 0;
  return isDone(view, container, attempt) ? last + 1 : last;
}

function isDone(view: InitView, container: Container, attempt: ObservedContainer): boolean {
  if (isSidecar(container)) return isStarted(view, container, attempt);
  return containerExitOf(view, attempt)?.exitCode === 0;
}
