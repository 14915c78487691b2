/** Computed cells of `kubectl get pods` (`pkg/printers/internalversion/printers.go`, printPod). */
import { findCondition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { Container, ContainerStatus, Pod } from '../../../shared/kube/pods/pod-types.js';
import { ageText } from '../duration-text.js';

/** Unlike other init containers, a sidecar runs as long as the Pod. */
function isSidecar(container: Container | undefined): boolean {
  return container?.restartPolicy === 'Always';
}

function sidecarStatuses(pod: Pod): ContainerStatus[] {
  const names = new Set((pod.spec.initContainers ?? []).filter(isSidecar).map((container) => container.name));
  return (pod.status?.initContainerStatuses ?? []).filter((status) => names.has(status.name));
}

function isRunningReady(status: ContainerStatus): boolean {
  return status.ready && status.state?.running !== undefined;
}

/** Returns ready containers and sidecars, such as `1/2`. */
export function readyText(pod: Pod): string {
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
  const total = pod.spec.containers.length + sidecars.length;
  const regular = (pod.status?.containerStatuses ?? []).filter(isRunningReady);
  const beside = sidecarStatuses(pod).filter((status) => status.ready && status.started);
  return `${regular.length + beside.length}/${total}`;
}

function endText(status: ContainerStatus): string | undefined {
  const ended = status.state?.terminated;
  if (!ended) return undefined;
  if (ended.reason) return ended.reason;
  return ended.signal ? `Signal:${ended.signal}` : `ExitCode:${ended.exitCode}`;
}

/**
 * Returns the text of an init container that blocks the Pod, or undefined if it has finished (a sidecar: is running).
 */
function initText(pod: Pod, status: ContainerStatus, index: number): string | undefined {
  const { state } = status;
  const containers = pod.spec.initContainers ?? [];
  if (state?.terminated?.exitCode === 0) return undefined;
  const sidecar = isSidecar(containers.find((container) => container.name === status.name));
  if (sidecar && status.started) return undefined;
  const ended = endText(status);
  if (ended !== undefined) return `Init:${ended}`;
  const waiting = state?.waiting?.reason;
  if (waiting && waiting !== 'PodInitializing') return `Init:${waiting}`;
  return `Init:${index}/${containers.length}`;
}

function initializingText(pod: Pod): string | undefined {
  for (const [index, status] of (pod.status?.initContainerStatuses ?? []).entries()) {
    const text = initText(pod, status, index);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The first container that is not running normally decides the text. Upstream searches from last to first. */
function containersText(pod: Pod, phase: string): string {
  const statuses = pod.status?.containerStatuses ?? [];
  let text = phase;
  for (const status of [...statuses].reverse()) {
    text = status.state?.waiting?.reason || (endText(status) ?? text);
  }
  if (text !== 'Completed' || !statuses.some(isRunningReady)) return text;
  return isConditionTrue(pod.status?.conditions, 'Ready') ? 'Running' : 'NotReady';
}

function livingText(pod: Pod): string {
  const phase = pod.status?.reason || (pod.status?.phase ?? '');
  const scheduled = findCondition(pod.status?.conditions, 'PodScheduled');
  const start = scheduled?.reason === 'SchedulingGated' ? 'SchedulingGated' : phase;
  const initializing = initializingText(pod);
  if (initializing !== undefined && !isConditionTrue(pod.status?.conditions, 'Initialized'))
    return initializing;
  return containersText(pod, initializing ?? start);
}

/** Returns for example `Running`, `CrashLoopBackOff`, `Init:0/1` or `Terminating`. */
export function podStatusText(pod: Pod): string {
  if (!pod.metadata.deletionTimestamp) return livingText(pod);
  if (pod.status?.reason === 'NodeLost') return 'Unknown';
  const phase = pod.status?.phase;
  return phase === 'Succeeded' || phase === 'Failed' ? livingText(pod) : 'Terminating';
}

/** Returns the statuses of the containers whose restarts count. */
function countedStatuses(pod: Pod): ContainerStatus[] {
  const initializing = initializingText(pod) !== undefined;
  if (initializing && !isConditionTrue(pod.status?.conditions, 'Initialized')) {
    return pod.status?.initContainerStatuses ?? [];
  }
  return [...sidecarStatuses(pod), ...(pod.status?.containerStatuses ?? [])];
}

/** Returns `0`, or for example `3 (5m ago)`. `now` in ms. */
export function restartsText(pod: Pod, now: number): string {
  const statuses = countedStatuses(pod);
  const restarts = statuses.reduce((sum, status) => sum + status.restartCount, 0);
  const ends = statuses.flatMap((status) => status.lastState?.terminated?.finishedAt ?? []);
  const latest = ends.sort().at(-1);
  return restarts > 0 && latest ? `${restarts} (${ageText(latest, now)} ago)` : String(restarts);
}

/** Returns fulfilled readiness gates, such as `1/2`. */
export function readinessGatesText(pod: Pod): string {
  const gates = pod.spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const open = gates.filter((gate) => isConditionTrue(pod.status?.conditions, gate.conditionType));
  return `${open.length}/${gates.length}`;
}
