/** The Pod's phase (pkg/kubelet/kubelet_pods.go getPhase). */
import { countedPhaseOf } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type {
  ContainerStateTerminated,
  ContainerStatus,
  PodPhase,
  PodStatus,
} from '../../../shared/kube/pods/pod-types.js';
import { lostRunPhase } from './lost-job-run.js';
import { initContainersOf, isSidecar } from './pod-containers.js';
import type { PodView } from './pod-view.js';

/** Statuses of the Pod's init containers and of its main containers. */
export interface Statuses {
  init: ContainerStatus[];
  main: ContainerStatus[];
}

/** Summary of a container's state; one that waits for its restart counts as ended. */
type ContainerSummary = 'waiting' | 'running' | 'ended';

/**
 * Returns the phase like a kubelet, except that a simulated Pod may have a given one. A Pod ended by the host becomes
 * Failed only once nothing of it runs (pkg/kubelet/status mergePodStatus).
 */
export function podPhase(view: PodView, statuses: Statuses): PodPhase {
  const last = view.containers.find((container) => container.podPhase !== undefined)?.podPhase;
  if (last) return last;
  const counted = view.containers.some(({ state }) => state === 'running')
    ? undefined
    : countedPhaseOf(view.pod);
  if (counted) return counted;
  const lost = view.terminal ? undefined : lostRunPhase(view);
  if (lost) return lost;
  if (view.terminal && !view.containers.some(({ state }) => state === 'running')) return 'Failed';
  const init = initPhase(view, statuses);
  if (init) return init;
  const summaries = statuses.main.map(standingOf);
  if (summaries.length === 0 || summaries.includes('waiting')) return 'Pending';
  const sidecars = sidecarStatuses(view, statuses).map(standingOf);
  // Only the sandbox of a Pod ended by the host may still run.
  if (view.terminal || [...summaries, ...sidecars].includes('running')) return 'Running';
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

function standingOf(status: ContainerStatus): ContainerSummary {
  if (status.state?.running) return 'running';
  return endOf(status) ? 'ended' : 'waiting';
}

function endOf({ state, lastState }: ContainerStatus): ContainerStateTerminated | undefined {
  return state?.terminated ?? (state?.waiting ? lastState?.terminated : undefined);
}

const CREATING = 'ContainerCreating';

function isCreating({ state, lastState }: ContainerStatus): boolean {
  return state?.waiting?.reason === CREATING && !lastState?.terminated;
}

/**
 * Returns true while all containers are being created for the first time without errors: the next status follows soon.
 */
export function isTransientStatus({ phase, containerStatuses = [] }: PodStatus): boolean {
  return phase === 'Pending' && containerStatuses.length > 0 && containerStatuses.every(isCreating);
}
