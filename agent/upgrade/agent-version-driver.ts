/** A host's engine, and beside it the agent's own versions as containers of the same kind. */
import type { Duplex } from 'node:stream';
import {
  type AttachedStreams,
  type AttachRequest,
  type ContainerConfig,
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
} from '../runtime/runtime-driver.js';
import { type AgentVersionContainers, agentVersionOf } from './agent-version-containers.js';

export class AgentVersionDriver implements RuntimeDriver {
  readonly #engine: RuntimeDriver;
  readonly #agents: AgentVersionContainers;

  constructor(engine: RuntimeDriver, agents: AgentVersionContainers) {
    this.#engine = engine;
    this.#agents = agents;
  }

  async list(): Promise<ObservedContainer[]> {
    return [...(await this.#engine.list()), ...this.#agents.list()];
  }

  async inspectPod(podUid: string): Promise<ObservedContainer[]> {
    const agents = this.#agents.list().filter(({ identity }) => identity.podUid === podUid);
    // A Pod of both kinds has containers of both.
    return [...(await this.#engine.inspectPod(podUid)), ...agents];
  }

  async findImage(image: string): Promise<EngineImage | undefined> {
    const version = agentVersionOf(image);
    return version === undefined ? this.#engine.findImage(image) : this.#agents.findImage(version);
  }

  async pull(request: PullRequest): Promise<void> {
    const version = agentVersionOf(request.image);
    await (version === undefined ? this.#engine.pull(request) : this.#agents.pull(version, request));
  }

  async removeImage(image: string): Promise<void> {
    // Versions go when newer ones have come, not when a disk fills: the one before is the way back.
    if (agentVersionOf(image) === undefined) await this.#engine.removeImage(image);
  }

  async create(config: ContainerConfig, onWarning?: (text: string) => void): Promise<string> {
    const version = agentVersionOf(config.image);
    if (version === undefined) return this.#engine.create(config, onWarning);
    return this.#agents.create(config, version);
  }

  async start(id: string): Promise<void> {
    await (this.#agents.has(id) ? this.#agents.start(id) : this.#engine.start(id));
  }

  async stop(id: string, graceSeconds: number): Promise<void> {
    await (this.#agents.has(id) ? this.#agents.stop(id) : this.#engine.stop(id, graceSeconds));
  }

  async remove(id: string): Promise<void> {
    await (this.#agents.has(id) ? this.#agents.remove(id) : this.#engine.remove(id));
  }

  logs(id: string, request: LogRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#agents.has(id) ? noLogs() : this.#engine.logs(id, request, signal);
  }

  async exec(id: string, request: ExecRequest, signal: AbortSignal): Promise<ExecProcess> {
    this.#refuse(id);
    return this.#engine.exec(id, request, signal);
  }

  async attach(id: string, request: AttachRequest, signal: AbortSignal): Promise<AttachedStreams> {
    this.#refuse(id);
    return this.#engine.attach(id, request, signal);
  }

  async dial(id: string, port: number, signal: AbortSignal): Promise<Duplex> {
    this.#refuse(id);
    return this.#engine.dial(id, port, signal);
  }

  info(): Promise<EngineInfo> {
    return this.#engine.info();
  }

  events(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    return this.#engine.events(signal);
  }

  storage(podUid: string): Promise<ContainerStorage[]> {
    return this.#engine.storage(podUid);
  }

  async tag(image: string, name: string): Promise<void> {
    if (agentVersionOf(image) === undefined) await this.#engine.tag(image, name);
  }

  imagesInUse(): Promise<ReadonlySet<string>> {
    return this.#engine.imagesInUse();
  }

  ensureSandboxImage(): Promise<string> {
    return this.#engine.ensureSandboxImage();
  }

  usage(): Promise<ContainerUsage[]> {
    return this.#engine.usage();
  }

  close(): void {
    this.#engine.close();
  }

  /** The agent's own log is the host's journal; nobody gets a shell in it. */
  #refuse(id: string): void {
    if (this.#agents.has(id)) throw new RuntimeError('NotRunning', 'this is the agent itself', false);
  }
}

async function* noLogs(): AsyncIterable<Uint8Array> {
  yield Buffer.from("The agent's log is in its host's journal: journalctl -u everynode-agent\n");
}
