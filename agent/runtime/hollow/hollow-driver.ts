/** Runtime driver without containers, for hollow nodes and tests. It obeys the contract in test/laws. */
import { type Duplex, PassThrough } from 'node:stream';
import {
  type AttachedStreams,
  type AttachRequest,
  type ContainerConfig,
  type ContainerOwner,
  type ContainerStorage,
  type ContainerUsage,
  type EngineImage,
  type EngineInfo,
  type ExecProcess,
  type ExecRequest,
  type LogRequest,
  type ObservedContainer,
  type PullRequest,
  type RuntimeDriver,
  RuntimeError,
  type RuntimeEvent,
  SANDBOX,
} from '../runtime-driver.js';
import type { HollowEngine } from './hollow-engine.js';
import { HOLLOW_IMAGE_BYTES, HOLLOW_IMAGE_USER, hollowImageID } from './hollow-images.js';
import type { HollowContainer } from './hollow-state.js';

const SANDBOX_IMAGE = 'everynode.dev/sandbox:hollow';

/** One owner's view of a hollow engine. Closing it changes neither the engine nor its containers. */
export class HollowDriver implements RuntimeDriver {
  readonly #engine: HollowEngine;
  readonly #owner: ContainerOwner;

  constructor(engine: HollowEngine, owner: ContainerOwner) {
    this.#engine = engine;
    this.#owner = owner;
  }

  async info(): Promise<EngineInfo> {
    this.#engine.assertUp();
    return {
      name: 'hollow',
      version: '1.0',
      apiVersion: '1.41',
      id: `hollow-${this.#owner.nodeName}`,
      appArmor: true,
      seccomp: true,
      rootless: false,
    };
  }

  async list(): Promise<ObservedContainer[]> {
    const slot = this.#engine.waitForSlot();
    if (slot) await slot;
    this.#engine.assertUp();
    return this.#engine.ownedBy(this.#owner).map((container) => this.#observe(container));
  }

  async inspectPod(podUid: string): Promise<ObservedContainer[]> {
    return (await this.list()).filter(({ identity }) => identity.podUid === podUid);
  }

  events(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    return this.#engine.events(this.#owner, signal);
  }

  async storage(podUid?: string): Promise<ContainerStorage[]> {
    const containers = podUid === undefined ? await this.list() : await this.inspectPod(podUid);
    return containers.map(({ identity: { podUid, container, attempt }, state }) => ({
      podUid,
      container,
      attempt,
      isRunning: state === 'running',
      layerBytes: 0,
      logBytes: 0,
    }));
  }

  async findImage(image: string): Promise<EngineImage | undefined> {
    this.#engine.assertUp();
    if (!this.#engine.images.has(image)) return undefined;
    return { id: hollowImageID(image), user: HOLLOW_IMAGE_USER, sizeBytes: HOLLOW_IMAGE_BYTES };
  }

  async pull({ image, signal }: PullRequest): Promise<void> {
    this.#engine.assertUp();
    await this.#engine.images.pull(image, signal);
  }

  async tag(_image: string, name: string): Promise<void> {
    this.#engine.assertUp();
    this.#engine.images.add(name);
  }

  async imagesInUse(): Promise<ReadonlySet<string>> {
    return new Set((await this.list()).map(({ imageID }) => imageID));
  }

  async removeImage(image: string): Promise<void> {
    this.#engine.assertUp();
    if ((await this.imagesInUse()).has(hollowImageID(image))) {
      throw new RuntimeError('Conflict', `${image} is in use`, false);
    }
    this.#engine.images.remove(image);
  }

  async ensureSandboxImage(): Promise<string> {
    await this.pull({ image: SANDBOX_IMAGE, signal: new AbortController().signal });
    return SANDBOX_IMAGE;
  }

  async create(config: ContainerConfig): Promise<string> {
    this.#engine.assertUp();
    if (!this.#engine.images.has(config.engineImage ?? config.image)) {
      throw new RuntimeError('CreateContainerError', `No such image: ${config.image}`, true);
    }
    return this.#engine.create(this.#owner, config);
  }

  async start(id: string): Promise<void> {
    this.#engine.start(this.#get(id));
  }

  async stop(id: string, graceSeconds: number): Promise<void> {
    const container = this.#find(id);
    if (container) await this.#engine.stop(container, graceSeconds);
  }

  async remove(id: string): Promise<void> {
    const container = this.#find(id);
    if (container) this.#engine.remove(container);
  }

  async *logs(id: string, request: LogRequest, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const container = this.#get(id);
    const at = container.startedAt ?? container.createdAt;
    const lines = container.startedAt === undefined ? [] : (this.#engine.behaviour(container).log ?? []);
    const shown = request.sinceMs !== undefined && at < request.sinceMs ? [] : lines;
    const stamp = request.timestamps ? `${new Date(at).toISOString()} ` : '';
    for (const line of tail(shown, request.tailLines)) yield Buffer.from(`${stamp}${line}\n`);
    if (request.follow) await this.#engine.whenEnded(container, signal);
  }

  async exec(id: string, request: ExecRequest, signal: AbortSignal): Promise<ExecProcess> {
    return closedBy(signal, this.#engine.exec(this.#get(id), request));
  }

  /** The first process of a hollow container echoes its input. */
  async attach(id: string, { stdin }: AttachRequest, signal: AbortSignal): Promise<AttachedStreams> {
    const container = this.#get(id);
    const request = { command: ['cat'], stdin: stdin && container.config.stdin, tty: container.config.tty };
    const process = this.#engine.exec(container, request);
    return closedBy(signal, process);
  }

  /** Every port echoes its input, except port 1, which refuses connections. */
  async dial(id: string, port: number): Promise<Duplex> {
    if (this.#get(id).state !== 'running') {
      throw new RuntimeError('NotRunning', `container ${id} is not running`, false);
    }
    if (port === 1) throw new RuntimeError('ConnectFailed', `connect ECONNREFUSED 127.0.0.1:${port}`, true);
    return new PassThrough();
  }

  /** Each container uses 0.001 cores and 1 MiB. */
  async usage(): Promise<ContainerUsage[]> {
    const running = (await this.list()).filter(
      ({ state, identity }) => state === 'running' && identity.container !== SANDBOX,
    );
    return running.map(({ id, identity, startedAt = 0 }) => ({
      id,
      podUid: identity.podUid,
      container: identity.container,
      cpuNanos: (this.#engine.now() - startedAt) * 1_000,
      memoryBytes: 2 ** 20,
    }));
  }

  close(): void {
    // The caller closes the engine.
  }

  #observe(container: HollowContainer): ObservedContainer {
    const { owner: _owner, config: _config, ...observed } = container;
    const order = this.#engine.podOverride(container.identity.podUid);
    return {
      ...observed,
      ready: container.state === 'running' && (order.ready ?? container.ready),
      ...(order.phase ? { podPhase: order.phase } : {}),
    };
  }

  #find(id: string): HollowContainer | undefined {
    this.#engine.assertUp();
    return this.#engine.ownedBy(this.#owner).find((container) => container.id === id);
  }

  #get(id: string): HollowContainer {
    const container = this.#find(id);
    if (!container) throw new RuntimeError('NotFound', `No such container: ${id}`, false);
    return container;
  }
}

function closedBy<T extends AttachedStreams>(signal: AbortSignal, streams: T): T {
  signal.addEventListener('abort', () => streams.close(), { once: true });
  return streams;
}

function tail(lines: readonly string[], count: number | undefined): readonly string[] {
  return count === undefined ? lines : lines.slice(Math.max(lines.length - count, 0));
}
