/** Decides the next step for a Pod's containers (pkg/kubelet/kuberuntime computePodActions). */
import { countedPhaseOf } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Container, EphemeralContainer } from '../../../shared/kube/pods/pod-types.js';
import { type ObservedContainer, SANDBOX } from '../../runtime/runtime-driver.js';
import {
  ephemeralRejection,
  podRejection,
  policyRejection,
  type Rejection,
} from '../admission/pod-admission.js';
import { resourceAdmission } from '../admission/resource-admission.js';
import { SANDBOX_LABEL, TARGET_LABEL } from '../container-spec/container-labels.js';
import { showsFiles } from '../container-spec/volume-files.js';
import { attemptsOf, containerExitOf, restartTimeOf } from '../containers/container-attempts.js';
import { containerStep, imageStep, isComingUp } from '../containers/container-step.js';
import { stopStep } from '../containers/container-stop-order.js';
import { lostEphemeral } from '../containers/ephemeral-record.js';
import { restartsAfter } from '../containers/restart-policy.js';
import { pressureRejection } from '../eviction/pressure-admission.js';
import { currentInitIndex } from './init-progress.js';
import { lostRunPhase } from './lost-job-run.js';
import { activeDeadline, isPodFinished } from './pod-completion.js';
import { ephemeralContainersOf, initContainersOf, isSidecar } from './pod-containers.js';
import type { NextAction, StopReason } from './pod-step-types.js';
import { EVICTED, type PodTermination, type PodView, PREEMPTED } from './pod-view.js';
import { namespaceHolder, needsSandbox } from './sandbox-need.js';

const WAIT: NextAction = { kind: 'wait' };

/** Number of attempts kept per container: the newest, and the one before it for `lastState` and `logs --previous`. */
const KEPT_ATTEMPTS = 2;

/** Returns exactly one step. Repeated calls end with `wait`, or with `finish` for a Pod to be stopped. */
export function nextAction(view: PodView): NextAction {
  if (view.desired.kind === 'stop') return nextStopAction(view, view.desired.deadline);
  if (view.terminal) return nextTerminalAction(view, view.terminal);
  // Its containers may be pruned from the engine. A job that succeeded must not run again.
  if (countedPhaseOf(view.pod) && runningOf(view).length === 0) return superseded(view) ?? WAIT;
  if (lostRunPhase(view)) return nextFinishedAction(view);
  if (view.waitsForPredecessor || isPhaseOrdered(view)) return superseded(view) ?? WAIT;
  const isNew = view.containers.length === 0;
  // Before admission: a Pod that starts tonight needs nothing of the host now.
  const gated = isNew ? gateStep(view) : undefined;
  if (gated) return gated;
  const rejection = isNew ? refusal(view) : policyRejection(view.pod, view.isolation);
  if (rejection) return { kind: 'reject', rejection };
  if (isNew && view.capacity) return admissionStep(view, view.capacity);
  return isPodFinished(view) ? nextFinishedAction(view) : nextRunAction(view);
}

function gateStep(view: PodView): NextAction | undefined {
  const { startGate: gate, now, pod } = view;
  if (!gate || (gate.kind === 'open' && !gate.pullsFirst)) return undefined;
  const rejection = policyRejection(pod, view.isolation);
  if (rejection) return { kind: 'reject', rejection };
  if (gate.kind === 'missed') return { kind: 'reject', rejection: gate.rejection };
  if (gate.kind === 'wait' && gate.replaces.length > 0) return { kind: 'replace', victims: gate.replaces };
  // The host may be offline when the time comes, so it gets the images before.
  const images = [...initContainersOf(pod), ...pod.spec.containers].map((each) => imageStep(view, each));
  const pull = images.find((step) => step !== undefined && step.kind !== 'wait');
  if (pull) return pull;
  const pulls = images.filter((step) => step !== undefined);
  if (gate.kind === 'open') return pulls.length > 0 ? earliest(pulls) : undefined;
  return earliest([...pulls, { kind: 'wait', until: now + gate.againMs }]);
}

/** Interval of checks whether other Pods have released their resources, ms. */
const CAPACITY_POLL_MS = 1_000;

function admissionStep({ pod, now }: PodView, capacity: NonNullable<PodView['capacity']>): NextAction {
  const admission = resourceAdmission(pod, capacity);
  return admission.kind === 'wait' ? { kind: 'wait', until: now + CAPACITY_POLL_MS } : admission;
}

function refusal({ pod, isolation, takenPorts, pressures = [] }: PodView): Rejection | undefined {
  return podRejection(pod, isolation, takenPorts) ?? pressureRejection(pod, pressures);
}

/** Reasons for which a kubelet ends a Pod with `evict` (pkg/kubelet/pod_workers.go ShouldPodContentBeRemoved). */
const REMOVED_WITH_LOGS: ReadonlySet<string> = new Set([EVICTED, PREEMPTED.reason]);

/**
 * Stops the containers and releases the host's resources. An evicted or preempted Pod's containers are removed to free
 * their layers (pkg/kubelet deleteContainersInPod); others keep their logs until the Pod is deleted.
 */
function nextTerminalAction(view: PodView, { deadline, reason }: PodTermination): NextAction {
  const stop = stopAll(view, deadline, 'over');
  if (stop) return stop;
  if (REMOVED_WITH_LOGS.has(reason) && view.containers.length > 0) return removeAll(view);
  return view.progress.volumes.kind === 'removed' ? WAIT : { kind: 'remove-volumes' };
}

function removeAll(view: PodView): NextAction {
  return { kind: 'remove-containers', ids: view.containers.map((container) => container.id) };
}

/** Stops running containers, the sandbox last; returns undefined if none runs. */
function stopAll(view: PodView, deadline: number, why: StopReason): NextAction | undefined {
  const running = runningOf(view);
  if (running.length > 0) return stopStep(view, running, deadline, why);
  const sandbox = view.containers.filter(({ state }) => state === 'running');
  return sandbox.length > 0 ? stopStep(view, sandbox, deadline, why) : undefined;
}

/** A simulated host may be ordered that the Pod is finished; then nothing starts or stops. */
function isPhaseOrdered(view: PodView): boolean {
  return view.containers.some((container) => container.podPhase !== undefined);
}

function nextStopAction(view: PodView, deadline: number): NextAction {
  const running = runningOf(view);
  if (running.length > 0) return stopStep(view, running, deadline, 'deletion');
  // A running sandbox needs no graceful stop: it is killed.
  if (view.containers.length > 0) return removeAll(view);
  return view.progress.volumes.kind === 'removed' ? { kind: 'finish' } : { kind: 'remove-volumes' };
}

/** Stops running containers and keeps exited ones: their states and logs are available until the Pod is deleted. */
function nextFinishedAction(view: PodView): NextAction {
  return stopAll(view, view.now + graceMs(view), 'over') ?? superseded(view) ?? WAIT;
}

function nextRunAction(view: PodView): NextAction {
  const deadline = activeDeadline(view);
  if (deadline !== undefined && view.now >= deadline) return { kind: 'exceed-deadline' };
  const wanted = wantedNow(view);
  const ephemeral = startableEphemerals(view);
  const blocked = volumeStep(view, [...wanted, ...ephemeral]) ?? sandboxStep(view, wanted);
  if (blocked) return blocked;
  const refreshAt = refreshTime(view);
  if (refreshAt !== undefined && refreshAt <= view.now) return { kind: 'refresh-volumes' };
  const steps = [
    ...containerSteps(view, wanted),
    ...ephemeral.map((container) => ephemeralStep(view, container)),
  ];
  const active = steps.find((step) => step.kind !== 'wait');
  if (active) return active;
  const times = [deadline, refreshAt].filter((until) => until !== undefined);
  return (
    superseded(view) ?? earliest([...steps, ...times.map((until) => ({ kind: 'wait', until }) as const)])
  );
}

/**
 * Returns when to refresh the files of a running Pod. A restarted agent does not know their state, so it refreshes at
 * once.
 */
function refreshTime({ progress: { volumes }, pod, containers }: PodView): number | undefined {
  if (volumes.kind === 'ready') return volumes.refreshAt;
  const isRunning = containers.some(({ state }) => state === 'running');
  return volumes.kind === 'unprepared' && isRunning && showsFiles(pod) ? 0 : undefined;
}

/** Returns the containers that should run now: the started sidecars, then one init container or all main containers. */
function wantedNow(view: PodView): Container[] {
  const inits = initContainersOf(view.pod);
  const reached = currentInitIndex(view);
  const sidecars = inits.slice(0, reached).filter(isSidecar);
  const next = inits[reached];
  return [...sidecars, ...(next ? [next] : view.pod.spec.containers)];
}

/**
 * Returns the ephemeral containers that may be started: they join the namespaces of a running container, and the
 * process namespace of their target. They start even before the init containers are done, as in a kubelet.
 */
function startableEphemerals(view: PodView): EphemeralContainer[] {
  return ephemeralContainersOf(view.pod).filter((container) => {
    const { targetContainerName: target } = container;
    const targeted = target ? attemptsOf(view, target)[0] : undefined;
    const isTargetUp = !target || targeted?.state === 'running';
    if (lostEphemeral(view, container.name)) return false;
    return isTargetUp && namespaceHolder(view, container)?.state === 'running';
  });
}

/** The host's policy refuses a single ephemeral container. It must not end the Pod, whose own containers comply. */
function ephemeralStep(view: PodView, container: EphemeralContainer): NextAction {
  return ephemeralRejection(view.pod, container, view.isolation) ? WAIT : containerStep(view, container);
}

/** A container waits for the first start of earlier ones, including their hooks, as a kubelet starts them in order. */
function containerSteps(view: PodView, wanted: readonly Container[]): NextAction[] {
  let isHeld = false;
  return wanted.map((container) => {
    const step = containerStep(view, container);
    const assigned = isHeld && (step.kind === 'create-container' || step.kind === 'start-container');
    isHeld ||= isComingUp(view, container);
    return assigned ? WAIT : step;
  });
}

function volumeStep(view: PodView, wanted: readonly Container[]): NextAction | undefined {
  const { volumes } = view.progress;
  if (volumes.kind === 'ready' || !wanted.some((container) => isToStart(view, container))) return undefined;
  if (volumes.kind === 'failed' && view.now < volumes.failure.retryAt) {
    return { kind: 'wait', until: volumes.failure.retryAt };
  }
  return { kind: 'prepare-volumes' };
}

/** Returns true unless the container runs or has finally exited. */
function isToStart(view: PodView, container: Container): boolean {
  const [current] = attemptsOf(view, container.name);
  if (!current) return true;
  if (current.state === 'running') return false;
  const ending = containerExitOf(view, current);
  return ending === undefined || restartsAfter(view, container, current, ending);
}

/** Returns the step required before containers can join a running sandbox; undefined if none. */
function sandboxStep(view: PodView, wanted: readonly Container[]): NextAction | undefined {
  if (!needsSandbox(view.pod)) return undefined;
  const [sandbox] = attemptsOf(view, SANDBOX);
  if (sandbox?.state === 'running') return undefined;
  const running = runningOf(view);
  if (running.length > 0) return stopStep(view, running, view.now + graceMs(view), 'sandbox-lost');
  if (!wanted.some((container) => isToStart(view, container))) return undefined;
  if (sandbox?.state === 'created' && !containerExitOf(view, sandbox)) {
    return { kind: 'start-container', id: sandbox.id, container: SANDBOX, attempt: sandbox.identity.attempt };
  }
  return newSandbox(view, sandbox);
}

function newSandbox(view: PodView, last: ObservedContainer | undefined): NextAction {
  const failure = view.progress.failures[SANDBOX];
  if (failure && failure.retryAt > view.now) return { kind: 'wait', until: failure.retryAt };
  if (!last) return { kind: 'create-sandbox', attempt: 0, backoffMs: 0 };
  const ending = containerExitOf(view, last) ?? { exitCode: 0, finishedAt: last.createdAt, reason: 'Error' };
  const restart = restartTimeOf(view, last, ending);
  if (restart.at > view.now) return { kind: 'wait', until: restart.at };
  return {
    kind: 'create-sandbox',
    attempt: last.identity.attempt + 1,
    backoffMs: restart.nextBackoffMs,
  };
}

/** Returns running containers of the spec, without the sandbox. */
function runningOf(view: PodView): ObservedContainer[] {
  return view.containers.filter(
    ({ state, identity }) => state === 'running' && identity.container !== SANDBOX,
  );
}

function graceMs(view: PodView): number {
  return (view.pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
}

/** Removes attempts whose state can no longer be queried, if nothing more urgent is due. */
function superseded(view: PodView): NextAction | undefined {
  const names = new Set(view.containers.map((container) => container.identity.container));
  const joined = joinedByEphemerals(view);
  const ids = [...names].flatMap((name) => {
    const kept = name === SANDBOX ? 1 : KEPT_ATTEMPTS;
    const old = attemptsOf(view, name).slice(kept);
    return old
      .filter(({ id, state }) => state !== 'running' && !joined.has(id))
      .map((container) => container.id);
  });
  return ids.length > 0 ? { kind: 'remove-containers', ids } : undefined;
}

/**
 * Podman removes a container only together with those that joined it. A removed ephemeral container would look as if it
 * had never run, and would be started again.
 */
function joinedByEphemerals({ pod, containers }: PodView): ReadonlySet<string | undefined> {
  const names = new Set(ephemeralContainersOf(pod).map(({ name }) => name));
  return new Set(
    containers
      .filter(({ identity }) => names.has(identity.container))
      .flatMap(({ labels }) => [labels[SANDBOX_LABEL], labels[TARGET_LABEL]]),
  );
}

function earliest(steps: readonly NextAction[]): NextAction {
  const times = steps.flatMap((step) =>
    step.kind === 'wait' && step.until !== undefined ? [step.until] : [],
  );
  return times.length > 0 ? { kind: 'wait', until: Math.min(...times) } : WAIT;
}
