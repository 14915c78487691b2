/** What really is in an engine, asked of the engine and not of the agent. */
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
  /** In the engine's word: `running`, `exited`, `created`. */
  state: string;
  /** The Pod it belongs to; absent for a container that is not Everynode's. */
  podName?: string;
  podUID?: string;
  /** Its name in that Pod's spec; empty for what keeps a Pod's network. */
  container?: string;
  /** How often it was started anew: 0 the first time. */
  attempt?: number;
}

/** Where it is meanwhile, by its tag. */
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

  /** All of them, ended ones too. */
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

  /** Those of Pods whose name begins so. */
  async ofPods(prefix: string): Promise<EngineContainer[]> {
    return (await this.all()).filter(({ podName }) => podName?.startsWith(prefix));
  }

  /** Process id of a container's first process, as this machine counts. */
  async processOf(id: string): Promise<number> {
    const { State } = await this.#inspect(id);
    return State.Pid;
  }

  /** When it was started, as the engine says: unchanged as long as nobody touched it. */
  async startedAt(id: string): Promise<string> {
    const { State } = await this.#inspect(id);
    return State.StartedAt;
  }

  /** Creates and starts a container; answers its id. */
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
   * Takes the image's name away from under its containers, as `docker rmi -f`. Podman's own would remove them as well: the image
   * has another name before.
   */
  async takeImage(name: string): Promise<void> {
    await this.#rename(name, takenName(name));
  }

  /** Undoes it; without effect where nothing was taken. */
  async restoreImage(name: string): Promise<void> {
    await this.#rename(takenName(name), name);
  }

  /** As `rmi --force`: Docker takes the name away, Podman with the last name all containers of the image, too. */
  async removeImage(name: string): Promise<void> {
    await this.#api.json({ method: 'DELETE', path: `/images/${name}`, query: { force: '1' } }, MISSING);
  }

  /** As `load`. */
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

  /** SIGKILL to its first process. */
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
