/** The actual containers in an engine, read from the engine and not from the agent. */
import { DockerApi } from '../../../agent/runtime/docker/docker-api.js';
import { loadImages } from '../../../agent/runtime/docker/docker-images.js';
import { RuntimeError } from '../../../agent/runtime/runtime-driver.js';

const REFUSALS = { fallback: 'EngineDown' };
const MISSING = { 404: 'NotFound', fallback: 'EngineDown' };
const POD_NAME = 'everynode.dev/pod-name';
const POD_UID = 'everynode.dev/pod-uid';
const CONTAINER = 'everynode.dev/container';
const ATTEMPT = 'everynode.dev/attempt';

export interface EngineContainer {
  id: string;
  image: string;
  /** The engine's state: `running`, `exited`, `created`. */
  state: string;
  /** Name of the container's Pod. Absent for a container that is not Everynode's. */
  podName?: string;
  podUID?: string;
  /** Name in the Pod's spec. Empty for the sandbox. */
  container?: string;
  /** Restart count, starting at 0. */
  attempt?: number;
}

/** Temporary name for a removed image. */
function takenName(name: string): string {
  return `localhost/taken:${name.slice(name.lastIndexOf(':') + 1)}`;
}

interface ListedContainer {
  Id: string;
  Image: string;
  State: string;
  Labels?: Record<string, string>;
}

export class EngineContainers {
  readonly #api: DockerApi;

  constructor(socketPath: string) {
    this.#api = new DockerApi({ socketPath });
  }

  /** Returns all containers, also exited ones. */
  async all(): Promise<EngineContainer[]> {
    const query = { all: '1' };
    const listed = await this.#api.json<ListedContainer[]>(
      { method: 'GET', path: '/containers/json', query },
      REFUSALS,
    );
    return listed.map(({ Id, Image, State, Labels = {} }) => ({
      id: Id,
      image: Image,
      state: State,
      ...(Labels[POD_NAME] ? { podName: Labels[POD_NAME] } : {}),
      ...(Labels[POD_UID] ? { podUID: Labels[POD_UID], container: Labels[CONTAINER] ?? '' } : {}),
      ...(Labels[ATTEMPT] ? { attempt: Number(Labels[ATTEMPT]) } : {}),
    }));
  }

  /** Returns the containers of Pods with this name prefix. */
  async ofPods(prefix: string): Promise<EngineContainer[]> {
    return (await this.all()).filter(({ podName }) => podName?.startsWith(prefix));
  }

  /** Returns the process id of a container's first process on this machine. */
  async processOf(id: string): Promise<number> {
    const { State } = await this.#inspect(id);
    return State.Pid;
  }

  /** Returns the engine's start time, which is unchanged unless the container was restarted. */
  async startedAt(id: string): Promise<string> {
    const { State } = await this.#inspect(id);
    return State.StartedAt;
  }

  /** Creates and starts a container. Returns its id. */
  async run(image: string, labels: Record<string, string> = {}): Promise<string> {
    const body = { Image: image, Labels: labels };
    const { Id } = await this.#api.json<{ Id: string }>(
      { method: 'POST', path: '/containers/create', body },
      REFUSALS,
    );
    await this.start(Id);
    return Id;
  }

  async start(id: string): Promise<void> {
    await this.#api.json({ method: 'POST', path: `/containers/${id}/start` }, REFUSALS);
  }

  async remove(id: string): Promise<void> {
    await this.#api.json({ method: 'DELETE', path: `/containers/${id}`, query: { force: '1' } }, REFUSALS);
  }

  /**
   * Removes the image's name while its containers run, like `docker rmi -f`. Podman's own command would remove the
   * containers too, so the image gets another name first.
   */
  async takeImage(name: string): Promise<void> {
    await this.#rename(name, takenName(name));
  }

  /** Restores a removed name. Without one it does nothing. */
  async restoreImage(name: string): Promise<void> {
    await this.#rename(takenName(name), name);
  }

  /**
   * Acts like `rmi --force`: Docker removes the name, and Podman removes all containers of the image with its last
   * name.
   */
  async removeImage(name: string): Promise<void> {
    await this.#api.json({ method: 'DELETE', path: `/images/${name}`, query: { force: '1' } }, MISSING);
  }

  /** Acts like `docker load`. */
  async load(archive: Uint8Array): Promise<void> {
    await loadImages(this.#api, archive);
  }

  async #rename(from: string, to: string): Promise<void> {
    const colon = to.lastIndexOf(':');
    const query = { repo: to.slice(0, colon), tag: to.slice(colon + 1) };
    try {
      await this.#api.json({ method: 'POST', path: `/images/${from}/tag`, query }, MISSING);
      await this.#api.json({ method: 'DELETE', path: `/images/${from}` }, MISSING);
    } catch (error) {
      if (!(error instanceof RuntimeError && error.reason === 'NotFound')) throw error;
    }
  }

  /** Sends SIGKILL to the container's first process. */
  async kill(id: string): Promise<void> {
    await this.#api.json({ method: 'POST', path: `/containers/${id}/kill` }, REFUSALS);
  }

  close(): void {
    this.#api.close();
  }

  #inspect(id: string): Promise<{ State: { Pid: number; StartedAt: string } }> {
    return this.#api.json({ method: 'GET', path: `/containers/${id}/json` }, REFUSALS);
  }
}
