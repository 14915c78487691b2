/** The driver of Docker and of Podman, by the API that both answer. */
import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { DockerApi, type EngineAddress, type Refusals } from './docker-api.js';
import {
  addressOf,
  containerName,
  type InspectAnswer,
  isOwnedBy,
  ownerFilter,
  toCreateBody,
  toObserved,
} from './docker-convert.js';
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
import { dockerStorage } from './docker-storage.js';
import { dockerUsage } from './docker-usage.js';
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
} from './driver.js';
import type { FoundEngine } from './find-engine.js';
import { NetworkDialer } from './network-dialer.js';
import { sandboxImage } from './sandbox/sandbox-image.js';

/** What `GET /info` answers, the part that is read. */
interface InfoAnswer {
  ID: string;
  Architecture: string;
  OperatingSystem?: string;
  KernelVersion?: string;
  LoggingDriver?: string;
  DockerRootDir?: string;
  /** Such as `name=seccomp,profile=default`. */
  SecurityOptions?: string[] | null;
}

const LOOK: Refusals = { 404: 'NotFound', otherwise: 'EngineDown' };
/** What the engine may take above the grace: it writes, unmounts and tears down the network. */
const STOP_MARGIN_MS = 120_000;

/** Holds connections and what never changes of an engine; all state of containers is the engine's. */
export class DockerEngine implements RuntimeDriver {
  readonly #found: FoundEngine;
  readonly #owner: ContainerOwner;
  readonly #api: DockerApi;
  /** Ids that were seen to be ours: the engine takes any id, and we must touch no other's. */
  readonly #ours = new Set<string>();
  /** Digest forms by image id: a look-up an image, once. */
  readonly #digests = new Map<string, string>();
  readonly #dialer = new NetworkDialer();
  #info: InfoAnswer | undefined;
  #logDriver: string | undefined;

  constructor(found: FoundEngine, owner: ContainerOwner) {
    this.#found = found;
    this.#owner = owner;
    this.#api = new DockerApi(found.address satisfies EngineAddress, found.apiVersion);
  }

  async info(): Promise<EngineInfo> {
    const info = await this.#readInfo();
    const { name, version, apiVersion } = this.#found;
    return {
      name,
      version,
      apiVersion,
      // Podman makes up another ID at every call; where its data lie is what tells it apart.
      id: name === 'podman' ? `podman:${info.DockerRootDir ?? ''}` : info.ID,
      appArmor: hasSecurityOption(info, 'apparmor'),
      seccomp: hasSecurityOption(info, 'seccomp'),
      rootless: hasSecurityOption(info, 'rootless'),
      ...(info.DockerRootDir ? { rootDir: info.DockerRootDir } : {}),
      ...(info.OperatingSystem ? { osImage: info.OperatingSystem } : {}),
      ...(info.KernelVersion ? { kernelVersion: info.KernelVersion } : {}),
    };
  }

  list(): Promise<ObservedContainer[]> {
    return this.#observe(ownerFilter(this.#owner));
  }

  inspectPod(podUid: string): Promise<ObservedContainer[]> {
    return this.#observe(ownerFilter(this.#owner, podUid));
  }

  events(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    return dockerEvents(this.#api, this.#owner, signal);
  }

  storage(podUid: string): Promise<ContainerStorage[]> {
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
    const { Architecture } = this.#info ?? (await this.#readInfo());
    const { name, archive } = sandboxImage(Architecture);
    if (!(await inspectImage(this.#api, name))) await loadImages(this.#api, archive);
    return name;
  }

  async create(config: ContainerConfig, onWarning?: (text: string) => void): Promise<string> {
    this.#logDriver ??= await this.#readLogDriver();
    const logDriver = this.#logDriver;
    const seccomp = await this.#seccompOption(config.seccomp);
    const { Id, Warnings } = await this.#api.json<{ Id: string; Warnings?: string[] | null }>(
      {
        method: 'POST',
        path: '/containers/create',
        query: { name: containerName(config.identity) },
        body: toCreateBody(config, this.#owner, { logDriver, seccomp }),
      },
      { 409: 'Conflict', otherwise: 'CreateContainerError' },
    );
    this.#ours.add(Id);
    for (const warning of Warnings ?? []) onWarning?.(warning);
    return Id;
  }

  async start(id: string): Promise<void> {
    await this.#assertOurs(id);
    await this.#post(`/containers/${id}/start`, {}, { 404: 'NotFound', otherwise: 'RunContainerError' });
  }

  async stop(id: string, graceSeconds: number): Promise<void> {
    await this.#ifThere(id, () =>
      this.#post(
        `/containers/${id}/stop`,
        { t: String(graceSeconds) },
        { 404: 'NotFound', otherwise: 'EngineDown' },
        graceSeconds * 1000 + STOP_MARGIN_MS,
      ),
    );
  }

  async remove(id: string): Promise<void> {
    await this.#ifThere(id, async () => {
      try {
        await this.#delete(id);
      } catch (error) {
        if (!(error instanceof RuntimeError && error.message.includes('has dependent containers')))
          throw error;
        // Podman keeps a container while another, even an ended one, names its namespaces; Docker does not.
        for (const member of await this.#endedMembers(id)) await this.#delete(member);
        await this.#delete(id);
      }
    });
    this.#ours.delete(id);
  }

  async *logs(id: string, request: LogRequest, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const { Config } = await this.#inspectOurs(id);
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
        LOOK,
      );
      for await (const { bytes } of demultiplex(stream, Config.Tty ?? false)) yield bytes;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async exec(id: string, request: ExecRequest, signal: AbortSignal): Promise<ExecProcess> {
    await this.#assertOurs(id);
    return dockerExec(this.#api, id, request, signal);
  }

  async attach(id: string, request: AttachRequest, signal: AbortSignal): Promise<AttachedStreams> {
    const { Config } = await this.#inspectOurs(id);
    return dockerAttach(this.#api, id, request, Config.Tty ?? false, signal);
  }

  async dial(id: string, port: number): Promise<Duplex> {
    const { State, NetworkSettings } = await this.#inspectOurs(id);
    if (!State.Pid) throw new RuntimeError('NotRunning', `container ${id} is not running`, false);
    const ip = addressOf(NetworkSettings);
    return this.#dialer.dial({ pid: State.Pid, ...(ip ? { ip } : {}) }, port);
  }

  usage(): Promise<ContainerUsage[]> {
    return dockerUsage(this.#api, ownerFilter(this.#owner));
  }

  close(): void {
    this.#dialer.close();
    this.#api.close();
  }

  /** Docker wants a profile's text, Podman its path. Throws `CreateContainerError` when it cannot be read. */
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

  /** Podman tells it in an answer of its own. */
  async #readLogDriver(): Promise<string> {
    if (this.#found.name === 'docker') return (this.#info ?? (await this.#readInfo())).LoggingDriver ?? '';
    const { host } = await this.#api.json<{ host?: { logDriver?: string } }>(
      { method: 'GET', path: '/libpod/info' },
      { otherwise: 'EngineDown' },
    );
    return host?.logDriver ?? '';
  }

  async #readInfo(): Promise<InfoAnswer> {
    this.#info = await this.#api.json<InfoAnswer>(
      { method: 'GET', path: '/info' },
      { otherwise: 'EngineDown' },
    );
    return this.#info;
  }

  async #observe(label: string[]): Promise<ObservedContainer[]> {
    const found = await this.#api.json<{ Id: string }[]>(
      { method: 'GET', path: '/containers/json', query: { all: '1', filters: JSON.stringify({ label }) } },
      LOOK,
    );
    const observed = await Promise.all(found.map(({ Id }) => this.#observeOne(Id)));
    return observed.filter((container) => container !== undefined);
  }

  /** Undefined when it went away between the list and this look. */
  async #observeOne(id: string): Promise<ObservedContainer | undefined> {
    const answer = await this.#inspect(id);
    if (!answer) return undefined;
    this.#ours.add(answer.Id);
    return toObserved(answer, await this.#digestOf(answer.Image));
  }

  async #inspect(id: string): Promise<InspectAnswer | undefined> {
    try {
      return await this.#api.json<InspectAnswer>({ method: 'GET', path: `/containers/${id}/json` }, LOOK);
    } catch (error) {
      if (error instanceof RuntimeError && error.reason === 'NotFound') return undefined;
      throw error;
    }
  }

  async #digestOf(id: string): Promise<string> {
    const known = this.#digests.get(id);
    if (known !== undefined) return known;
    const image = await inspectImage(this.#api, id);
    const digest = image?.RepoDigests?.[0] ?? (id.startsWith('sha256:') ? id : `sha256:${id}`);
    this.#digests.set(id, digest);
    return digest;
  }

  #delete(id: string): Promise<unknown> {
    return this.#api.json(
      { method: 'DELETE', path: `/containers/${id}`, query: { force: '1', v: '1' } },
      // 409: its removal is under way.
      { 404: 'NotFound', 409: 'NotFound', otherwise: 'EngineDown' },
    );
  }

  /** Ids of the ended containers that share a namespace of this one. */
  async #endedMembers(id: string): Promise<string[]> {
    const found = await this.#api.json<{ Id: string; State: string }[]>(
      {
        method: 'GET',
        path: '/containers/json',
        query: { all: '1', filters: JSON.stringify({ label: ownerFilter(this.#owner) }) },
      },
      LOOK,
    );
    const ended = await Promise.all(
      found.filter(({ State }) => State !== 'running').map(({ Id }) => this.#inspect(Id)),
    );
    return ended.flatMap((answer) => {
      const { NetworkMode, IpcMode } = answer?.HostConfig ?? {};
      return answer && [NetworkMode, IpcMode].includes(`container:${id}`) ? [answer.Id] : [];
    });
  }

  async #inspectOurs(id: string): Promise<InspectAnswer> {
    const answer = await this.#inspect(id);
    if (!answer || !isOwnedBy(answer.Config.Labels, this.#owner)) {
      throw new RuntimeError('NotFound', `No such container: ${id}`, false);
    }
    this.#ours.add(answer.Id);
    return answer;
  }

  /** Throws `NotFound` for another owner's container as for none. */
  async #assertOurs(id: string): Promise<void> {
    if (!this.#ours.has(id)) await this.#inspectOurs(id);
  }

  /** Does `action` on one of ours; that it is gone, or never was ours, is no error. */
  async #ifThere(id: string, action: () => Promise<unknown>): Promise<void> {
    try {
      await this.#assertOurs(id);
      await action();
    } catch (error) {
      if (!(error instanceof RuntimeError && error.reason === 'NotFound')) throw error;
    }
  }

  #post(
    path: string,
    query: Record<string, string>,
    refusals: Refusals,
    timeoutMs?: number,
  ): Promise<unknown> {
    return this.#api.json(
      { method: 'POST', path, query, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
      refusals,
    );
  }
}

function hasSecurityOption({ SecurityOptions }: InfoAnswer, name: string): boolean {
  return (SecurityOptions ?? []).some((option) => option.split(',')[0] === `name=${name}`);
}
