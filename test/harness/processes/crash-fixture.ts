/** A real engine, a coordinator and two agents in separate processes, which a test can kill at any time. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import { freePort } from '../basics/test-sockets.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../clients/kubectl.js';
import { type EngineContainer, EngineContainers } from '../engines/engine-containers.js';
import { type EngineKind, startEngine, type TestEngine } from '../engines/test-engines.js';
import { loadTestImages } from '../engines/test-images.js';
import {
  type CoordinatorProcess,
  type RunningProgram,
  startAgentProcess,
  startCoordinatorProcess,
} from './everynode-processes.js';

export const NODES = ['n1', 'n2'] as const;

export class CrashFixture {
  readonly containers: EngineContainers;
  readonly #folder = mkdtempSync(join(tmpdir(), 'everynode-crash-'));
  readonly #agents = new Map<string, RunningProgram>();
  #port = 0;
  #token = '';
  #coordinator: CoordinatorProcess | undefined;
  #kubectl: Kubectl | undefined;

  private constructor(readonly engine: TestEngine) {
    this.containers = new EngineContainers(engine.socketPath);
  }

  /** Opens the fixture. Resolves with a reason where this machine lacks the engine or a kubectl. */
  static async open(kind: EngineKind, images: string[]): Promise<CrashFixture | string> {
    const why = whyNoKubectl();
    if (why !== undefined) return why;
    const engine = await startEngine(kind);
    if (typeof engine === 'string') return engine;
    const fixture = new CrashFixture(engine);
    try {
      await loadTestImages(engine.socketPath, images);
      await fixture.#startAll();
      return fixture;
    } catch (error) {
      await fixture.close();
      throw error;
    }
  }

  get kubectl(): Kubectl {
    this.#kubectl ??= createKubectl(this.#running().kubeconfig);
    return this.#kubectl;
  }

  async startCoordinator(): Promise<void> {
    this.#coordinator = await startCoordinatorProcess(this.#dataDir('c'), ['--port', String(this.#port)]);
  }

  killCoordinator(): Promise<void> {
    return this.#running().end('SIGKILL');
  }

  startAgent(node: string): void {
    const agent = startAgentProcess({
      node,
      server: `https://127.0.0.1:${this.#port}`,
      token: this.#token,
      dataDir: this.#dataDir(node),
      runtime: this.engine.kind,
      environment: { DOCKER_HOST: `unix://${this.engine.socketPath}` },
    });
    this.#agents.set(node, agent);
  }

  async endAgent(node: string, signal: NodeJS.Signals): Promise<void> {
    await this.#agents.get(node)?.end(signal);
  }

  /** Returns the agent's log so far. */
  agentLog(node: string): string {
    const path = `${this.#dataDir(node)}-agent.log`;
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  /** Returns the running containers of Everynode. */
  async running(): Promise<EngineContainer[]> {
    const all = await this.containers.all();
    return all.filter(({ podUID, state }) => podUID !== undefined && state === 'running');
  }

  /** Stops everything, including containers. */
  async close(): Promise<void> {
    for (const agent of this.#agents.values()) await agent.end('SIGKILL');
    await this.#coordinator?.end('SIGTERM');
    this.#kubectl?.remove();
    this.containers.close();
    await this.engine.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #startAll(): Promise<void> {
    this.#port = await freePort();
    await this.startCoordinator();
    const api = apiClientFromKubeconfig(this.#running().kubeconfigPath);
    this.#token = (await createToken(api, { ttlSeconds: 0, description: 'crashes', reusable: true })).text;
    for (const node of NODES) this.startAgent(node);
    for (const node of NODES) {
      await this.kubectl.ok(`wait node/${node} --for=create --timeout=30s`);
      await this.kubectl.ok(`wait node/${node} --for=condition=Ready --timeout=30s`);
    }
  }

  #running(): CoordinatorProcess {
    if (!this.#coordinator) throw new Error('the coordinator was not started');
    return this.#coordinator;
  }

  #dataDir(name: string): string {
    return join(this.#folder, name);
  }
}
