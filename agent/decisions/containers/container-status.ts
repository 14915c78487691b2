/** Status of one container as in a kubelet (pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses). */
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type {
  Container,
  ContainerState,
  ContainerStateTerminated,
  ContainerStateWaiting,
  ContainerStatus,
} from '../../../shared/kube/pods/pod-types.js';
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import { ephemeralRejection } from '../admission/pod-admission.js';
import { imageRetryState } from '../images/image-backoff.js';
import { currentAttempt } from '../pods/init-progress.js';
import { isPodFinished } from '../pods/pod-completion.js';
import { containerRole, initContainersOf } from '../pods/pod-containers.js';
import type { PodView } from '../pods/pod-view.js';
import { attemptsOf, containerExitOf, restartTimeOf, terminatedState } from './container-attempts.js';
import { isPostStartPending, isReady, isStarted, localStateOf } from './container-local-state.js';
import { restartsAfter } from './restart-policy.js';

/** Returns the status of one container of the spec. `engine`: scheme of container ids, e.g. `docker`. */
export function containerStatus(view: PodView, container: Container, engine: string): ContainerStatus {
  const [current, previous] = attemptsOf(view, container.name);
  if (!current) return neverStarted(view, container);
  const ended = (attempt: ObservedContainer | undefined): ContainerStateTerminated | undefined => {
    const ending = attempt && containerExitOf(view, attempt);
    return ending && terminatedState(attempt, ending, `${engine}://${attempt.id}`);
  };
  const terminated = ended(current);
  const waiting = terminated ? waitingAfterEnd(view, container, current) : undefined;
  // While the next attempt is pending, the newest result is the last state.
  const last = waiting ? terminated : ended(previous);
  const state = stateOf(view, container, current, terminated, waiting);
  const role = containerRole(view.pod, container.name);
  return {
    name: container.name,
    state,
    lastState: last ? { terminated: last } : {},
    ready: isReadyInRole(view, container, current, state),
    restartCount: current.identity.attempt,
    image: current.image,
    imageID: current.imageID,
    containerID: `${engine}://${current.id}`,
    ...(role === 'ephemeral' ? {} : { started: isStarted(view, container, current) }),
  };
}

/** An init container is ready once it has completed. An ephemeral container never is: it serves nobody. */
function isReadyInRole(
  view: PodView,
  container: Container,
  current: ObservedContainer,
  { terminated }: ContainerState,
): boolean {
  switch (containerRole(view.pod, container.name)) {
    case 'ephemeral':
      return false;
    case 'init':
      return terminated?.exitCode === 0;
    default:
      return isReady(view, container, current);
  }
}

function neverStarted(view: PodView, container: Container): ContainerStatus {
  const isEphemeral = containerRole(view.pod, container.name) === 'ephemeral';
  const rejection = isEphemeral ? ephemeralRejection(view.pod, container, view.isolation) : undefined;
  const waiting = rejection ?? startTrouble(view, container, 0) ?? notYet(view);
  return {
    name: container.name,
    state: { waiting },
    lastState: {},
    ready: false,
    restartCount: 0,
    image: container.image,
    imageID: '',
    ...(isEphemeral ? {} : { started: false }),
  };
}

/** Returns the waiting state of a container without errors. */
function notYet({ pod }: PodView): ContainerStateWaiting {
  return { reason: initContainersOf(pod).length > 0 ? 'PodInitializing' : 'ContainerCreating' };
}

/** A container shows as running only after its postStart hook. */
function stateOf(
  view: PodView,
  container: Container,
  current: ObservedContainer,
  terminated: ContainerStateTerminated | undefined,
  waiting: ContainerStateWaiting | undefined,
): ContainerState {
  if (waiting) return { waiting };
  if (terminated) return { terminated };
  if (localStateOf(view, current.id).postStart === 'failed')
    return { waiting: { reason: 'PostStartHookError' } };
  if (current.state === 'running' && !isPostStartPending(view, container, current)) {
    return { running: { startedAt: toTimestamp(current.startedAt ?? current.createdAt) } };
  }
  return { waiting: notYet(view) };
}

/** Returns why the next attempt is delayed; undefined if there is none or it starts at once. */
function waitingAfterEnd(
  view: PodView,
  container: Container,
  current: ObservedContainer,
): ContainerStateWaiting | undefined {
  const ending = containerExitOf(view, current);
  if (!ending || view.desired.kind === 'stop' || view.terminal || isPodFinished(view)) return undefined;
  // The attempt of this init container was removed, and its results are lost. The container must run again.
  const role = containerRole(view.pod, container.name);
  const startsFirst = role === 'init' || role === 'sidecar';
  if (startsFirst && !currentAttempt(view, container.name)) return notYet(view);
  if (!restartsAfter(view, container, current, ending)) return undefined;
  const trouble = startTrouble(view, container, current.identity.attempt + 1);
  if (trouble) return trouble;
  const restart = restartTimeOf(view, current, ending);
  if (restart.delayMs === 0 || restart.at <= view.now) return undefined;
  return { reason: 'CrashLoopBackOff', message: crashLoopMessage(view, container.name, restart.delayMs) };
}

/** Returns `back-off 10s restarting failed container=app pod=ds-x_default(uid)`. */
function crashLoopMessage(view: PodView, container: string, delayMs: number): string {
  const { name, namespace, uid } = view.pod.metadata;
  return `back-off ${durationText(delayMs)} restarting failed container=${container} pod=${name}_${namespace}(${uid})`;
}

/** Returns `10s`, `1m20s`, `5m0s`: a duration in Go's format. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

/** Returns why this attempt cannot be created: its image, or the engine's refusal. */
function startTrouble(
  view: PodView,
  container: Container,
  attempt: number,
): ContainerStateWaiting | undefined {
  const image = ownValue(view.progress.images, container.name);
  const failed = image && image.kind !== 'ready' ? image.failed : undefined;
  if (failed) {
    const { reason, message } = imageRetryState(container.image, failed, view.now);
    return { reason, message };
  }
  const failure = ownValue(view.progress.failures, container.name);
  if (failure?.attempt !== attempt) return undefined;
  return { reason: failure.reason, message: failure.message };
}
