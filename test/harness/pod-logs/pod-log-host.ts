/** A coordinator and the agent of a host with an engine, whose log files of Pods are in a temporary directory. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiClient, apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { temporaryDirectory } from '../basics/temporary-directory.js';
import { until } from '../basics/wait-until.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../clients/kubectl.js';
import { type EngineKind, startEngine, type TestEngine } from '../engines/test-engines.js';
import { loadTestImages } from '../engines/test-images.js';
import {
  type CoordinatorProcess,
  type RunningProgram,
  startAgentProcess,
  startCoordinatorProcess,
} from '../processes/everynode-processes.js';

const NODE = 'n1';
const READY = { timeoutMs: 60_000, what: 'the host' };
/** Rotations of some files during a test. */
const MAX_SIZE = '256Ki';

export class PodLogHost {
  readonly kubectl: Kubectl;
  readonly directory: string;
  readonly data: string;
  #agent: RunningProgram | undefined;

  private constructor(
    readonly engine: TestEngine,
    private readonly coordinator: CoordinatorProcess,
    private readonly api: ApiClient,
    private readonly token: string,
  ) {
    this.kubectl = createKubectl(coordinator.kubeconfig);
    const root = temporaryDirectory();
    this.directory = join(root, 'log');
    this.data = join(root, 'data');
    mkdirSync(this.directory);
  }

  /** Resolves with a reason where this machine lacks the engine or a kubectl. */
  static async open(kind: EngineKind): Promise<PodLogHost | string> {
    const why = whyNoKubectl();
    if (why !== undefined) return why;
    const engine = await startEngine(kind);
    if (typeof engine === 'string') return engine;
    await loadTestImages(engine.socketPath, ['app:1']);
    const coordinator = await startCoordinatorProcess(join(temporaryDirectory(), 'coordinator'));
    const api = apiClientFromKubeconfig(coordinator.kubeconfigPath);
    const { text } = await createToken(api, { ttlSeconds: 0, description: 'logs', reusable: true });
    const host = new PodLogHost(engine, coordinator, api, text);
    await host.startAgent();
    return host;
  }

  get agentPid(): number {
    return this.#agent?.pid ?? 0;
  }

  async startAgent(): Promise<void> {
    this.#agent = startAgentProcess({
      node: NODE,
      server: this.api.server,
      token: this.token,
      dataDir: this.data,
      runtime: this.engine.kind,
      args: ['--pod-log-directory', this.directory, '--container-log-max-size', MAX_SIZE],
      environment: {
        DOCKER_HOST: `unix://${this.engine.socketPath}`,
        EVERYNODE_AGENT_POD_LOG_FILES: 'on',
        EVERYNODE_AGENT_CLUSTER_DNS: 'off',
      },
    });
    const isReady = async () =>
      (
        await this.api
          .request<Host>('GET', `/apis/fleet.everynode.dev/v1/hosts/${NODE}`)
          .catch(() => undefined)
      )?.status.state === 'Ready';
    await until(isReady, READY);
  }

  async endAgent(signal: NodeJS.Signals): Promise<void> {
    await this.#agent?.end(signal);
  }

  /** Returns the CPU time of the agent, ms. */
  agentCpuMs(): number {
    const fields = readFileSync(`/proc/${this.agentPid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  agentLog(): string {
    return readFileSync(`${this.data}-agent.log`, 'utf8');
  }

  /** Returns the labels of a Pod as a log daemon reads them: by the API, with the token of its ServiceAccount. */
  async labelsBy(
    serviceAccountToken: string,
    namespace: string,
    pod: string,
  ): Promise<Record<string, string>> {
    const { stdout } = await this.kubectl.run([
      ...['--token', serviceAccountToken, '--namespace', namespace],
      ...['get', 'pod', pod, '--output', 'jsonpath={.metadata.labels}'],
    ]);
    return stdout === '' ? {} : JSON.parse(stdout);
  }

  /** Runs a command of the agent. The agent must have ended. */
  runAgentCommand(...args: string[]): string {
    const program = join(import.meta.dirname, '../../../agent/everynode-agent.cjs');
    return execFileSync(process.execPath, [program, ...args, '--data', this.data], { encoding: 'utf8' });
  }

  async close(): Promise<void> {
    await this.endAgent('SIGTERM');
    await this.coordinator.end('SIGTERM');
    this.kubectl.remove();
    await this.engine.stop();
  }
}
