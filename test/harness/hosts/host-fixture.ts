/**
 * A host with its own engine. `everynode up` and kubectl run in the engine's network, because the agent must reach its
 * Pods' addresses.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../basics/wait-until.js';
import { createKubectl, findKubectl, type Kubectl, whyNoKubectl } from '../clients/kubectl.js';
import { EngineContainers } from '../engines/engine-containers.js';
import { type EngineKind, startEngine, type TestEngine } from '../engines/test-engines.js';
import { loadArchive } from '../engines/test-images.js';
import { AMPLE_HOST_ARGS } from '../pods/ample-host.js';
import { processesNaming } from '../processes/everynode-processes.js';

const PROGRAM = resolve(dirname(fileURLToPath(import.meta.url)), '../../../coordinator/cli/everynode.js');
const READY_MS = 60_000;
export const HOST_NAME = 'host-1';

export class HostFixture {
  readonly containers: EngineContainers;
  readonly #folder = mkdtempSync(join(tmpdir(), 'everynode-host-'));
  #up: ChildProcess | undefined;
  #kubectl: Kubectl | undefined;

  private constructor(readonly engine: TestEngine) {
    this.containers = new EngineContainers(engine.socketPath);
  }

  /** Opens the fixture with these images. Resolves with a reason where this machine lacks the engine or a kubectl. */
  static async open(kind: EngineKind, archives: readonly Buffer[]): Promise<HostFixture | string> {
    const why = whyNoKubectl();
    if (why !== undefined) return why;
    const engine = await startEngine(kind);
    if (typeof engine === 'string') return engine;
    const fixture = new HostFixture(engine);
    try {
      for (const archive of archives) await loadArchive(engine.socketPath, archive);
      await fixture.#start();
      return fixture;
    } catch (error) {
      await fixture.close();
      throw error;
    }
  }

  get kubectl(): Kubectl {
    if (!this.#kubectl) throw new Error('the host did not start');
    return this.#kubectl;
  }

  /** Returns the process id of the agent. */
  agentPid(): number {
    const [pid] = processesNaming(join(this.#data, 'agent'));
    if (pid === undefined) throw new Error('no agent runs');
    return pid;
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  /** Stops everything, including containers. */
  async close(): Promise<void> {
    if (this.#up?.exitCode === null) {
      const ended = new Promise((done) => this.#up?.once('exit', done));
      this.#up.kill('SIGTERM');
      await ended;
    }
    this.#kubectl?.remove();
    this.containers.close();
    await this.engine.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const { socketPath, kind } = this.engine;
    this.#up = this.engine.spawnOnHost(
      ...['env', `DOCKER_HOST=unix://${socketPath}`, ...AMPLE_HOST_ARGS, process.execPath, PROGRAM, 'up'],
      ...['--data', this.#data, '--node-name', HOST_NAME, '--runtime', kind],
    );
    const kubeconfig = join(this.#data, 'kubeconfig');
    await until(
      () => {
        if (this.#up?.exitCode !== null) throw new Error(`up ended with ${this.#up?.exitCode}`);
        return existsSync(kubeconfig);
      },
      { timeoutMs: READY_MS, what: 'a kubeconfig' },
    );
    this.#kubectl = createKubectl(readFileSync(kubeconfig, 'utf8'), this.#kubectlOnHost());
    await until(
      async () => {
        const { stdout } = await this.kubectl.run(['get', 'node', HOST_NAME, '--no-headers']);
        return / Ready /.test(stdout);
      },
      { timeoutMs: READY_MS, what: 'the node to be Ready' },
    );
  }

  /** Returns the path of a program that runs kubectl on the host. */
  #kubectlOnHost(): string {
    const path = join(this.#folder, 'kubectl');
    writeFileSync(path, `#!/bin/sh\nexec ${this.engine.enter.join(' ')} ${findKubectl()} "$@"\n`, {
      mode: 0o755,
    });
    return path;
  }
}
