/** The next step for one container of a Pod. */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import { imageRetryState } from '../images/image-backoff.js';
import { currentAttempt } from '../pods/init-progress.js';
import { containerRole, findContainer } from '../pods/pod-containers.js';
import type { NextAction, StopReason } from '../pods/pod-step-types.js';
import type { PodView } from '../pods/pod-view.js';
import { namespaceHolder } from '../pods/sandbox-need.js';
import { attemptsOf, containerExitOf, restartTimeOf } from './container-attempts.js';
import { isPostStartPending, localStateOf } from './container-local-state.js';
import { stopStep } from './container-stop-order.js';
import { isChanged, restartsAfter } from './restart-policy.js';

const WAIT: NextAction = { kind: 'wait' };

/** Returns one step for this container, or until when it waits. */
export function containerStep(view: PodView, container: Container): NextAction {
  const [current] = attemptsOf(view, container.name);
  if (!current) return startStep(view, container, 0, 0);
  const next = current.identity.attempt + 1;
  if (current.state === 'running') return runningStep(view, container, current);
  if (isChanged(view, container, current)) return startStep(view, container, next, 0);
  const ending = containerExitOf(view, current);
  if (!ending) {
    const { attempt } = current.identity;
    return { kind: 'start-container', id: current.id, container: container.name, attempt };
  }
  const role = containerRole(view.pod, container.name);
  const startsFirst = role === 'init' || role === 'sidecar';
  const isOfAnotherRun = startsFirst && !currentAttempt(view, container.name);
  if (isOfAnotherRun && ending.exitCode === 0) return startStep(view, container, next, 0);
  if (!restartsAfter(view, container, current, ending)) return WAIT;
  const restart = restartTimeOf(view, current, ending);
  if (restart.at > view.now) return { kind: 'wait', until: restart.at };
  return startStep(view, container, next, restart.nextBackoffMs);
}

/** Returns true while the container starts for the first time without errors. Later containers wait for that. */
export function isComingUp(view: PodView, container: Container): boolean {
  const { images, failures } = view.progress;
  const [current] = attemptsOf(view, container.name);
  if (current?.state === 'running') return isPostStartPending(view, container, current);
  if (current && current.identity.attempt > 0) return false;
  if (current) return containerExitOf(view, current) === undefined;
  return ownValue(images, container.name)?.kind !== 'failed' && !ownValue(failures, container.name);
}

function runningStep(view: PodView, container: Container, current: ObservedContainer): NextAction {
  const why = reasonToEnd(view, container, current);
  if (why) return stopStep(view, [current], view.now + graceMs(view, container, why), why);
  const isBegun = localStateOf(view, current.id).postStart !== undefined;
  if (!isBegun && isPostStartPending(view, container, current)) {
    return { kind: 'run-post-start', id: current.id, container: container.name };
  }
  return WAIT;
}

function reasonToEnd(
  view: PodView,
  container: Container,
  current: ObservedContainer,
): StopReason | undefined {
  if (isChanged(view, container, current)) return 'changed';
  const { postStart, unhealthy } = localStateOf(view, current.id);
  return postStart === 'failed' ? 'post-start-failed' : unhealthy;
}

/** A failed probe may define its own grace period (pkg/kubelet/kuberuntime setTerminationGracePeriod). */
function graceMs(view: PodView, container: Container, why: StopReason): number {
  const probe =
    why === 'liveness' ? container.livenessProbe : why === 'startup' ? container.startupProbe : undefined;
  const seconds = probe?.terminationGracePeriodSeconds ?? view.pod.spec.terminationGracePeriodSeconds ?? 30;
  return seconds * 1000;
}

function startStep(view: PodView, container: Container, attempt: number, backoffMs: number): NextAction {
  const { name } = container;
  const failure = ownValue(view.progress.failures, name);
  // A failed start is a finished attempt; its successor has only the restart back-off.
  if (failure?.attempt === attempt && failure.retryAt > view.now) {
    return { kind: 'wait', until: failure.retryAt };
  }
  const image = imageStep(view, container);
  if (image) return image;
  const holder = namespaceHolder(view, container);
  const joined = holder ? { sandboxID: holder.id } : {};
  const { targetContainerName } = findContainer(view.pod, name) ?? {};
  const [target] = targetContainerName ? attemptsOf(view, targetContainerName) : [];
  const targeted = target ? { targetID: target.id } : {};
  return { kind: 'create-container', container: name, attempt, backoffMs, ...joined, ...targeted };
}

/** Returns the step towards the container's image, or undefined once it is ready. */
export function imageStep({ progress, now }: PodView, { name, image }: Container): NextAction | undefined {
  const state = ownValue(progress.images, name) ?? { kind: 'unchecked' };
  if (state.kind === 'ready') return undefined;
  if (state.kind === 'fetching') return WAIT;
  if (state.kind === 'unchecked') return { kind: 'ensure-image', container: name };
  const wait = imageRetryState(image, state.failed, now);
  return wait.retryAt > now
    ? { kind: 'wait', until: wait.nextChangeAt }
    : { kind: 'ensure-image', container: name };
}
