/** The containers of one owner, in an engine that other programs may use too. */

import { type ContainerOwner, type ObservedContainer, RuntimeError } from '../runtime-driver.js';
import type { DockerApi, ErrorReasons } from './docker-api.js';
import { isOwnedBy, ownerFilter } from './docker-convert.js';
import { inspectImage } from './docker-images.js';
import { type InspectResponse, toObservedContainer } from './docker-observed.js';

const INSPECT_ERRORS: ErrorReasons = { 404: 'NotFound', fallback: 'EngineDown' };

/** A container in a list response, as far as the agent reads it. */
interface ListedContainer {
  Id: string;
  State: string;
}

/**
 * A Podman that was killed while it changed a container may have lost the container's storage. It then fails every list
 * call that includes the container, until the container is removed (containers/podman#16882).
 */
const WITHOUT_STORAGE = /getting container from store "([0-9a-f]{64})": container not known/;
/** Limit of such containers that one list call removes. */
const MAX_WITHOUT_STORAGE = 16;

/** Lists, inspects and removes the owner's containers. Never touches others. */
export class OwnedContainers {
  readonly #api: DockerApi;
  readonly #owner: ContainerOwner;
  /** Ids that are known to be this owner's. The engine's API accepts any id, so the driver must check. */
  readonly #owned = new Set<string>();
  /** Digests by image id, so that each image is inspected once. */
  readonly #digests = new Map<string, string>();

  constructor(api: DockerApi, owner: ContainerOwner) {
    this.#api = api;
    this.#owner = owner;
  }

  /** Records a container that the engine has just created. */
  addOwned(id: string): void {
    this.#owned.add(id);
  }

  /** Removes the container in any state, with its volumes. Succeeds if it does not exist or has another owner. */
  async remove(id: string): Promise<void> {
    await this.ifExists(id, async () => {
      try {
        await this.#delete(id);
      } catch (error) {
        if (!(error instanceof RuntimeError && error.message.includes('has dependent containers')))
          throw error;
        // Podman refuses to remove a container whose namespaces another container names, even an exited one. Docker
        // does not.
        for (const member of await this.#endedMembers(id)) await this.#delete(member);
        await this.#delete(id);
      }
    });
    this.#owned.delete(id);
  }

  /** Returns all containers of the owner, or those of one Pod. */
  async observe(podUid?: string): Promise<ObservedContainer[]> {
    const found = await this.#list(ownerFilter(this.#owner, podUid));
    const observed = await Promise.all(found.map(({ Id }) => this.#observeOne(Id)));
    return observed.filter((container) => container !== undefined);
  }

  /** Lists running and exited containers with these labels. Removes those without storage: they cannot run. */
  async #list(label: string[]): Promise<ListedContainer[]> {
    const query = { all: '1', filters: JSON.stringify({ label }) };
    for (let removed = 0; ; removed += 1) {
      try {
        return await this.#api.json({ method: 'GET', path: '/containers/json', query }, INSPECT_ERRORS);
      } catch (error) {
        const id = error instanceof RuntimeError ? WITHOUT_STORAGE.exec(error.message)?.[1] : undefined;
        if (id === undefined || removed === MAX_WITHOUT_STORAGE) throw error;
        await this.#delete(id).catch((deleteError: unknown) => {
          if (!(deleteError instanceof RuntimeError && deleteError.reason === 'NotFound')) throw deleteError;
        });
      }
    }
  }

  /** Returns undefined if the container was removed after it was listed. */
  async #observeOne(id: string): Promise<ObservedContainer | undefined> {
    const response = await this.#inspect(id);
    if (!response) return undefined;
    this.#owned.add(response.Id);
    return toObservedContainer(response, await this.#digestOf(response.Image));
  }

  async #inspect(id: string): Promise<InspectResponse | undefined> {
    try {
      return await this.#api.json<InspectResponse>(
        { method: 'GET', path: `/containers/${id}/json` },
        INSPECT_ERRORS,
      );
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
      // 409: its removal is in progress.
      { 404: 'NotFound', 409: 'NotFound', fallback: 'EngineDown' },
    );
  }

  /** Returns the ids of exited containers that share a namespace of this one. */
  async #endedMembers(id: string): Promise<string[]> {
    const found = await this.#list(ownerFilter(this.#owner));
    const ended = await Promise.all(
      found.filter(({ State }) => State !== 'running').map(({ Id }) => this.#inspect(Id)),
    );
    return ended.flatMap((response) => {
      const { NetworkMode, IpcMode } = response?.HostConfig ?? {};
      return response && [NetworkMode, IpcMode].includes(`container:${id}`) ? [response.Id] : [];
    });
  }

  /** Throws `NotFound` if the container does not exist or has another owner. */
  async inspectOwned(id: string): Promise<InspectResponse> {
    const response = await this.#inspect(id);
    if (!response || !isOwnedBy(response.Config.Labels, this.#owner)) {
      throw new RuntimeError('NotFound', `No such container: ${id}`, false);
    }
    this.#owned.add(response.Id);
    return response;
  }

  /** Throws `NotFound` if the container does not exist or has another owner. */
  async assertOwned(id: string): Promise<void> {
    if (!this.#owned.has(id)) await this.inspectOwned(id);
  }

  /** Runs `action`. Succeeds if the container does not exist or has another owner. */
  async ifExists(id: string, action: () => Promise<unknown>): Promise<void> {
    try {
      await this.assertOwned(id);
      await action();
    } catch (error) {
      if (!(error instanceof RuntimeError && error.reason === 'NotFound')) throw error;
    }
  }
}
