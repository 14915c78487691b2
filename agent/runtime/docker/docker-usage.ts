/** CPU and memory usage of containers, as the engine reads it from the kernel. */

import { type ContainerUsage, RuntimeError, SANDBOX } from '../runtime-driver.js';
import type { DockerApi, ErrorReasons } from './docker-api.js';
import { toIdentity } from './docker-convert.js';

const LIST_ERRORS: ErrorReasons = { fallback: 'EngineDown' };
/**
 * Podman responds 500 for a container that exits during the reading. That is no failure of the engine: otherwise one
 * crashing container would hide the usage of all others.
 */
const STATS_ERRORS: ErrorReasons = { fallback: 'NotRunning' };

/** Response of `GET /containers/ID/stats`, as far as the agent reads it. An exited container has no figures. */
interface StatsResponse {
  cpu_stats?: { cpu_usage?: { total_usage?: number } };
  pids_stats?: { current?: number };
  memory_stats?: { usage?: number; stats?: { total_inactive_file?: number; inactive_file?: number } };
}

/**
 * Measures the running containers with these labels except sandboxes. Skips a container that exits meanwhile. Throws
 * `RuntimeError` EngineDown if the engine does not respond.
 */
export async function dockerUsage(api: DockerApi, label: string[]): Promise<ContainerUsage[]> {
  const filters = JSON.stringify({ label, status: ['running'] });
  const found = await api.json<{ Id: string; Labels: Record<string, string> }[]>(
    { method: 'GET', path: '/containers/json', query: { filters } },
    LIST_ERRORS,
  );
  const usages = await Promise.all(found.map(({ Id, Labels }) => usageOf(api, Id, Labels)));
  return usages.filter((usage) => usage !== undefined);
}

async function usageOf(
  api: DockerApi,
  id: string,
  labels: Record<string, string>,
): Promise<ContainerUsage | undefined> {
  const { podUid, container } = toIdentity(labels);
  if (container === SANDBOX) return undefined;
  try {
    // Without `one-shot` the engine waits a second to take a second reading.
    const query = { stream: 'false', 'one-shot': 'true' };
    // Podman responds with an empty body if the container exits after the response's head was sent.
    const stats = await api.json<StatsResponse | undefined>(
      { method: 'GET', path: `/containers/${id}/stats`, query },
      STATS_ERRORS,
    );
    const cpuNanos = stats?.cpu_stats?.cpu_usage?.total_usage;
    if (stats === undefined || cpuNanos === undefined) return undefined;
    const processes = stats.pids_stats?.current;
    return {
      id,
      podUid,
      container,
      cpuNanos,
      memoryBytes: workingSet(stats),
      ...(processes === undefined ? {} : { processes }),
    };
  } catch (error) {
    if (error instanceof RuntimeError && error.reason !== 'EngineDown') return undefined;
    throw error;
  }
}

/** cgroup v1 and v2 have different names for inactive pages. */
function workingSet({ memory_stats: { usage = 0, stats = {} } = {} }: StatsResponse): number {
  return Math.max(usage - (stats.total_inactive_file ?? stats.inactive_file ?? 0), 0);
}
