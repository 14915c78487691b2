/** Observed containers to the Pod's status (pkg/kubelet/kubelet_pods.go generateAPIPodStatus, status/generate.go). */
import { type Condition, withCondition } from '../../shared/kube/conditions.js';
import { toTimestamp } from '../../shared/kube/meta.js';
import type { ContainerStatus, PodPhase, PodStatus } from '../../shared/kube/pod.js';
import { qualityOfService } from '../../shared/kube/quality-of-service.js';
import { SANDBOX } from '../runtime/driver.js';
import { attemptsOf } from './attempts.js';
import { containerStatus } from './container-status.js';
import type { PodView } from './pod-view.js';

export interface PodStatusContext {
  /** Scheme of container ids: `docker`, `podman`, `hollow`. */
  engine: string;
  /** The node's address; absent while unknown. */
  hostIP?: string;
  /** When this host first saw the Pod, ms since the epoch. */
  acceptedAt: number;
  /** The status computed before this one, for honest transition times. */
  previous?: PodStatus;
}

/** The status of the Pod now: phase, this node's conditions, addresses and container statuses. */
export function podStatus(view: PodView, context: PodStatusContext): PodStatus {
  // Of a Pod that the host never let in there is nothing to tell.
  const isBare = view.givenUp !== undefined && view.containers.length === 0;
  const statuses = isBare
    ? []
    : view.pod.spec.containers.map((container) => containerStatus(view, container, context.engine));
  const phase = podPhase(view, statuses);
  const podIP = podAddress(view, context.hostIP);
  return {
    phase,
    ...(view.givenUp && { reason: view.givenUp.reason, message: view.givenUp.message }),
    conditions: podConditions(view, context, phase, statuses),
    ...(context.hostIP ? { hostIP: context.hostIP, hostIPs: [{ ip: context.hostIP }] } : {}),
    ...(podIP ? { podIP, podIPs: [{ ip: podIP }] } : {}),
    startTime: toTimestamp(context.acceptedAt),
    ...(isBare ? {} : { containerStatuses: statuses }),
    qosClass: qualityOfService(view.pod.spec),
  };
}

/** pkg/kubelet/kubelet_pods.go getPhase. A container that waits to be started again counts as ended, not as waiting. */
function podPhase(view: PodView, statuses: readonly ContainerStatus[]): PodPhase {
  const told = view.containers.find((container) => container.podPhase !== undefined)?.podPhase;
  if (told) return told;
  if (view.givenUp) return 'Failed';
  const count = (is: (status: ContainerStatus) => boolean): number => statuses.filter(is).length;
  const waiting = count((status) => !!status.state?.waiting && !status.lastState?.terminated);
  const running = count((status) => !!status.state?.running);
  const ended = statuses.flatMap((status) => {
    const ending = status.state?.terminated ?? (status.state?.waiting && status.lastState?.terminated);
    return ending ? [ending] : [];
  });
  if (waiting > 0 || statuses.length === 0) return 'Pending';
  if (running > 0) return 'Running';
  const { restartPolicy } = view.pod.spec;
  const succeeded = ended.every((ending) => ending.exitCode === 0);
  if (view.wish.kind === 'stop') return succeeded ? 'Succeeded' : 'Failed';
  if (restartPolicy !== 'Never' && restartPolicy !== 'OnFailure') return 'Running';
  if (succeeded) return 'Succeeded';
  return restartPolicy === 'Never' ? 'Failed' : 'Running';
}

function podAddress(view: PodView, hostIP: string | undefined): string | undefined {
  if (view.pod.spec.hostNetwork) return view.containers.length > 0 ? hostIP : undefined;
  const holders = [SANDBOX, ...view.pod.spec.containers.map((container) => container.name)];
  const newest = holders.flatMap((name) => attemptsOf(view, name).slice(0, 1));
  return newest.find((container) => container.ip)?.ip;
}

function podConditions(
  view: PodView,
  context: PodStatusContext,
  phase: PodPhase,
  statuses: readonly ContainerStatus[],
): Condition[] {
  const now = toTimestamp(view.now);
  const startable = view.containers.some((container) => container.state === 'running');
  const readiness = readyCondition(phase, statuses);
  const readySince = readiness.status === 'True' ? lastStart(view) : undefined;
  const transition = readySince === undefined ? {} : { lastTransitionTime: toTimestamp(readySince) };
  const wanted: Condition[] = [
    { type: 'PodReadyToStartContainers', status: startable ? 'True' : 'False' },
    { type: 'Initialized', status: 'True', ...(phase === 'Succeeded' ? { reason: 'PodCompleted' } : {}) },
    { type: 'Ready', ...readiness, ...transition },
    { type: 'ContainersReady', ...readiness, ...transition },
    // A Pod that is here has its node, whoever gave it.
    { type: 'PodScheduled', status: 'True', lastTransitionTime: toTimestamp(context.acceptedAt) },
  ];
  return wanted.map((condition) => {
    const [merged] = withCondition(
      context.previous?.conditions?.filter(({ type }) => type === condition.type),
      { ...condition, lastProbeTime: null },
      now,
    );
    return merged ?? condition;
  });
}

/** When the last of the running containers started: a restarted agent then tells the same time as before. */
function lastStart(view: PodView): number | undefined {
  // A hollow host's readiness has a time of its own, which only the previous status knows.
  if (view.containers.some((container) => container.ready !== undefined)) return undefined;
  const starts = view.containers.flatMap((container) =>
    container.state === 'running' ? [container.startedAt ?? container.createdAt] : [],
  );
  return starts.length > 0 ? Math.max(...starts) : undefined;
}

function readyCondition(
  phase: PodPhase,
  statuses: readonly ContainerStatus[],
): Pick<Condition, 'status' | 'reason' | 'message'> {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const unready = statuses.filter((status) => !status.ready).map((status) => status.name);
  if (unready.length === 0) return { status: 'True' };
  const message = `containers with unready status: [${unready.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}
