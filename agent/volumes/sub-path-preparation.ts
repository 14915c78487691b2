/** Prepares what a mount with `subPath` gives to the engine: a path that no container can turn into a link. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container, Pod, Volume } from '../../shared/kube/pods/pod-types.js';
import { fileSourceOf } from '../decisions/container-spec/volume-files.js';
import type { FindProcesses } from './engine-mount-namespace.js';
import { FileDescriptor } from './file-descriptor.js';
import { SubPathMounts } from './sub-path-mounts.js';
import { openSubPath, subPathError } from './sub-path-resolution.js';
import { VolumeError } from './volume-error.js';

/** In the place of an engine that only simulates containers: nothing is ever mounted. */
export const NO_ENGINE = 'no engine';

/** One mount of a container. */
interface SubPathWish {
  pod: Pod;
  container: Container;
  /** Its place in the container's list. */
  index: number;
  volume: Volume;
  /** The volume's folder on the host. */
  root: string;
  /** Below it, `$(VAR)` replaced. */
  path: string;
  propagation: string;
}

export class SubPathPreparation {
  /** Undefined where nothing is mounted. */
  readonly #mounts: SubPathMounts | undefined;

  constructor(dataDir: string, engine: FindProcesses | typeof NO_ENGINE) {
    this.#mounts = engine === NO_ENGINE ? undefined : new SubPathMounts(dataDir, engine);
  }

  /** Removes what an earlier attempt of the container left, before mounts are made for the next. Throws `VolumeError`. */
  async removeFormerMounts({ metadata: { uid = '' } }: Pod, { name }: Container): Promise<void> {
    try {
      await this.#mounts?.remove(uid, name);
    } catch (cause) {
      throw new VolumeError('', `the old subPath mounts of container "${name}" stay: ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  /** Returns the path for the engine. Throws `VolumeError`. */
  async prepare(wish: SubPathWish): Promise<string> {
    // No container writes to these, so the engine finds there what the agent found.
    if (!this.#mounts || !isWritable(wish.volume)) return this.#check(wish);
    return this.#bind(this.#mounts, wish);
  }

  /** Whether all that `prepare` mounted for the container is still mounted. */
  async areMounted(podUid: string, container: string): Promise<boolean> {
    return (await this.#mounts?.areMounted(podUid, container)) ?? true;
  }

  async remove(podUid: string): Promise<void> {
    await this.#mounts?.remove(podUid);
  }

  /** Of all Pods. Throws an Error when one stays: what it shows would be removed together with the data directory. */
  async removeAll(): Promise<void> {
    await this.#mounts?.removeAll();
  }

  /** Leaves the mounts as they are: containers go on without the agent. */
  async close(): Promise<void> {
    await this.#mounts?.close();
  }

  /** Where the path leads, once it is known to lie inside. */
  async #check({ container, index, root, path }: SubPathWish): Promise<string> {
    const named = namedMount(container, index);
    const volume = await FileDescriptor.open(root).catch((cause: unknown) => {
      throw subPathError(named, cause);
    });
    try {
      const found = await openSubPath(volume, root, path, named);
      await found.close();
    } finally {
      await volume.close();
    }
    return realpath(join(root, path));
  }

  async #bind(mounts: SubPathMounts, wish: SubPathWish): Promise<string> {
    const { pod, container, index, root, path, propagation } = wish;
    const named = namedMount(container, index);
    const opened: FileDescriptor[] = [];
    try {
      const volume = await mounts.openOnHost(root);
      opened.push(volume);
      const source = await openSubPath(volume, root, path, named);
      opened.push(source);
      const place = { podUid: pod.metadata.uid ?? '', container: container.name, index };
      return await mounts.bind(source, place, propagation);
    } catch (cause) {
      if (cause instanceof VolumeError) throw cause;
      throw subPathError(named, cause, messageOf(cause));
    } finally {
      for (const descriptor of opened) await descriptor.close();
    }
  }
}

/** By a container, of this Pod or of another. */
function isWritable(volume: Volume): boolean {
  return fileSourceOf(volume) === undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function namedMount(container: Container, index: number) {
  const mount = container.volumeMounts?.[index] ?? { name: '', mountPath: '' };
  return { mount, container };
}
