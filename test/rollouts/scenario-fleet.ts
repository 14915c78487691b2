/** A coordinator process and simulated hosts in this process: the fleet on which rollout scenarios run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeTemplate } from '../../agent/simulate/node-templates.js';
import type { SimulatedNode } from '../../agent/simulate/simulated-node.js';
import { SimulatedNodeFleet } from '../../agent/simulate/simulated-node-fleet.js';
import { apiClientFromKubeconfig } from '../../coordinator/cli/client/api-client.js';
import { createToken } from '../../coordinator/cli/commands/token-command.js';
import { contactOf } from '../../coordinator/decisions/nodes/node-contact.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../shared/kube/objects/conditions.js';
import { silentLogger } from '../../shared/process/output/logger.js';
import { CoordinatorApi } from '../harness/api/coordinator-api.js';
import { freePort } from '../harness/basics/test-sockets.js';
import { until } from '../harness/basics/wait-until.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../harness/processes/everynode-processes.js';

/** Percentage of hosts in the wave `lab`, and with the hardware `old`. */
const LAB_SHARE = 4;
const OLD_SHARE = 10;
const SITES = 20;
const UP_MS = 300_000;
/** Default time until a Pod becomes ready. */
const READY_MS = 500;

/** Label names that scenarios select by. */
export const HARDWARE_LABEL = 'hardware';
export const SITE_LABEL = 'site';
export const LAB_LABEL = 'lab';
export const ZONE_LABEL = 'tz';

/** `count` nodes: a few in a lab, some with old hardware, all spread over sites. */
function stageNodes(count: number): NodeTemplate[] {
  return Array.from({ length: count }, (_, index) => ({
    metadata: {
      name: `host-${index + 1}`,
      labels: {
        [SITE_LABEL]: `site-${index % SITES}`,
        [ZONE_LABEL]: index % 2 === 0 ? 'Europe.Berlin' : 'Asia.Tokyo',
        [HARDWARE_LABEL]: (index * 37) % 100 < OLD_SHARE ? 'old' : 'new',
        ...((index * 53) % 100 < LAB_SHARE ? { [LAB_LABEL]: 'yes' } : {}),
      },
    },
  }));
}

export interface ScenarioFleetOptions {
  nodes: number;
  /** Factor by which simulated times are shortened. */
  speed: number;
  /** Simulated time until a Pod becomes ready, before the division by `speed`. */
  readyMs?: number;
  /** Receives progress messages. */
  print: (text: string) => void;
}

/** A running fleet. The coordinator can be killed; the hosts live in this process. */
export class ScenarioFleet {
  readonly nodes: number;
  /** Time until a Pod becomes ready, ms: the simulated value and the real one. */
  readonly ready: { simulatedMs: number; realMs: number };
  readonly print: ScenarioFleetOptions['print'];
  readonly hosts: SimulatedNodeFleet;
  readonly #folder: string;
  readonly #port: number;
  readonly #offline = new Set<SimulatedNode>();
  #coordinator: CoordinatorProcess;

  private constructor(
    { nodes, print: say, speed, readyMs = READY_MS }: ScenarioFleetOptions,
    readonly api: CoordinatorApi,
    parts: { hosts: SimulatedNodeFleet; folder: string; port: number; coordinator: CoordinatorProcess },
  ) {
    this.nodes = nodes;
    this.ready = { simulatedMs: readyMs, realMs: readyMs / speed };
    this.print = say;
    this.hosts = parts.hosts;
    this.#folder = parts.folder;
    this.#port = parts.port;
    this.#coordinator = parts.coordinator;
  }

  /** Resolves when every host is Ready. */
  static async start(options: ScenarioFleetOptions): Promise<ScenarioFleet> {
    const folder = mkdtempSync(join(tmpdir(), 'everynode-rollouts-'));
    const port = await freePort();
    const coordinator = await startCoordinator(folder, port);
    const client = apiClientFromKubeconfig(coordinator.kubeconfigPath);
    const { text: token } = await createToken(client, { ttlSeconds: 0, reusable: true, description: '' });
    const plans = stageNodes(options.nodes);
    const hosts = new SimulatedNodeFleet({
      ...{
        server: client.server,
        token,
        templates: plans,
        speed: options.speed,
        firstIndex: 0,
        log: silentLogger,
      },
    });
    const stage = new ScenarioFleet(options, new CoordinatorApi(coordinator.kubeconfig), {
      ...{ hosts, folder, port, coordinator },
    });
    try {
      await hosts.start();
      await stage.#untilAllReady();
    } catch (error) {
      await stage.stop();
      throw error;
    }
    return stage;
  }

  /** The hosts that a query selects. */
  select(query: (host: SimulatedNode) => boolean): SimulatedNode[] {
    return this.hosts.select((node) => query(node as SimulatedNode));
  }

  /** Closes the links of these hosts. Their Pods keep running. */
  async disconnect(hosts: readonly SimulatedNode[]): Promise<void> {
    for (const host of hosts) this.#offline.add(host);
    await Promise.all(hosts.map((host) => host.stop()));
  }

  /** Reconnects all offline hosts. */
  async reconnect(): Promise<void> {
    const hosts = [...this.#offline];
    this.#offline.clear();
    await Promise.all(hosts.map((host) => host.start(() => undefined)));
  }

  /** Delays messages to and from these hosts by `delayMs` from now on. Resolves when they have reconnected. */
  async slow(hosts: readonly SimulatedNode[], delayMs: number): Promise<void> {
    const connected = hosts.map(async (host) => {
      // Stop the host instead of breaking its link: a broken link still counts as connected for a short time, and a
      // rollout skips offline hosts.
      await host.stop();
      host.network.slow(delayMs);
      await new Promise<void>((resolve, reject) => void host.start(resolve).catch(reject));
    });
    await Promise.all(connected);
    const haveReported = async () => {
      const { items } = await this.api.items<Node>('/api/v1/nodes');
      return items.filter((node) => contactOf(node) === 'here').length === this.reachable;
    };
    // Poll at intervals: each poll lists all Nodes and would otherwise take the CPU that the hosts need.
    await until(haveReported, { timeoutMs: UP_MS, pollMs: 500, what: 'all connected hosts to report' });
  }

  /** Number of hosts that are not offline. */
  get reachable(): number {
    return this.nodes - this.#offline.size;
  }

  /** Names of the hosts that ever started a container of the image. */
  hostsThatRan(image: string): string[] {
    return this.select((host) => host.hasRun(image)).map(({ name }) => name);
  }

  get kubeconfigPath(): string {
    return this.#coordinator.kubeconfigPath;
  }

  /** Kills the coordinator with SIGKILL and restarts it with the same data and port. */
  async killCoordinator(): Promise<void> {
    this.print('kill -9 of the coordinator');
    await this.#coordinator.end('SIGKILL');
    this.#coordinator = await startCoordinator(this.#folder, this.#port);
  }

  async stop(): Promise<void> {
    await this.hosts.stop();
    this.api.close();
    await this.#coordinator.end('SIGTERM');
    rmSync(this.#folder, { recursive: true, force: true });
    rmSync(`${this.#folder}-coordinator.log`, { force: true });
  }

  async #untilAllReady(): Promise<void> {
    const areReady = async () => {
      if (this.select((host) => host.counts().live === 1).length < this.nodes) return false;
      const { items } = await this.api.items<Node>('/api/v1/nodes');
      return items.filter(({ status }) => isConditionTrue(status?.conditions, 'Ready')).length === this.nodes;
    };
    await until(areReady, { timeoutMs: UP_MS, pollMs: 500, what: `${this.nodes} Ready nodes` });
  }
}

function startCoordinator(folder: string, port: number): Promise<CoordinatorProcess> {
  const flags = ['--port', String(port), '--client-requests-per-second', '0', '--log-level', 'warn'];
  return startCoordinatorProcess(folder, flags);
}
