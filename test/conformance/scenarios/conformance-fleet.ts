/** The environment of one scenario: a coordinator, hollow hosts, kubectl, and faults of a host. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { until } from '../../harness/basics/wait-until.js';
import { createKubectl, type Kubectl } from '../../harness/clients/kubectl.js';
import {
  type CoordinatorProcess,
  type RunningProgram,
  startAgentProcess,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';
import type { ScenarioNode } from './conformance-scenario.js';

const READY_TIMEOUT_MS = 60_000;

/** Commands of a hollow agent, see agent/runtime/hollow/hollow-control.ts. */
export type HollowCommand =
  | { command: 'ready' | 'unready' | 'fail' | 'succeed'; podUid: string }
  | { command: 'exit'; podUid: string; code: number };

export interface FleetOptions {
  nodes: readonly ScenarioNode[];
  /** Images of Pods that stay unready until the scenario makes them ready. */
  unreadyImages: readonly string[];
  /** Lines that a container of the image logs at its start. */
  logs?: Readonly<Record<string, readonly string[]>>;
}

export class ConformanceFleet {
  readonly api: CoordinatorApi;
  readonly kubectl: Kubectl;
  readonly #folder: string;
  readonly #coordinator: CoordinatorProcess;
  readonly #token: string;
  readonly #images: readonly object[];
  readonly #agents = new Map<string, RunningProgram>();

  private constructor(
    folder: string,
    coordinator: CoordinatorProcess,
    kubectl: Kubectl,
    token: string,
    options: FleetOptions,
  ) {
    this.#folder = folder;
    this.#coordinator = coordinator;
    this.#token = token;
    // The engine gets the full image name with its registry.
    this.#images = [
      ...options.unreadyImages.map((image) => ({ pattern: `*/${image}`, ready: 'never' })),
      ...Object.entries(options.logs ?? {}).map(([image, log]) => ({ pattern: `*/${image}`, log })),
    ];
    this.kubectl = kubectl;
    this.api = new CoordinatorApi(coordinator.kubeconfig);
  }

  /** Starts everything and waits until every node is Ready. */
  static async start(options: FleetOptions): Promise<ConformanceFleet> {
    // Short, because a unix socket's path has 107 bytes.
    const folder = mkdtempSync(join(tmpdir(), 'en-'));
    const coordinator = await startCoordinatorProcess(join(folder, 'c'));
    const kubectl = createKubectl(coordinator.kubeconfig);
    const client = apiClientFromKubeconfig(coordinator.kubeconfigPath);
    const token = await createToken(client, {
      ttlSeconds: 0,
      description: 'scenario',
      reusable: true,
      anyLabels: true,
    });
    const fleet = new ConformanceFleet(folder, coordinator, kubectl, token.text, options);
    await Promise.all(options.nodes.map((node) => fleet.addNode(node)));
    return fleet;
  }

  /** Adds a host without containers. */
  async addNode(node: ScenarioNode): Promise<void> {
    if (node.unschedulable || node.conditions) await this.#createNodeObject(node);
    this.startAgent(node.name, node);
    await until(async () => isConditionTrue((await this.node(node.name))?.status?.conditions, 'Ready'), {
      timeoutMs: READY_TIMEOUT_MS,
      what: `node ${node.name} to be Ready`,
    });
  }

  /** Starts the agent of a host. The same name again is a restart of the same host. */
  startAgent(name: string, registration: Pick<ScenarioNode, 'labels' | 'taints'> = {}): void {
    const dataDir = this.#hostFolder(name);
    const hollow = join(dataDir, 'hollow');
    if (!existsSync(hollow)) {
      mkdirSync(hollow, { recursive: true });
      writeFileSync(join(hollow, 'images.json'), JSON.stringify(this.#images));
    }
    const labels = Object.entries(registration.labels ?? {}).map(([key, value]) => `${key}=${value}`);
    const taints = (registration.taints ?? []).map(
      ({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`,
    );
    const server = /server: (\S+)/.exec(this.#coordinator.kubeconfig)?.[1] ?? '';
    this.#agents.set(
      name,
      startAgentProcess({
        node: name,
        server,
        token: this.#token,
        dataDir,
        labels: labels.join(','),
        taints: taints.join(','),
      }),
    );
  }

  /** Kills the agent's process with SIGKILL. */
  async killAgent(name: string): Promise<void> {
    await this.#agents.get(name)?.end('SIGKILL');
    this.#agents.delete(name);
  }

  /** Sends a hollow host a command for one of its Pods. */
  async command(node: string, command: HollowCommand): Promise<void> {
    const path = join(this.#hostFolder(node), 'hollow', 'control.sock');
    const socket = connect(path);
    try {
      socket.write(`${JSON.stringify(command)}\n`);
      for await (const line of createInterface({ input: socket })) {
        const answer = JSON.parse(line) as { error?: string };
        if (answer.error) throw new Error(`${node}: ${answer.error}`);
        return;
      }
      throw new Error(`${node}: no answer to ${command.command}`);
    } finally {
      socket.destroy();
    }
  }

  /** The administrator's kubeconfig. */
  get kubeconfig(): string {
    return this.#coordinator.kubeconfig;
  }

  get kubeconfigPath(): string {
    return this.#coordinator.kubeconfigPath;
  }

  async node(name: string): Promise<Node | undefined> {
    const { code, body } = await this.api.send('GET', `/api/v1/nodes/${name}`);
    return code === 200 ? (body as Node) : undefined;
  }

  /** Pods on a node without deletionTimestamp. */
  async podsOn(node: string): Promise<Pod[]> {
    const { items } = await this.api.items<Pod>('/api/v1/namespaces/default/pods');
    return items.filter((pod) => pod.spec.nodeName === node && !pod.metadata.deletionTimestamp);
  }

  /** Output of the programs, for the report of a failed case. */
  logs(): string {
    return readFileSync(join(this.#folder, 'c-coordinator.log'), 'utf8');
  }

  async stop(): Promise<void> {
    this.api.close();
    await Promise.all([...this.#agents.values()].map((agent) => agent.end('SIGKILL')));
    await this.#coordinator.end('SIGKILL');
    this.kubectl.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #createNodeObject({ name, labels, unschedulable, conditions }: ScenarioNode): Promise<void> {
    await this.api.request('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
      spec: unschedulable ? { unschedulable } : {},
    });
    if (!conditions) return;
    await this.api.request(
      'PATCH',
      `/api/v1/nodes/${name}/status`,
      { status: { conditions } },
      'application/strategic-merge-patch+json',
    );
  }

  #hostFolder(name: string): string {
    return join(this.#folder, name);
  }
}
