/**
 * The product as users run it: a coordinator process with TLS and a durable store, and simulated hosts with the real
 * agent's code.
 */
import { FleetSupervisor } from '../../../agent/simulate/fleet-supervisor.js';
import { numberedNodes } from '../../../agent/simulate/node-templates.js';
import { SIMULATE_SETTINGS } from '../../../agent/simulate/simulate-settings.js';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import { loadSettings } from '../../../shared/process/settings/settings-schema.js';
import { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { until } from '../../harness/basics/wait-until.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';
import { ProcessCost } from '../server-cost.js';

/**
 * V8 collects the garbage of a whole process each time its TLS sockets have taken 32 MB. One process with 10,000 hosts
 * needs half of its CPU for that, so the fleet would return only as fast as the simulation can.
 */
const HOSTS_PER_PROCESS = 2_500;
/** Timeout for a whole fleet to connect or reconnect. */
const FLEET_MS = 900_000;
/** Below this share of a core, not counting heartbeats, the coordinator is idle apart from its links. */
const QUIET_SHARE = 0.1;
const BEATS_SHARE = 0.000_01;
/** Longer than an agent's debounce delays. The load is sampled several times in each window. */
const QUIET_WINDOW_MS = 800;
const LOOKS = 4;

export class HollowFleet {
  #hosts: FleetSupervisor | undefined;
  #starts = 1;

  private constructor(
    readonly agents: number,
    readonly folder: string,
    readonly port: number,
    public coordinator: CoordinatorProcess,
    public cost: ProcessCost,
    readonly api: CoordinatorApi,
  ) {}

  /** Starts the coordinator alone; `join` adds the hosts. */
  static async start(folder: string, agents: number): Promise<HollowFleet> {
    const port = await freePort();
    const cost = new ProcessCost(`${folder}.probe1`);
    const coordinator = await startCoordinator(folder, port, cost);
    return new HollowFleet(
      agents,
      folder,
      port,
      coordinator,
      cost,
      new CoordinatorApi(coordinator.kubeconfig),
    );
  }

  /** Enrols and connects all hosts. Resolves when the coordinator is idle. */
  async join(): Promise<void> {
    const { server, token } = await this.reusableToken();
    const settings = await loadSettings(SIMULATE_SETTINGS, {
      flags: { server, nodes: this.agents, processes: Math.ceil(this.agents / HOSTS_PER_PROCESS) },
      environment: { EVERYNODE_TOKEN: token },
      environmentPrefix: '',
    });
    this.#hosts = new FleetSupervisor(settings, numberedNodes('node', this.agents));
    await this.untilAllLive();
    await this.untilQuiet();
  }

  /** A join token for any number of hosts. */
  async reusableToken(): Promise<{ server: string; token: string }> {
    const client = apiClientFromKubeconfig(this.coordinator.kubeconfigPath);
    const wish = { ttlSeconds: 0, description: '', reusable: true, anyLabels: true };
    return { server: client.server, token: (await createToken(client, wish)).text };
  }

  get live(): number {
    return this.#hosts?.counts().live ?? 0;
  }

  /** Number of running containers on all hosts. */
  get running(): number {
    return this.#hosts?.counts().running ?? 0;
  }

  /** Runs a command on simulated hosts: see `COMMANDS_HELP`. */
  async command(line: string): Promise<void> {
    const meant = await this.#hosts?.command(line);
    if (!meant) throw new Error(`${line}: matches no host`);
  }

  async untilAllLive(): Promise<void> {
    const all = until(() => this.live === this.agents, { timeoutMs: FLEET_MS, what: 'all hosts to be live' });
    await Promise.race([all, this.#hosts?.failed]);
  }

  async untilQuiet(): Promise<void> {
    const most = (QUIET_SHARE + BEATS_SHARE * this.agents) * QUIET_WINDOW_MS;
    const seen: number[] = [];
    const isQuiet = async () => {
      const now = await this.cost.cpuMs();
      const windowAgo = seen.at(-LOOKS);
      seen.push(now);
      return windowAgo !== undefined && now - windowAgo < most;
    };
    const pollMs = QUIET_WINDOW_MS / LOOKS;
    await until(isQuiet, { timeoutMs: FLEET_MS, what: 'the coordinator to come to rest', pollMs });
  }

  /**
   * Kills the coordinator with SIGKILL and restarts it with the same data and port; `cost` measures the new process.
   */
  async killAndRestart(): Promise<void> {
    await this.coordinator.end('SIGKILL');
    await until(() => this.live === 0, { timeoutMs: FLEET_MS, what: 'all hosts to notice' });
    this.#starts += 1;
    this.cost = new ProcessCost(`${this.folder}.probe${this.#starts}`);
    this.coordinator = await startCoordinator(this.folder, this.port, this.cost);
  }

  async stop(): Promise<void> {
    await this.#hosts?.stop();
    this.api.close();
    await this.coordinator.end('SIGTERM');
  }
}

function startCoordinator(folder: string, port: number, cost: ProcessCost): Promise<CoordinatorProcess> {
  const flags = ['--port', String(port), '--client-requests-per-second', '0', '--log-level', 'warn'];
  return startCoordinatorProcess(folder, flags, cost.environment);
}
