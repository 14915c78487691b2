/** A coordinator process and an agent process for each engine, each agent in its engine's network namespace. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { CoordinatorApi, type RecordedWatch } from '../../harness/api/coordinator-api.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { until } from '../../harness/basics/wait-until.js';
import { AMPLE_HOST_ARGS } from '../../harness/pods/ample-host.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';
import type { BenchEngine } from './bench-engines.js';

const AGENT = fileURLToPath(new URL('../../../agent/everynode-agent.sh', import.meta.url));
const NODES = '/api/v1/nodes';
const WAIT_MS = 60_000;

/** Data folder of the agents, and how they join the coordinator. */
interface JoinTerms {
  folder: string;
  port: number;
  token: string;
}

export class EverynodeHosts {
  readonly agents: ChildProcess[] = [];

  private constructor(
    readonly engines: readonly BenchEngine[],
    readonly coordinator: CoordinatorProcess,
    readonly api: CoordinatorApi,
    private readonly nodes: RecordedWatch,
    private readonly terms: JoinTerms,
  ) {}

  /** Resolves when all nodes are Ready. */
  static async start(engines: readonly BenchEngine[], folder: string): Promise<EverynodeHosts> {
    const port = await freePort();
    const flags = ['--host', '0.0.0.0', '--port', String(port), '--log-level', 'warn'];
    const coordinator = await startCoordinatorProcess(join(folder, 'coordinator'), flags);
    const api = new CoordinatorApi(coordinator.kubeconfig);
    const client = apiClientFromKubeconfig(coordinator.kubeconfigPath);
    const { text: token } = await createToken(client, {
      ttlSeconds: 0,
      description: '',
      reusable: true,
      anyLabels: true,
    });
    const nodes = await api.watch(NODES, '0');
    const hosts = new EverynodeHosts(engines, coordinator, api, nodes, { folder, port, token });
    for (const index of engines.keys()) hosts.startAgent(index);
    await Promise.all([...engines.keys()].map((index) => hosts.untilNode(index, 'Ready', 'True', 0)));
    return hosts;
  }

  nodeName(index: number): string {
    return `host-${index}`;
  }

  /** Starts the agent like a service. A restart is the same host. */
  startAgent(index: number): void {
    const { engine } = this.engines[index] ?? {};
    if (!engine) throw new Error(`there is no engine ${index}`);
    const { folder, port, token } = this.terms;
    const name = this.nodeName(index);
    const environment = ['env', `DOCKER_HOST=unix://${engine.socketPath}`, `PATH=${process.env.PATH}`];
    environment.push(...AMPLE_HOST_ARGS, `EVERYNODE_TOKEN=${token}`);
    const flags = [
      ...['--server', `https://${engine.gateway}:${port}`, '--data', join(folder, name)],
      ...['--node-name', name, '--runtime', 'docker', '--log-level', 'warn'],
    ];
    this.agents[index] = engine.spawnOnHost(...environment, AGENT, ...flags);
  }

  async killAgent(index: number, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const agent = this.agents[index];
    if (!agent || agent.exitCode !== null || agent.signalCode !== null) return;
    const ended = once(agent, 'exit');
    agent.kill(signal);
    await ended;
  }

  /** Resolves with the time at which a watch reported the condition with that status, after `since`. */
  async untilNode(index: number, type: string, status: string, since: number): Promise<number> {
    let at = 0;
    const isSo = () => {
      const event = this.nodes.events.find(({ object, at }) => {
        const { metadata, status: nodeStatus } = object as unknown as Node;
        const isOurs = metadata.name === this.nodeName(index) && at >= since;
        return isOurs && nodeStatus?.conditions?.some((each) => each.type === type && each.status === status);
      });
      at = event?.at ?? 0;
      return event !== undefined;
    };
    await until(isSo, { timeoutMs: WAIT_MS, pollMs: 10, what: `${this.nodeName(index)} ${type}=${status}` });
    return at;
  }

  /** Stops all processes. Containers must have been removed before. */
  async stop(): Promise<void> {
    this.nodes.close();
    await Promise.all([...this.agents.keys()].map((index) => this.killAgent(index, 'SIGTERM')));
    this.api.close();
    await this.coordinator.end('SIGTERM');
  }
}
