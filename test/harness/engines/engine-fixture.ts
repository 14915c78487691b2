/** A real engine and an agent process over it. The test acts as the coordinator, and causes crashes and power cuts. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DockerEngine } from '../../../agent/runtime/docker/docker-engine.js';
import { askEngine } from '../../../agent/runtime/docker/find-engine.js';
import type { ObservedContainer } from '../../../agent/runtime/runtime-driver.js';
import { removeMemory } from '../../../agent/volumes/pod-folders.js';
import type { Pod, PodSpec, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import { type FromAgent, OWNER, type ToAgent } from './engine-agent.js';
import { type EngineKind, type EngineOptions, startEngine, type TestEngine } from './test-engines.js';
import { loadTestImages } from './test-images.js';

const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), 'engine-agent.js');
const DEADLINE_MS = 60_000;

export class EngineFixture {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'everynode-agent-'));
  /** Last reported status by uid. */
  readonly statuses = new Map<string, PodStatus>();
  readonly removed = new Set<string>();
  readonly #pods = new Map<string, Pod>();
  #agent: ChildProcess | undefined;

  private constructor(
    readonly engine: TestEngine,
    readonly driver: DockerEngine,
  ) {}

  /** Opens the fixture with the image `app:1` in the engine. Resolves with a reason where there is no engine. */
  static async open(kind: EngineKind, options?: EngineOptions): Promise<EngineFixture | string> {
    const engine = await startEngine(kind, options);
    if (typeof engine === 'string') return engine;
    const { socketPath } = engine;
    await loadTestImages(socketPath, ['app:1']);
    const fixture = new EngineFixture(engine, new DockerEngine(await askEngine({ socketPath }), OWNER));
    await fixture.startAgent();
    return fixture;
  }

  /**
   * Assigns the Pod to the agent, now and after each of its restarts. Its uid is its name. The default grace period is
   * short, because a shell that is stopped before it sets its trap ignores the signal.
   */
  assignPod(name: string, spec: PodSpec, metadata: Partial<Pod['metadata']> = {}): void {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', uid: name, ...metadata },
      spec: { terminationGracePeriodSeconds: 5, ...spec },
    };
    this.#pods.set(name, pod);
    this.#send({ set: pod });
  }

  /** Deletes the Pod with its grace period, waits until the agent reports its removal, and unassigns it. */
  async delete(name: string): Promise<void> {
    const pod = this.#pods.get(name);
    if (!pod) throw new Error(`no Pod ${name} was given`);
    // An earlier Pod may have had the same name.
    this.removed.delete(name);
    this.assignPod(name, pod.spec, {
      deletionTimestamp: new Date().toISOString(),
      deletionGracePeriodSeconds: pod.spec.terminationGracePeriodSeconds ?? 30,
    });
    await this.until(`${name} is removed`, () => this.removed.has(name));
    this.#pods.delete(name);
    this.#send({ gone: name });
  }

  async startAgent(): Promise<void> {
    // Like on a real host, the agent runs in the network with the Pods' addresses.
    const agent = fork(PROGRAM, [this.engine.socketPath, this.dataDir], {
      execPath: 'nsenter',
      execArgv: [`--net=${this.engine.networkNamespace}`, process.execPath],
    });
    this.#agent = agent;
    const ready = new Promise<void>((resolve, reject) => {
      agent.once('exit', (code) => reject(new Error(`the agent ended with ${code}`)));
      agent.on('message', (message: FromAgent) => {
        if (message.kind === 'ready') resolve();
        if (message.kind === 'status') this.statuses.set(message.uid, message.status);
        if (message.kind === 'removed') this.removed.add(message.uid);
      });
    });
    for (const set of this.#pods.values()) this.#send({ set });
    await ready;
  }

  /** Returns the CPU time of the agent in ms. */
  agentCpuMs(): number {
    const fields = readFileSync(`/proc/${this.#agent?.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  /** Sends SIGKILL to the agent. */
  async killAgent(): Promise<void> {
    const agent = this.#agent;
    if (!agent) return;
    const ended = new Promise((resolve) => agent.once('exit', resolve));
    agent.kill('SIGKILL');
    await ended;
    this.statuses.clear();
  }

  isReady(name: string): boolean {
    const conditions = this.statuses.get(name)?.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  }

  async untilReady(name: string): Promise<void> {
    await this.until(`${name} is ready`, () => this.isReady(name));
  }

  /** Returns the Pod's running containers. */
  async running(name: string): Promise<ObservedContainer[]> {
    return (await this.driver.inspectPod(name)).filter(({ state }) => state === 'running');
  }

  /** Returns a container's output so far. */
  async logOf(container: ObservedContainer): Promise<string> {
    const chunks: Uint8Array[] = [];
    const { signal } = new AbortController();
    const bytes = this.driver.logs(container.id, { follow: false, timestamps: false }, signal);
    for await (const chunk of bytes) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  /** Waits for a condition. At the timeout it throws an Error with all statuses. */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const end = Date.now() + DEADLINE_MS;
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`not seen: ${what}; ${JSON.stringify([...this.statuses])}`);
      await sleep(20);
    }
  }

  async close(): Promise<void> {
    await this.killAgent();
    this.driver.close();
    await this.engine.stop();
    await removeMemory(this.dataDir);
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  #send(message: ToAgent): void {
    // A process that was just killed may still look connected. Its successor receives all assigned Pods at its start.
    if (this.#agent?.connected) this.#agent.send(message, () => undefined);
  }
}
