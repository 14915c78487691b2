/** A host with its own engine on which `everynode up` runs as a process, with a kubectl. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeMemory } from '../../../agent/volumes/pod-folders.js';
import { freePort } from '../basics/test-sockets.js';
import { until } from '../basics/wait-until.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../clients/kubectl.js';
import { EngineContainers } from '../engines/engine-containers.js';
import { type EngineKind, startEngine, type TestEngine } from '../engines/test-engines.js';
import { loadTestImages } from '../engines/test-images.js';
import { processesNaming, type RunningProgram, startProgram } from '../processes/everynode-processes.js';

const READY_MS = 60_000;
/** The node's name in the documented commands. */
export const NODE = 'master';

interface TourOptions {
  /** Tags of the one test image. */
  images: string[];
  /** Additional flags of `up`. */
  args?: readonly string[];
}

export class TourFixture {
  readonly containers: EngineContainers;
  readonly #folder = mkdtempSync(join(tmpdir(), 'everynode-tour-'));
  readonly #args: readonly string[];
  #port = 0;
  #up: RunningProgram | undefined;
  #kubectl: Kubectl | undefined;

  private constructor(
    readonly engine: TestEngine,
    args: readonly string[],
  ) {
    this.containers = new EngineContainers(engine.socketPath);
    this.#args = args;
  }

  /** Opens the fixture. Resolves with a reason where this machine lacks the engine or a kubectl. */
  static async open(kind: EngineKind, { images, args = [] }: TourOptions): Promise<TourFixture | string> {
    const why = whyNoKubectl();
    if (why !== undefined) return why;
    const engine = await startEngine(kind);
    if (typeof engine === 'string') return engine;
    const fixture = new TourFixture(engine, args);
    try {
      await loadTestImages(engine.socketPath, images);
      fixture.#port = await freePort();
      await fixture.startUp();
      return fixture;
    } catch (error) {
      await fixture.close();
      throw error;
    }
  }

  get dataDir(): string {
    return join(this.#folder, 'data');
  }

  get port(): number {
    return this.#port;
  }

  /** Environment with the engine's address, for a process of this machine. */
  get environment(): Record<string, string> {
    return { DOCKER_HOST: `unix://${this.engine.socketPath}` };
  }

  get up(): RunningProgram {
    if (!this.#up) throw new Error('up was not started');
    return this.#up;
  }

  /** The output of all `up` processes of this fixture. */
  get printed(): string {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : '';
  }

  get kubectl(): Kubectl {
    this.#kubectl ??= this.newKubectl();
    return this.#kubectl;
  }

  newKubectl(binary?: string, environment?: Record<string, string>): Kubectl {
    return createKubectl(readFileSync(join(this.dataDir, 'kubeconfig'), 'utf8'), binary, environment);
  }

  /** Runs `everynode up` again on the same data with these variables. Resolves when it reports the node as Ready. */
  async startUp(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    const before = this.printed.length;
    const args = ['up', '--data', this.dataDir, '--port', String(this.#port), '--node-name', NODE];
    args.push('--runtime', this.engine.kind, ...this.#args);
    const up = startProgram('coordinator/cli/everynode.js', args, this.#log, {
      ...this.environment,
      ...environment,
    });
    this.#up = up;
    await until(
      () => {
        if (!up.running) throw new Error(`up ended with ${up.exitStatus}: ${this.printed.slice(before)}`);
        return this.printed.slice(before).includes(`Node ${NODE} is Ready`);
      },
      { timeoutMs: READY_MS, what: 'the node to be Ready' },
    );
  }

  /** Returns the process ids of all agents of this data directory. */
  agents(): number[] {
    return processesNaming(join(this.dataDir, 'agent'));
  }

  /** Stops everything, including containers. */
  async close(): Promise<void> {
    await this.#up?.end('SIGTERM');
    for (const pid of this.agents()) process.kill(pid, 'SIGKILL');
    this.#kubectl?.remove();
    this.containers.close();
    await this.engine.stop();
    await removeMemory(join(this.dataDir, 'agent'));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #log(): string {
    return join(this.#folder, 'up.log');
  }
}
