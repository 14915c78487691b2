/** A coordinator and many simulated hosts in this process: the real code of both, with hollow engines. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { numberedNodes } from '../../../agent/simulate/node-templates.js';
import { SimulatedNodeFleet } from '../../../agent/simulate/simulated-node-fleet.js';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import { COORDINATOR_SETTINGS } from '../../../coordinator/coordinator-settings.js';
import { startCoordinator } from '../../../coordinator/main.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { loadSettings } from '../../../shared/process/settings/settings-schema.js';
import { CoordinatorApi } from '../api/coordinator-api.js';
import { until } from '../basics/wait-until.js';

const READY_TIMEOUT_MS = 60_000;

export interface SimulatedFleet {
  /** The administrator's kubeconfig. */
  kubeconfig: string;
  api: CoordinatorApi;
  hosts: SimulatedNodeFleet;
  stop(): Promise<void>;
}

/**
 * Starts the fleet and resolves when every node (`node-1` …) is Ready. `speed` divides all simulated times. `flags` are
 * additional flags of the coordinator.
 */
export async function startSimulatedFleet(
  nodes: number,
  speed = 1,
  flags: Readonly<Record<string, unknown>> = {},
): Promise<SimulatedFleet> {
  const data = mkdtempSync(join(tmpdir(), 'everynode-fleet-'));
  const settings = await loadSettings(COORDINATOR_SETTINGS, {
    flags: { data, host: '127.0.0.1', port: 0, ...flags },
    environment: {},
    environmentPrefix: '',
  });
  const coordinator = await startCoordinator(settings, silentLogger);
  const path = join(data, 'kubeconfig');
  const kubeconfig = readFileSync(path, 'utf8');
  const { text: token } = await createToken(apiClientFromKubeconfig(path), {
    ttlSeconds: 0,
    description: '',
    reusable: true,
  });
  const hosts = new SimulatedNodeFleet({
    server: coordinator.server,
    token,
    templates: numberedNodes('node', nodes),
    speed,
    firstIndex: 0,
    log: silentLogger,
  });
  const api = new CoordinatorApi(kubeconfig);
  const stop = async () => {
    api.close();
    await hosts.stop();
    await coordinator.stop();
    rmSync(data, { recursive: true, force: true });
  };
  try {
    await hosts.start();
    const areReady = async () => {
      const { items } = await api.items<Node>('/api/v1/nodes');
      return items.filter(({ status }) => isConditionTrue(status?.conditions, 'Ready')).length === nodes;
    };
    await until(areReady, { timeoutMs: READY_TIMEOUT_MS, what: `${nodes} Ready nodes` });
  } catch (error) {
    await stop();
    throw error;
  }
  return { kubeconfig, api, hosts, stop };
}
