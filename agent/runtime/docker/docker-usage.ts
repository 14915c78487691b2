/** CPU and memory usage of containers, as the engine reads it from the kernel. */

import { type ContainerUsage, type InterfaceCounters, RuntimeError, SANDBOX } from '../runtime-driver.js';
import { readCgroupMemory } from './cgroup-memory.js';
import type { DockerApi, ErrorReasons } from './docker-api.js';
import { toIdentity } from './docker-convert.js';

const LIST_ERRORS: ErrorReasons = { fallback: 'EngineDown' };
/**
 * Podman responds 500 for a container that exits during the reading. That is no failure of the engine: otherwise one
 * crashing container would hide the usage of all others.
 */
const STATS_ERRORS: ErrorReasons = { fallback: 'NotRunning' };

/** A container in a list response, as far as the agent reads it. `Created` in s since the epoch. */
interface ListedContainer {
  Id: string;
  Labels: Record<string, string>;
  Image?: string;
  Created?: number;
}

/** Response of `GET /containers/ID/stats`, as far as the agent reads it. An exited container has no figures. */
interface StatsResponse {
  cpu_stats?: {
    cpu_usage?: { total_usage?: number; usage_in_usermode?: number; usage_in_kernelmode?: number };
    throttling_data?: { periods?: number; throttled_periods?: number; throttled_time?: number };
  };
  pids_stats?: { current?: number };
  /** cgroup v1 and v2 have different names for the same counters. Podman has none of them. */
  memory_stats?: { usage?: number; stats?: Partial<Record<string, number>> | null };
  blkio_stats?: { io_service_bytes_recursive?: { op?: string; value?: number }[] | null };
  networks?: Record<string, Partial<Record<`${'rx' | 'tx'}_${CounterName}`, number>>> | null;
}

/** Longest name of an interface in Linux (IFNAMSIZ). */
const MAX_INTERFACE_NAME = 15;

type CounterName = 'bytes' | 'packets' | 'errors' | 'dropped';

/**
 * Measures the running containers with these labels. `detailed` adds the details, and the sandboxes. Skips a container
 * that exits meanwhile. Throws `RuntimeError` EngineDown if the engine does not respond.
 */
export async function dockerUsage(
  api: DockerApi,
  label: string[],
  detailed = false,
): Promise<ContainerUsage[]> {
  const filters = JSON.stringify({ label, status: ['running'] });
  const found = await api.json<ListedContainer[]>(
    { method: 'GET', path: '/containers/json', query: { filters } },
    LIST_ERRORS,
  );
  const usages = await Promise.all(found.map((listed) => usageOf(api, listed, detailed)));
  return usages.filter((usage) => usage !== undefined);
}

async function usageOf(
  api: DockerApi,
  listed: ListedContainer,
  detailed: boolean,
): Promise<ContainerUsage | undefined> {
  if (!detailed && toIdentity(listed.Labels).container === SANDBOX) return undefined;
  try {
    // Without `one-shot` the engine waits a second to take a second reading.
    const query = { stream: 'false', 'one-shot': 'true' };
    // Podman responds with an empty body if the container exits after the response's head was sent.
    const stats = await api.json<StatsResponse | undefined>(
      { method: 'GET', path: `/containers/${listed.Id}/stats`, query },
      STATS_ERRORS,
    );
    if (!stats) return undefined;
    const memory = stats.memory_stats?.stats ?? (await readCgroupMemory(listed.Id));
    return toUsage(listed, { ...stats, memory_stats: { ...stats.memory_stats, stats: memory } }, detailed);
  } catch (error) {
    if (error instanceof RuntimeError && error.reason !== 'EngineDown') return undefined;
    throw error;
  }
}

/** Converts a response of the engine. Returns undefined for a container that has exited. */
export function toUsage(
  { Id: id, Labels, Image = '', Created = 0 }: ListedContainer,
  stats: StatsResponse,
  detailed: boolean,
): ContainerUsage | undefined {
  const { podUid, podNamespace, podName, container } = toIdentity(Labels);
  const cpuNanos = stats.cpu_stats?.cpu_usage?.total_usage;
  if (cpuNanos === undefined) return undefined;
  const processes = stats.pids_stats?.current;
  return {
    ...{ id, podUid, container, cpuNanos },
    memoryBytes: workingSet(stats),
    ...(processes === undefined ? {} : { processes }),
    ...(detailed
      ? {
          details: {
            ...{ podNamespace, podName, image: Image, createdAt: Created * 1000 },
            ...counters(stats),
          },
        }
      : {}),
  };
}

function workingSet({ memory_stats: { usage = 0, stats } = {} }: StatsResponse): number {
  return Math.max(usage - (stats?.total_inactive_file ?? stats?.inactive_file ?? 0), 0);
}

function counters({ cpu_stats, memory_stats, blkio_stats, networks }: StatsResponse) {
  const { usage_in_usermode, usage_in_kernelmode } = cpu_stats?.cpu_usage ?? {};
  const { periods = 0, throttled_periods = 0, throttled_time = 0 } = cpu_stats?.throttling_data ?? {};
  const memory = memory_stats?.stats ?? {};
  const transferred = blkio_stats?.io_service_bytes_recursive;
  return present({
    cpuUserNanos: usage_in_usermode,
    cpuSystemNanos: usage_in_kernelmode,
    throttling:
      periods > 0
        ? { periods, throttledPeriods: throttled_periods, throttledNanos: throttled_time }
        : undefined,
    usageBytes: memory_stats?.usage,
    rssBytes: memory.anon ?? memory.total_rss ?? memory.rss,
    cacheBytes: memory.file ?? memory.total_cache ?? memory.cache,
    swapBytes: memory.swap ?? memory.total_swap,
    pageFaults: memory.pgfault ?? memory.total_pgfault,
    majorPageFaults: memory.pgmajfault ?? memory.total_pgmajfault,
    readBytes: transferred ? transferredBytes(transferred, 'read') : undefined,
    writtenBytes: transferred ? transferredBytes(transferred, 'write') : undefined,
    interfaces: networks ? interfacesOf(networks) : undefined,
  });
}

function transferredBytes(entries: readonly { op?: string; value?: number }[], operation: string): number {
  const matching = entries.filter(({ op }) => op?.toLowerCase() === operation);
  return matching.reduce((sum, { value = 0 }) => sum + value, 0);
}

function interfacesOf(networks: NonNullable<StatsResponse['networks']>): InterfaceCounters[] | undefined {
  const interfaces = Object.entries(networks).map(([name, counts]) => ({
    name: interfaceName(name),
    rxBytes: counts.rx_bytes ?? 0,
    rxPackets: counts.rx_packets ?? 0,
    rxErrors: counts.rx_errors ?? 0,
    rxDropped: counts.rx_dropped ?? 0,
    txBytes: counts.tx_bytes ?? 0,
    txPackets: counts.tx_packets ?? 0,
    txErrors: counts.tx_errors ?? 0,
    txDropped: counts.tx_dropped ?? 0,
  }));
  return interfaces.length > 0 ? interfaces : undefined;
}

/** Podman's API sums all interfaces under `network` or the id of the network. Its first interface is `eth0`. */
function interfaceName(name: string): string {
  return name === 'network' || name.length > MAX_INTERFACE_NAME ? 'eth0' : name;
}

function present<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
