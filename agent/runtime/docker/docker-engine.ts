/** The runtime driver for Docker and Podman, over the Docker Engine API. */
import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { NetworkDialer } from '../network-dialer.js';
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
  type SeccompChoice,
} from '../runtime-driver.js';
import { sandboxImage } from '../sandbox/sandbox-image.js';
import { DockerApi, type ErrorReasons } from './docker-api.js';
import { containerName, ownerFilter, podLogDriver, toCreateBody } from './docker-convert.js';
import { dockerEvents } from './docker-events.js';
import { dockerAttach, dockerExec } from './docker-exec.js';
import { demultiplex } from './docker-frames.js';
import {
  imagesInUse,
  inspectImage,
  loadImages,
  pullImage,
  removeImage,
  tagImage,
  toEngineImage,
} from './docker-images.js';
import { type InfoResponse, readInfo, readLogDriver, readPodNetwork, toEngineInfo } from './docker-info.js';
import { addressOf } from './docker-observed.js';
import { dockerStorage } from './docker-storage.js';
import { dockerUsage } from './docker-usage.js';
import type { FoundEngine } from './find-engine.js';
import { OwnedContainers } from './owned-containers.js';

const INSPECT_ERRORS: ErrorReasons = { 404: 'NotFound', fallback: 'EngineDown' };
/** Time that the engine may take in addition to the grace period, to flush, unmount and tear down the network. */
const STOP_MARGIN_MS = 120_000;

/** Caches connections and constant facts about the engine. The engine stores all container state. */
export class DockerEngine implements RuntimeDriver {
  readonly #found: FoundEngine;
  readonly #owner: ContainerOwner;
  readonly #api: DockerApi;
  readonly #containers: OwnedContainers;
  readonly #dialer = new NetworkDialer();
  readonly #hasLogFiles: boolean;
  #info: InfoResponse | undefined;
  #logDriver: string | undefined;

  /** `hasLogFiles`: new containers get a log driver that writes files. */
  constructor(found: FoundEngine, owner: ContainerOwner, { hasLogFiles = false } = {}) {
    this.#hasLogFiles = hasLogFiles;
    this.#found = found;
    this.#owner = owner;
    this.#api = new DockerApi(found.address, found.apiVersion, found.name);
    this.#containers = new OwnedContainers(this.#api, owner);
  }

  async info(): Promise<EngineInfo> {
    this.#info = await readInfo(this.#api);
    const info = toEngineInfo(this.#found, this.#info);
    const podNetwork = await readPodNetwork(this.#api, info.name, info.rootless);
    return { ...info, ...(podNetwork ? { podNetwork } : {}) };
  }

  list(): Promise<ObservedContainer[]> {
    return this.#containers.observe();
  }

  inspectPod(podUid: string): Promise<ObservedContainer[]> {
    return this.#containers.observe(podUid);
  }

  events(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    return dockerEvents(this.#api, this.#owner, signal);
  }

  storage(podUid?: string): Promise<ContainerStorage[]> {
    return dockerStorage(this.#api, ownerFilter(this.#owner, podUid));
  }

  async findImage(image: string): Promise<EngineImage | undefined> {
    const found = await inspectImage(this.#api, image);
    return found && toEngineImage(found);
  }

  pull(request: PullRequest): Promise<void> {
    return pullImage(this.#api, request);
  }

  tag(image: string, name: string): Promise<void> {
    return tagImage(this.#api, image, name);
  }

  imagesInUse(): Promise<ReadonlySet<string>> {
    return imagesInUse(this.#api);
  }

  removeImage(image: string): Promise<void> {
    return removeImage(this.#api, image);
  }

  async ensureSandboxImage(): Promise<string> {
    const { Architecture } = await this.#knownInfo();
    const { name, archive } = sandboxImage(Architecture);
    if (!(await inspectImage(this.#api, name))) await loadImages(this.#api, await archive());
    return name;
  }

  async create(config: ContainerConfig, onWarning?: (text: string) => void): Promise<string> {
    this.#logDriver ??= podLogDriver(
      this.#found.name,
      await readLogDriver(this.#api, this.#found, await this.#knownInfo()),
      this.#hasLogFiles,
    );
    const logDriver = this.#logDriver;
    const seccomp = await this.#seccompOption(config.seccomp);
    const { Id, Warnings } = await this.#api.json<{ Id: string; Warnings?: string[] | null }>(
      {
        method: 'POST',
        path: '/containers/create',
        query: { name: containerName(config.identity) },
        body: toCreateBody(config, this.#owner, { logDriver, seccomp }),
      },
      { 409: 'Conflict', fallback: 'CreateContainerError' },
    );
    this.#containers.addOwned(Id);
    for (const warning of Warnings ?? []) onWarning?.(warning);
    return Id;
  }

  async start(id: string): Promise<void> {
    await this.#containers.assertOwned(id);
    await this.#post(`/containers/${id}/start`, {}, { 404: 'NotFound', fallback: 'RunContainerError' });
  }

  async stop(id: string, graceSeconds: number): Promise<void> {
    await this.#containers.ifExists(id, () =>
      this.#post(
        `/containers/${id}/stop`,
        { t: String(graceSeconds) },
        { 404: 'NotFound', fallback: 'EngineDown' },
        graceSeconds * 1000 + STOP_MARGIN_MS,
      ),
    );
  }

  remove(id: string): Promise<void> {
    return this.#containers.remove(id);
  }

  async *logs(id: string, request: LogRequest, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const { Config } = await this.#containers.inspectOwned(id);
    const { follow, timestamps, tailLines, sinceMs } = request;
    const query = {
      stdout: '1',
      stderr: '1',
      follow: follow ? '1' : '0',
      timestamps: timestamps ? '1' : '0',
      ...(tailLines === undefined ? {} : { tail: String(tailLines) }),
      ...(sinceMs === undefined ? {} : { since: (sinceMs / 1000).toFixed(3) }),
    };
    try {
      const stream = await this.#api.stream(
        { method: 'GET', path: `/containers/${id}/logs`, query, signal },
        INSPECT_ERRORS,
      );
      for await (const { bytes } of demultiplex(stream, Config.Tty ?? false)) yield bytes;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async exec(id: string, request: ExecRequest, signal: AbortSignal): Promise<ExecProcess> {
    await this.#containers.assertOwned(id);
    return dockerExec(this.#api, id, request, signal);
  }

  async attach(id: string, request: AttachRequest, signal: AbortSignal): Promise<AttachedStreams> {
    const { Config } = await this.#containers.inspectOwned(id);
    return dockerAttach(this.#api, id, request, Config.Tty ?? false, signal);
  }

  async dial(id: string, port: number): Promise<Duplex> {
    const { State, NetworkSettings } = await this.#containers.inspectOwned(id);
    if (!State.Pid) throw new RuntimeError('NotRunning', `container ${id} is not running`, false);
    const ip = addressOf(NetworkSettings);
    return this.#dialer.dial({ pid: State.Pid, ...(ip ? { ip } : {}) }, port);
  }

  usage(detailed = false): Promise<ContainerUsage[]> {
    return dockerUsage(this.#api, ownerFilter(this.#owner), detailed);
  }

  close(): void {
    this.#dialer.close();
    this.#api.close();
  }

  /** Docker expects a profile's text, Podman its path. Throws `CreateContainerError` when the file cannot be read. */
  async #seccompOption(choice: SeccompChoice | undefined): Promise<string | undefined> {
    if (choice?.kind !== 'localhost') return choice?.kind;
    try {
      const text = await readFile(choice.path, 'utf8');
      return this.#found.name === 'docker' ? text : choice.path;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `cannot load seccomp profile "${choice.path}": ${why}`;
      throw new RuntimeError('CreateContainerError', message, true);
    }
  }

  async #knownInfo(): Promise<InfoResponse> {
    this.#info ??= await readInfo(this.#api);
    return this.#info;
  }

  #post(
    path: string,
    query: Record<string, string>,
    reasons: ErrorReasons,
    timeoutMs?: number,
  ): Promise<unknown> {
    return this.#api.json(
      { method: 'POST', path, query, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
      reasons,
    );
  }
}
