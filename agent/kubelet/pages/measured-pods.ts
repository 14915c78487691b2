/** Joins a reading of the engine with the specs and statuses of the host's Pods. */
import { milliCpu, wholeUnits } from '../../../shared/kube/objects/quantity.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ContainerUsage, UsageDetails } from '../../runtime/runtime-driver.js';
import { SANDBOX } from '../../runtime/runtime-driver.js';
import type { Reading } from '../kubelet-readings.js';

/** A container with its counters. Times are ms since the epoch. */
export interface MeasuredContainer {
  name: string;
  usage: ContainerUsage;
  details: UsageDetails;
  startedAtMs: number;
  limits: ContainerLimits;
}

interface ContainerLimits {
  cpuShares: number;
  cpuLimitMilli?: number;
  memoryLimitBytes?: number;
}

export interface MeasuredPod {
  uid: string;
  namespace: string;
  name: string;
  startedAtMs: number;
  /** Without the sandbox. */
  containers: MeasuredContainer[];
  /** Holds the Pod's network. Absent for a Pod that needs none. */
  sandbox?: MeasuredContainer;
  /** Absent if the agent no longer knows the Pod. */
  pod?: Pod;
}

/** The fewest CPU shares, for a container without a request. */
const MIN_CPU_SHARES = 2;
const SHARES_PER_CPU = 1024;

/** Returns the Pods with running containers, in the engine's order. */
export function measuredPods(reading: Pick<Reading, 'containers'>, pods: readonly Pod[]): MeasuredPod[] {
  const known = new Map(pods.map((pod) => [pod.metadata.uid ?? '', pod]));
  const measured = new Map<string, MeasuredPod>();
  for (const usage of reading.containers) {
    const { details, podUid } = usage;
    if (!details) continue;
    const pod = known.get(podUid);
    const entry = measured.get(podUid) ?? emptyPod(podUid, details, pod);
    measured.set(podUid, entry);
    const container = measuredContainer(usage, details, pod);
    if (usage.container === SANDBOX) entry.sandbox = container;
    else entry.containers.push(container);
  }
  return [...measured.values()];
}

/** Returns the container whose counters include the Pod's network. Undefined for a Pod in the host's network. */
export function networkHolder({ sandbox, containers, pod }: MeasuredPod): MeasuredContainer | undefined {
  // Podman reports an empty network for its containers.
  if (pod?.spec.hostNetwork) return undefined;
  return [...(sandbox ? [sandbox] : []), ...containers].find(({ details }) => details.interfaces);
}

function emptyPod(uid: string, details: UsageDetails, pod: Pod | undefined): MeasuredPod {
  const startedAt = Date.parse(pod?.status?.startTime ?? '');
  return {
    uid,
    namespace: details.podNamespace,
    name: details.podName,
    startedAtMs: Number.isNaN(startedAt) ? details.createdAt : startedAt,
    containers: [],
    ...(pod ? { pod } : {}),
  };
}

function measuredContainer(
  usage: ContainerUsage,
  details: UsageDetails,
  pod: Pod | undefined,
): MeasuredContainer {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod?.spec ?? {};
  const { name } = { name: usage.container };
  const spec = [...initContainers, ...containers, ...ephemeralContainers].find((each) => each.name === name);
  return {
    ...{ name, usage, details },
    startedAtMs: startOf(usage, pod) ?? details.createdAt,
    limits: limitsOf(spec),
  };
}

/** Returns the start of the running attempt, as the Pod's status reports it. */
function startOf({ id, container }: ContainerUsage, pod: Pod | undefined): number | undefined {
  const { initContainerStatuses, containerStatuses, ephemeralContainerStatuses } = pod?.status ?? {};
  const statuses = [initContainerStatuses, containerStatuses, ephemeralContainerStatuses];
  const status = statuses
    .flatMap((each) => each ?? [])
    .find((each) => each.name === container && each.containerID?.endsWith(`//${id}`));
  const startedAt = Date.parse(status?.state?.running?.startedAt ?? '');
  return Number.isNaN(startedAt) ? undefined : startedAt;
}

function limitsOf(container: Pick<Container, 'resources'> | undefined): ContainerLimits {
  const { limits, requests } = container?.resources ?? {};
  const requested = milliCpu(requests?.cpu ?? limits?.cpu);
  const cpuLimitMilli = milliCpu(limits?.cpu);
  const memoryLimitBytes = wholeUnits(limits?.memory);
  return {
    cpuShares: Math.max(Math.floor((requested * SHARES_PER_CPU) / 1000), MIN_CPU_SHARES),
    ...(cpuLimitMilli > 0 ? { cpuLimitMilli } : {}),
    ...(memoryLimitBytes > 0 ? { memoryLimitBytes } : {}),
  };
}
