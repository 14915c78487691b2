/** The Pod's phase (pkg/kubelet/kubelet_pods.go getPhase). */
import type {
  ContainerStateTerminated,
  ContainerStatus,
  PodPhase,
} from '../../../shared/kube/pods/pod-types.js';
import { initContainersOf, isSidecar } from './pod-containers.js';
import type { PodView } from './pod-view.js';

/** Statuses of the Pod's init containers and of its main containers. */
export interface Statuses {
  init: ContainerStatus[];
  main: ContainerStatus[];
}

/** Summary of a container's state; one that waits for its restart counts as ended. */
type Standing = 'waiting' | 'running' | 'ended';

/**
 * Returns the phase like a kubelet, except that a simulated Pod may have a given one. A Pod ended by the host becomes
 * Failed only once nothing of it runs (pkg/kubelet/status mergePodStatus).
 */
export function podPhase(view: PodView, statuses: Statuses): PodPhase {
  const told = view.containers.find((container) => container.podPhase !== undefined)?.podPhase;
  if (told) return told;
  if (view.terminal && !view.containers.some(({ state }) => state === 'running')) return 'Failed';
  const init = initPhase(view, statuses);
  if (init) return init;
  const standings = statuses.main.map(standingOf);
  if (standings.length === 0 || standings.includes('waiting')) return 'Pending';
  const beside = sidecarStatuses(view, statuses).map(standingOf);
  // Only the sandbox of a Pod ended by the host may still run.
  if (view.terminal || [...standings, ...beside].includes('running')) return 'Running';
  return endedPhase(view, statuses);
}

/** Returns the phase while init containers run; undefined once they are done. */
function initPhase(view: PodView, statuses: Statuses): PodPhase | undefined {
  const sidecars = new Set(sidecarStatuses(view, statuses));
  const inits = statuses.init.filter((status) => !sidecars.has(status));
  const hasFailed = inits.some((status) => (endOf(status)?.exitCode ?? 0) !== 0);
  if (hasFailed && view.pod.spec.restartPolicy === 'Never') return 'Failed';
  if (inits.some((status) => standingOf(status) !== 'ended')) return 'Pending';
  const isComing = [...sidecars].some((status) => standingOf(status) !== 'ended' && !status.started);
  const hasBegun = statuses.main.some((status) => status.started || endOf(status));
  return isComing && !hasBegun ? 'Pending' : undefined;
}

function endedPhase(view: PodView, { main }: Statuses): PodPhase {
  const { restartPolicy } = view.pod.spec;
  const succeeded = main.every((status) => endOf(status)?.exitCode === 0);
  if (view.desired.kind === 'stop') return succeeded ? 'Succeeded' : 'Failed';
  if (restartPolicy !== 'Never' && restartPolicy !== 'OnFailure') return 'Running';
  if (succeeded) return 'Succeeded';
  return restartPolicy === 'Never' ? 'Failed' : 'Running';
}

function sidecarStatuses({ pod }: PodView, { init }: Statuses): ContainerStatus[] {
  const names = new Set(
    initContainersOf(pod)
      .filter(isSidecar)
      .map(({ name }) => name),
  );
  return init.filter(({ name }) => names.has(name));
}

function standingOf(status: ContainerStatus): Standing {
  if (status.state?.running) return 'running';
  return endOf(status) ? 'ended' : 'waiting';
}

function endOf({ state, lastState }: ContainerStatus): ContainerStateTerminated | undefined {
  return state?.terminated ?? (state?.waiting ? lastState?.terminated : undefined);
}
