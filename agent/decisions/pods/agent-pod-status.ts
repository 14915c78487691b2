/**
 * Derives the Pod's status from its containers (pkg/kubelet/kubelet_pods.go generateAPIPodStatus, status/generate.go).
 */

import {
  CONFIRMED_CONDITION,
  HANDOVER_CONDITION,
  isDifferentHandover,
  REVERTED_BY_HOST,
  REVERTED_CONDITION,
  WAITS_FOR_PREDECESSOR,
} from '../../../shared/kube/handovers/host-handover.js';
import { type Condition, withCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Container, ContainerStatus, PodPhase, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import { qualityOfService } from '../../../shared/kube/pods/quality-of-service.js';
import { attemptsOf } from '../containers/container-attempts.js';
import { readySince, upSince } from '../containers/container-local-state.js';
import { containerStatus } from '../containers/container-status.js';
import { lostEphemeral, lostStatus } from '../containers/ephemeral-record.js';
import { currentInitIndex } from './init-progress.js';
import { LOST_RUN, lostRunPhase } from './lost-job-run.js';
import {
  containerRole,
  ephemeralContainersOf,
  initContainersOf,
  isSidecar,
  sidecarsOf,
} from './pod-containers.js';
import { podPhase, type Statuses } from './pod-phase.js';
import { type PodTermination, type PodView, PREEMPTED } from './pod-view.js';
import { podAddress } from './sandbox-need.js';

interface PodStatusContext {
  /** Scheme of container ids: `docker`, `podman`, `hollow`. */
  engine: string;
  /** The node's address; absent while unknown. */
  hostIP?: string;
  /** The previously computed status, which provides transition times. */
  previous?: PodStatus;
}

/** Returns the current status: phase, conditions, addresses and container statuses. */
export function podStatus(view: PodView, context: PodStatusContext): PodStatus {
  const { pod, terminal } = view;
  const statusOf = (container: Container): ContainerStatus =>
    containerStatus(view, container, context.engine);
  // A rejected Pod never had containers, so its status shows none.
  const isBare = terminal !== undefined && view.containers.length === 0;
  const statuses: Statuses = isBare
    ? { init: [], main: [] }
    : { init: initContainersOf(pod).map(statusOf), main: pod.spec.containers.map(statusOf) };
  const ephemeral = ephemeralContainersOf(pod).map((container) => {
    const lost = lostEphemeral(view, container.name);
    return lost ? lostStatus(lost, container.image) : statusOf(container);
  });
  const phase = podPhase(view, statuses);
  const podIP = podAddress(view, context.hostIP);
  return {
    phase,
    ...(terminal && phase === 'Failed' && { reason: terminal.reason, message: terminal.message }),
    ...(!terminal && phase === 'Failed' && lostRunPhase(view) && LOST_RUN),
    conditions: podConditions(view, context, phase, statuses),
    ...(context.hostIP ? { hostIP: context.hostIP, hostIPs: [{ ip: context.hostIP }] } : {}),
    ...(podIP ? { podIP, podIPs: [{ ip: podIP }] } : {}),
    // Like a kubelet that waits for the end of a predecessor with the same name (pkg/kubelet/pod_workers.go
    // allowStaticPodStart).
    ...(view.waitsForPredecessor && view.containers.length === 0
      ? {}
      : { startTime: toTimestamp(view.startableAt ?? view.acceptedAt) }),
    ...(statuses.init.length > 0 ? { initContainerStatuses: statuses.init } : {}),
    ...(isBare ? {} : { containerStatuses: statuses.main }),
    ...(isBare || ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: ephemeral }),
    qosClass: qualityOfService(pod.spec),
  };
}

function podConditions(
  view: PodView,
  context: PodStatusContext,
  phase: PodPhase,
  statuses: Statuses,
): Condition[] {
  const now = toTimestamp(view.now);
  const contained = readyCondition(view, phase, statuses);
  const since = contained.status === 'True' ? readyAt(view) : undefined;
  const transition = since === undefined ? {} : { lastTransitionTime: toTimestamp(since) };
  const { reverted, handoverWaiting: turnWaiting, isConfirmed, terminal } = view;
  const wanted: Condition[] = [
    { type: 'PodReadyToStartContainers', ...startableCondition(view) },
    { type: 'Initialized', ...initializedCondition(view, phase, statuses) },
    { type: 'Ready', ...(reverted ? revertedCondition(reverted) : { ...contained, ...transition }) },
    { type: 'ContainersReady', ...contained, ...transition },
    // A Pod on this host is scheduled by definition.
    { type: 'PodScheduled', status: 'True', lastTransitionTime: toTimestamp(view.acceptedAt) },
    ...(reverted ? [{ type: REVERTED_CONDITION, status: 'True' as const, ...reverted }] : []),
    ...(isConfirmed === undefined ? [] : [confirmedCondition(isConfirmed, reverted)]),
    ...(turnWaiting ? [{ type: HANDOVER_CONDITION, status: 'False' as const, ...turnWaiting }] : []),
    ...(terminal?.isDisruption && phase === 'Failed' ? [disruptionCondition(terminal)] : []),
  ];
  return wanted.map((condition) => {
    const [merged] = withCondition(
      context.previous?.conditions?.filter(
        (before) => before.type === condition.type && !isDifferentHandover(before, condition),
      ),
      { ...condition, lastProbeTime: null },
      now,
    );
    return merged ?? condition;
  });
}

/** Returns when the last container became ready, so that a restarted agent reports the same time. */
function readyAt(view: PodView): number | undefined {
  const lasting = [...sidecarsOf(view.pod), ...view.pod.spec.containers];
  const times = lasting.map((container) => {
    const [current] = attemptsOf(view, container.name);
    return current && readySince(view, container, current);
  });
  return times.every((time) => time !== undefined) ? Math.max(...times) : undefined;
}

/** `lastTransitionTime` is set if the time of the change itself is known, which a restarted agent did not observe. */
type Verdict = Pick<Condition, 'status' | 'reason' | 'message' | 'lastTransitionTime'>;

const PREEMPTED_CONDITION_MESSAGE = 'Pod was preempted by Kubelet to accommodate a critical pod.';

/** The condition of a Pod that a kubelet evicts to save the node (pkg/kubelet/eviction) or preempts (…/preemption). */
function disruptionCondition({ reason, message }: PodTermination): Condition {
  const text = reason === PREEMPTED.reason ? PREEMPTED_CONDITION_MESSAGE : message;
  return { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message: text };
}

function confirmedCondition(isConfirmed: boolean, reverted: PodView['reverted']): Condition {
  const type = CONFIRMED_CONDITION;
  if (isConfirmed) return { type, status: 'True' };
  return { type, status: 'False', reason: reverted ? REVERTED_BY_HOST : 'Confirming' };
}

/** The running containers are healthy, but they are not those of this Pod's revision. */
function revertedCondition({ message }: { message: string }): Verdict {
  return { status: 'False', reason: REVERTED_BY_HOST, message };
}

function startableCondition({ containers, waitsForPredecessor, startGate }: PodView): Verdict {
  const running = containers.filter(({ state }) => state === 'running');
  if (waitsForPredecessor) {
    return { status: 'False', reason: WAITS_FOR_PREDECESSOR, message: 'its predecessor has not ended' };
  }
  if (running.length === 0 && startGate?.kind === 'wait')
    return { status: 'False', reason: startGate.reason, message: startGate.message };
  if (running.length === 0) return { status: 'False' };
  const since = Math.min(...running.map(({ startedAt, createdAt }) => startedAt ?? createdAt));
  return { status: 'True', lastTransitionTime: toTimestamp(since) };
}

function initializedCondition(view: PodView, phase: PodPhase, { init }: Statuses): Verdict {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  const inits = initContainersOf(view.pod);
  const hasBegun = currentInitIndex(view) === inits.length;
  const isDone = (status: ContainerStatus, container: Container | undefined): boolean =>
    container && isSidecar(container) ? hasBegun || status.started === true : status.ready;
  const incomplete = init.filter((status, index) => !isDone(status, inits[index])).map(({ name }) => name);
  if (incomplete.length === 0)
    return { status: 'True', lastTransitionTime: toTimestamp(initializedAt(view)) };
  const message = `containers with incomplete status: [${incomplete.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

/** Returns when the last init container completed; without any, when the Pod was accepted. */
function initializedAt(view: PodView): number {
  const times = initContainersOf(view.pod).map((container) => {
    const [current] = attemptsOf(view, container.name);
    if (!current) return 0;
    return isSidecar(container) ? (upSince(view, container, current) ?? 0) : (current.finishedAt ?? 0);
  });
  return Math.max(view.acceptedAt, ...times);
}

function readyCondition(view: PodView, phase: PodPhase, { init, main }: Statuses): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const sidecars = init.filter(({ name }) => containerRole(view.pod, name) === 'sidecar');
  const unready = [...sidecars, ...main].filter((status) => !status.ready).map((status) => status.name);
  if (unready.length === 0) return { status: 'True' };
  const message = `containers with unready status: [${unready.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}
