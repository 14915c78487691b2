/** The page `/stats/summary` (k8s.io/kubelet/pkg/apis/stats/v1alpha1 `Summary`). */
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { FileSystem } from '../../node/pressure-readings.js';
import type { InterfaceCounters } from '../../runtime/runtime-driver.js';
import type { ReadingPair, StorageReading } from '../kubelet-readings.js';
import { type MeasuredContainer, type MeasuredPod, measuredPods, networkHolder } from './measured-pods.js';

interface SummaryInputs {
  nodeName: string;
  /** Start of the host, ms since the epoch. */
  bootedAtMs: number;
  readings: ReadingPair;
  storage: StorageReading;
  pods: readonly Pod[];
}

/** What all parts of one summary share. */
interface Context extends SummaryInputs {
  time: string;
  windowMs: number;
  /** CPU time of each container at the earlier reading. */
  cpuBefore: ReadonlyMap<string, number>;
}

export function statsSummary(inputs: SummaryInputs): object {
  const { before, now } = inputs.readings;
  const context: Context = {
    ...inputs,
    time: toTimestamp(now.timeMs),
    windowMs: Math.max(now.at - before.at, 1),
    cpuBefore: new Map(before.containers.map(({ id, cpuNanos }) => [id, cpuNanos])),
  };
  return {
    node: nodeStats(context),
    pods: measuredPods(now, inputs.pods).map((pod) => podStats(pod, context)),
  };
}

function nodeStats({ nodeName, bootedAtMs, readings, time, windowMs }: Context): object {
  const { before, now } = readings;
  const { host } = now;
  const { memory } = host;
  const main = host.interfaces.find(({ name }) => name === host.defaultInterface) ?? host.interfaces[0];
  return {
    nodeName,
    startTime: toTimestamp(bootedAtMs),
    cpu: cpuStats(time, host.cpuNanos, ratePerSecond(before.host.cpuNanos, host.cpuNanos, windowMs)),
    memory: {
      time,
      availableBytes: Math.max(memory.totalBytes - memory.workingSetBytes, 0),
      usageBytes: memory.usageBytes,
      workingSetBytes: memory.workingSetBytes,
      rssBytes: memory.rssBytes,
      pageFaults: memory.pageFaults,
      majorPageFaults: memory.majorPageFaults,
    },
    ...(main ? { network: networkStats(time, main, host.interfaces) } : {}),
    ...(host.nodeFs ? { fs: fileSystemStats(time, host.nodeFs, usedIn(host.nodeFs)) } : {}),
    ...(host.imageFs
      ? { runtime: { imageFs: fileSystemStats(time, host.imageFs, usedIn(host.imageFs)) } }
      : {}),
    ...(host.pids
      ? {
          rlimit: { time, maxpid: host.pids.capacity, curproc: host.pids.capacity - host.pids.available },
        }
      : {}),
    swap: {
      time,
      swapAvailableBytes: memory.swapTotalBytes - memory.swapUsageBytes,
      swapUsageBytes: memory.swapUsageBytes,
    },
  };
}

function podStats(measured: MeasuredPod, context: Context): object {
  const { time, storage, readings } = context;
  const { uid, namespace, name, sandbox } = measured;
  const all = [...measured.containers, ...(sandbox ? [sandbox] : [])];
  const sum = (value: (container: MeasuredContainer) => number) =>
    all.reduce((total, each) => total + value(each), 0);
  const [main, ...others] = networkHolder(measured)?.details.interfaces ?? [];
  const { nodeFs } = readings.now.host;
  const volumes = [...(storage.volumes.get(uid) ?? [])];
  const stored = storage.containers.filter(({ podUid }) => podUid === uid);
  const ephemeral =
    stored.reduce((total, { layerBytes, logBytes }) => total + layerBytes + logBytes, 0) +
    volumes.reduce((total, [, bytes]) => total + bytes, 0);
  return {
    podRef: { name, namespace, uid },
    startTime: toTimestamp(measured.startedAtMs),
    containers: measured.containers.map((container) => containerStats(container, context)),
    cpu: cpuStats(
      time,
      sum(({ usage }) => usage.cpuNanos),
      sum((container) => containerRate(container, context)),
    ),
    memory: {
      time,
      usageBytes: sum(({ usage, details }) => details.usageBytes ?? usage.memoryBytes),
      workingSetBytes: sum(({ usage }) => usage.memoryBytes),
      rssBytes: sum(({ details }) => details.rssBytes ?? 0),
      pageFaults: sum(({ details }) => details.pageFaults ?? 0),
      majorPageFaults: sum(({ details }) => details.majorPageFaults ?? 0),
    },
    ...(main ? { network: networkStats(time, main, [main, ...others]) } : {}),
    ...(volumes.length > 0
      ? {
          volume: volumes.map(([volume, bytes]) => ({
            ...fileSystemStats(time, nodeFs, bytes),
            name: volume,
          })),
        }
      : {}),
    'ephemeral-storage': fileSystemStats(time, nodeFs, ephemeral),
    process_stats: { process_count: sum(({ usage }) => usage.processes ?? 0) },
    swap: { time, swapUsageBytes: sum(({ details }) => details.swapBytes ?? 0) },
  };
}

function containerStats(container: MeasuredContainer, context: Context): object {
  const { time, storage, readings } = context;
  const { name, usage, details, limits } = container;
  const { memoryLimitBytes } = limits;
  const { host } = readings.now;
  const stored = storage.containers
    .filter((each) => each.podUid === usage.podUid && each.container === name)
    .sort((one, other) => other.attempt - one.attempt)[0];
  return {
    name,
    startTime: toTimestamp(container.startedAtMs),
    cpu: cpuStats(time, usage.cpuNanos, containerRate(container, context)),
    memory: {
      time,
      ...(memoryLimitBytes === undefined
        ? {}
        : { availableBytes: Math.max(memoryLimitBytes - usage.memoryBytes, 0) }),
      usageBytes: details.usageBytes ?? usage.memoryBytes,
      workingSetBytes: usage.memoryBytes,
      ...defined('rssBytes', details.rssBytes),
      ...defined('pageFaults', details.pageFaults),
      ...defined('majorPageFaults', details.majorPageFaults),
    },
    rootfs: fileSystemStats(time, host.imageFs, stored?.layerBytes),
    logs: fileSystemStats(time, host.nodeFs, stored?.logBytes),
    swap: { time, ...defined('swapUsageBytes', details.swapBytes) },
  };
}

function containerRate({ usage }: MeasuredContainer, { cpuBefore, windowMs }: Context): number {
  // A container that started in between has no rate yet.
  return ratePerSecond(cpuBefore.get(usage.id) ?? usage.cpuNanos, usage.cpuNanos, windowMs);
}

function ratePerSecond(before: number, now: number, windowMs: number): number {
  return Math.max(Math.round(((now - before) * 1000) / windowMs), 0);
}

function cpuStats(time: string, usageCoreNanoSeconds: number, usageNanoCores: number): object {
  return { time, usageNanoCores, usageCoreNanoSeconds };
}

function networkStats(
  time: string,
  main: InterfaceCounters,
  interfaces: readonly InterfaceCounters[],
): object {
  return { time, ...interfaceStats(main), interfaces: interfaces.map(interfaceStats) };
}

function interfaceStats({ name, rxBytes, rxErrors, txBytes, txErrors }: InterfaceCounters): object {
  return { name, rxBytes, rxErrors, txBytes, txErrors };
}

function usedIn({ bytes }: FileSystem): number {
  return bytes.capacity - bytes.available;
}

/** Capacity and free space are the file system's, `usedBytes` only the share of the described part. */
function fileSystemStats(time: string, found: FileSystem | undefined, usedBytes: number | undefined): object {
  const { bytes, inodes } = found ?? {};
  return {
    time,
    ...(bytes ? { availableBytes: bytes.available, capacityBytes: bytes.capacity } : {}),
    ...defined('usedBytes', usedBytes),
    ...(inodes
      ? {
          inodesFree: inodes.available,
          inodes: inodes.capacity,
          inodesUsed: inodes.capacity - inodes.available,
        }
      : {}),
  };
}

function defined<K extends string>(key: K, value: number | undefined): { [key in K]?: number } {
  return (value === undefined ? {} : { [key]: value }) as { [key in K]?: number };
}
