/** The one step that brings a Pod's containers nearer to what is wanted (pkg/kubelet/kuberuntime computePodActions). */
import type { Container } from '../../shared/kube/pod.js';
import { type ObservedContainer, SANDBOX } from '../runtime/driver.js';
import { type Rejection, rejectionOf } from './admission.js';
import { attemptsOf, endingOf, mayRestart, restartTimeOf } from './attempts.js';
import { imageBackoff } from './image-backoff.js';
import { fullImageName } from './image-name.js';
import { EVICTED, type PodEnd, type PodView } from './pod-view.js';
import { needsSandbox } from './sandbox-need.js';
import { showsFiles } from './volume-files.js';

/** Every kind of step with what its performer is told; `NextAction` and the performers' record derive from it. */
export interface Steps {
  /** Nothing to do before `until` (ms since the epoch), or before something happens. */
  wait: { until?: number };
  /** The host may not run the Pod at all. */
  reject: { rejection: Rejection };
  'prepare-volumes': object;
  /** Bring the files that show ConfigMaps, Secrets and fields of the Pod up to date. */
  'refresh-volumes': object;
  'ensure-image': { container: string };
  'create-sandbox': { attempt: number; backoffMs: number };
  'create-container': { container: string; attempt: number; backoffMs: number; sandboxID?: string };
  'start-container': { id: string; container: string; attempt: number };
  /** Ask these running containers to end by `deadline` (ms since the epoch). */
  'stop-containers': { ids: string[]; deadline: number; why: StopReason };
  'remove-containers': { ids: string[] };
  'remove-volumes': object;
  /** Containers and volumes are gone: tell the hub. */
  finish: object;
}

export type StopReason = 'deletion' | 'changed' | 'sandbox-lost';

export type NextAction = { [Kind in keyof Steps]: { kind: Kind } & Steps[Kind] }[keyof Steps];

const WAIT: NextAction = { kind: 'wait' };

/** Attempts of one container that are kept: the newest, and the one before it for `lastState` and `logs --previous`. */
const KEPT_ATTEMPTS = 2;

/** Exactly one step; performing it and asking again ends in `wait` (or, for a Pod to be ended, in `finish`). */
export function nextAction(view: PodView): NextAction {
  if (view.wish.kind === 'stop') return nextStopAction(view, view.wish.deadline);
  return view.givenUp ? nextGivenUpAction(view, view.givenUp) : nextRunAction(view);
}

/**
 * Ends the containers and gives back what they took of the host. Those of an eviction go too, to free their layers
 * (pkg/kubelet deleteContainersInPod); others stay for their logs until the Pod is deleted.
 */
function nextGivenUpAction(view: PodView, { deadline, reason }: PodEnd): NextAction {
  const running = view.containers.filter((container) => container.state === 'running');
  if (running.length > 0) return stopAction(view, running, deadline, 'deletion') ?? WAIT;
  if (reason === EVICTED && view.containers.length > 0) return removeAll(view);
  return view.progress.volumes.kind === 'removed' ? WAIT : { kind: 'remove-volumes' };
}

function removeAll(view: PodView): NextAction {
  return { kind: 'remove-containers', ids: view.containers.map((container) => container.id) };
}

function nextStopAction(view: PodView, deadline: number): NextAction {
  const running = view.containers.filter((container) => container.state === 'running');
  const stop = stopAction(view, running, deadline, 'deletion');
  if (stop) return stop;
  if (running.length > 0) return WAIT;
  if (view.containers.length > 0) return removeAll(view);
  return view.progress.volumes.kind === 'removed' ? { kind: 'finish' } : { kind: 'remove-volumes' };
}

/** Stops those that were not asked yet, or were given more time than is left now. */
function stopAction(
  view: PodView,
  containers: readonly ObservedContainer[],
  deadline: number,
  why: StopReason,
): NextAction | undefined {
  const ids = containers
    .map((container) => container.id)
    .filter((id) => (view.progress.stopping[id] ?? Number.POSITIVE_INFINITY) > deadline);
  return ids.length > 0 ? { kind: 'stop-containers', ids, deadline, why } : undefined;
}

function nextRunAction(view: PodView): NextAction {
  const rejection = view.containers.length === 0 ? rejectionOf(view.pod, view.isolation) : undefined;
  if (rejection) return { kind: 'reject', rejection };
  if (view.waitsForPredecessor || hasEnded(view)) return superseded(view) ?? WAIT;
  const steps = [volumeStep(view), sandboxStep(view)];
  const blocked = steps.find((step) => step !== undefined);
  if (blocked) return blocked;
  const refreshAt = refreshTime(view);
  if (refreshAt !== undefined && refreshAt <= view.now) return { kind: 'refresh-volumes' };
  const containerSteps = view.pod.spec.containers.map((container) => containerStep(view, container));
  const active = containerSteps.find((step) => step.kind !== 'wait');
  const refresh: NextAction[] = refreshAt === undefined ? [] : [{ kind: 'wait', until: refreshAt }];
  return active ?? superseded(view) ?? earliest([...containerSteps, ...refresh]);
}

/** When the files of a Pod that runs are to be looked at; an agent that has just started does not know how they are. */
function refreshTime({ progress: { volumes }, pod, containers }: PodView): number | undefined {
  if (volumes.kind === 'ready') return volumes.refreshAt;
  const isRunning = containers.some(({ state }) => state === 'running');
  return volumes.kind === 'unprepared' && isRunning && showsFiles(pod) ? 0 : undefined;
}

/** A hollow host may be told that the Pod is over; nothing is started then. */
function hasEnded(view: PodView): boolean {
  return view.containers.some((container) => container.podPhase !== undefined);
}

function volumeStep(view: PodView): NextAction | undefined {
  const { volumes } = view.progress;
  if (volumes.kind === 'ready' || !view.pod.spec.containers.some((container) => isToStart(view, container))) {
    return undefined;
  }
  if (volumes.kind === 'failed' && view.now < volumes.failure.retryAt) {
    return { kind: 'wait', until: volumes.failure.retryAt };
  }
  return { kind: 'prepare-volumes' };
}

/** True unless it runs already or has ended for good. */
function isToStart(view: PodView, container: Container): boolean {
  const [current] = attemptsOf(view, container.name);
  if (!current) return true;
  if (current.state === 'running') return false;
  const ending = endingOf(view, current);
  return ending === undefined || mayRestart(view.pod.spec.restartPolicy, ending.exitCode);
}

/** What must happen before the containers can join a running sandbox; undefined when nothing. */
function sandboxStep(view: PodView): NextAction | undefined {
  if (!needsSandbox(view.pod)) return undefined;
  const { containers } = view.pod.spec;
  const running = containers
    .map((container) => attemptsOf(view, container.name)[0])
    .filter((current) => current?.state === 'running') as ObservedContainer[];
  const [sandbox] = attemptsOf(view, SANDBOX);
  if (sandbox?.state === 'running') return undefined;
  if (running.length > 0) {
    return stopAction(view, running, view.now + graceMs(view), 'sandbox-lost') ?? WAIT;
  }
  if (!containers.some((container) => isToStart(view, container))) return undefined;
  if (sandbox?.state === 'created' && !endingOf(view, sandbox)) {
    return { kind: 'start-container', id: sandbox.id, container: SANDBOX, attempt: sandbox.identity.attempt };
  }
  return newSandbox(view, sandbox);
}

function newSandbox(view: PodView, last: ObservedContainer | undefined): NextAction {
  const failure = view.progress.failures[SANDBOX];
  if (failure && failure.retryAt > view.now) return { kind: 'wait', until: failure.retryAt };
  if (!last) return { kind: 'create-sandbox', attempt: 0, backoffMs: 0 };
  const ending = endingOf(view, last) ?? { exitCode: 0, finishedAt: last.createdAt, reason: 'Error' };
  const restart = restartTimeOf(view, last, ending);
  if (restart.at > view.now) return { kind: 'wait', until: restart.at };
  return {
    kind: 'create-sandbox',
    attempt: last.identity.attempt + 1,
    backoffMs: restart.nextBackoffMs,
  };
}

function containerStep(view: PodView, container: Container): NextAction {
  const [current] = attemptsOf(view, container.name);
  if (!current) return startStep(view, container, 0, 0);
  const changed = isChanged(current, container);
  const next = current.identity.attempt + 1;
  if (current.state === 'running') {
    if (!changed) return WAIT;
    return stopAction(view, [current], view.now + graceMs(view), 'changed') ?? WAIT;
  }
  if (changed) return startStep(view, container, next, 0);
  const ending = endingOf(view, current);
  if (!ending) {
    const { attempt } = current.identity;
    return { kind: 'start-container', id: current.id, container: container.name, attempt };
  }
  if (!mayRestart(view.pod.spec.restartPolicy, ending.exitCode)) return WAIT;
  const restart = restartTimeOf(view, current, ending);
  if (restart.at > view.now) return { kind: 'wait', until: restart.at };
  return startStep(view, container, next, restart.nextBackoffMs);
}

/** Only another image restarts a running container (pkg/kubelet/container HashContainer). */
function isChanged(current: ObservedContainer, container: Container): boolean {
  return current.image !== fullImageName(container.image);
}

function startStep(view: PodView, container: Container, attempt: number, backoffMs: number): NextAction {
  const { name } = container;
  const failure = view.progress.failures[name];
  // A start that failed is an ended attempt: the next one waits for the restart back-off alone.
  if (failure?.attempt === attempt && failure.retryAt > view.now) {
    return { kind: 'wait', until: failure.retryAt };
  }
  const image = view.progress.images[name] ?? { kind: 'unchecked' };
  switch (image.kind) {
    case 'unchecked':
      return { kind: 'ensure-image', container: name };
    case 'fetching':
      return WAIT;
    case 'failed': {
      const wait = imageBackoff(container.image, image.failed, view.now);
      if (wait.retryAt > view.now) return { kind: 'wait', until: wait.nextChangeAt };
      return { kind: 'ensure-image', container: name };
    }
    case 'ready': {
      const [sandbox] = needsSandbox(view.pod) ? attemptsOf(view, SANDBOX) : [];
      const joined = sandbox ? { sandboxID: sandbox.id } : {};
      return { kind: 'create-container', container: name, attempt, backoffMs, ...joined };
    }
  }
}

function graceMs(view: PodView): number {
  return (view.pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
}

/** Removes attempts that no one can ask about any more, once nothing more urgent is left. */
function superseded(view: PodView): NextAction | undefined {
  const names = new Set(view.containers.map((container) => container.identity.container));
  const ids = [...names].flatMap((name) => {
    const kept = name === SANDBOX ? 1 : KEPT_ATTEMPTS;
    const old = attemptsOf(view, name).slice(kept);
    return old.filter((container) => container.state !== 'running').map((container) => container.id);
  });
  return ids.length > 0 ? { kind: 'remove-containers', ids } : undefined;
}

function earliest(steps: readonly NextAction[]): NextAction {
  const times = steps.flatMap((step) =>
    step.kind === 'wait' && step.until !== undefined ? [step.until] : [],
  );
  return times.length > 0 ? { kind: 'wait', until: Math.min(...times) } : WAIT;
}
