/** The containers of one owner in an engine that others use too. */

import { type ContainerOwner, type ObservedContainer, RuntimeError } from '../runtime-driver.js';
import type { DockerApi, ErrorReasons } from './docker-api.js';
import { type InspectResponse, isOwnedBy, ownerFilter, toObservedContainer } from './docker-convert.js';
import { inspectImage } from './docker-images.js';

const LOOK: ErrorReasons = { 404: 'NotFound', fallback: 'EngineDown' };

/** The part of a container in a list that is read. */
interface ListedContainer {
  Id: string;
  State: string;
}

/**
 * A Podman that was killed while it changed a container may know it without its storage, and then refuses every list that the
 * container belongs to, for good (containers/podman#16882).
 */
const WITHOUT_STORAGE = /getting container from store "([0-9a-f]{64})": container not known/;
/** How many such containers one look removes at most. */
const MOST_WITHOUT_STORAGE = 16;

/** Finds, inspects and removes them, and touches no other's. */
export class OwnedContainers {
  readonly #api: DockerApi;
  readonly #owner: ContainerOwner;
  /** Ids that were seen to be ours: the engine takes any id. */
  readonly #ours = new Set<string>();
  /** Digest forms by image id: a look-up an image, once. */
  readonly #digests = new Map<string, string>();

  constructor(api: DockerApi, owner: ContainerOwner) {
    this.#api = api;
    this.#owner = owner;
  }

  /** The engine has just made it for us. */
  addOwned(id: string): void {
    this.#ours.add(id);
  }

  /** Removes it whatever its state, with its volumes; that it is gone, or never was ours, is no error. */
  async remove(id: string): Promise<void> {
    await this.ifExists(id, async () => {
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

  /** All of ours, or those of one Pod. */
  async observe(podUid?: string): Promise<ObservedContainer[]> {
    const found = await this.#list(ownerFilter(this.#owner, podUid));
    const observed = await Promise.all(found.map(({ Id }) => this.#observeOne(Id)));
    return observed.filter((container) => container !== undefined);
  }

  /** Ours with these labels, the ended ones included. Those without their storage can never run again, and are removed. */
  async #list(label: string[]): Promise<ListedContainer[]> {
    const query = { all: '1', filters: JSON.stringify({ label }) };
    for (let removed = 0; ; removed += 1) {
      try {
        return await this.#api.json({ method: 'GET', path: '/containers/json', query }, LOOK);
      } catch (error) {
        const id = error instanceof RuntimeError ? WITHOUT_STORAGE.exec(error.message)?.[1] : undefined;
        if (id === undefined || removed === MOST_WITHOUT_STORAGE) throw error;
        await this.#delete(id).catch((refusal: unknown) => {
          if (!(refusal instanceof RuntimeError && refusal.reason === 'NotFound')) throw refusal;
        });
      }
    }
  }

  /** Undefined when it went away between the list and this look. */
  async #observeOne(id: string): Promise<ObservedContainer | undefined> {
    const answer = await this.#inspect(id);
    if (!answer) return undefined;
    this.#ours.add(answer.Id);
    return toObservedContainer(answer, await this.#digestOf(answer.Image));
  }

  async #inspect(id: string): Promise<InspectResponse | undefined> {
    try {
      return await this.#api.json<InspectResponse>({ method: 'GET', path: `/containers/${id}/json` }, LOOK);
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
      { 404: 'NotFound', 409: 'NotFound', fallback: 'EngineDown' },
    );
  }

  /** Ids of the ended containers that share a namespace of this one. */
  async #endedMembers(id: string): Promise<string[]> {
    const found = await this.#list(ownerFilter(this.#owner));
    const ended = await Promise.all(
      found.filter(({ State }) => State !== 'running').map(({ Id }) => this.#inspect(Id)),
    );
    return ended.flatMap((answer) => {
      const { NetworkMode, IpcMode } = answer?.HostConfig ?? {};
      return answer && [NetworkMode, IpcMode].includes(`container:${id}`) ? [answer.Id] : [];
    });
  }

  /** Throws `NotFound` for another owner's container as for none. */
  async inspectOwned(id: string): Promise<InspectResponse> {
    const answer = await this.#inspect(id);
    if (!answer || !isOwnedBy(answer.Config.Labels, this.#owner)) {
      throw new RuntimeError('NotFound', `No such container: ${id}`, false);
    }
    this.#ours.add(answer.Id);
    return answer;
  }

  /** Throws `NotFound` for another owner's container as for none. */
  async assertOwned(id: string): Promise<void> {
    if (!this.#ours.has(id)) await this.inspectOwned(id);
  }

  /** Does `action` on one of ours; that it is gone, or never was ours, is no error. */
  async ifExists(id: string, action: () => Promise<unknown>): Promise<void> {
    try {
      await this.assertOwned(id);
      await action();
    } catch (error) {
      if (!(error instanceof RuntimeError && error.reason === 'NotFound')) throw error;
    }
  }
}
