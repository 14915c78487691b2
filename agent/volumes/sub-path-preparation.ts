/** Resolves `subPath` mounts to paths for the engine that no container can replace by a link. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container, Pod, Volume } from '../../shared/kube/pods/pod-types.js';
import { fileSourceOf } from '../decisions/container-spec/volume-files.js';
import type { FindProcesses } from './engine-mount-namespace.js';
import { FileDescriptor } from './file-descriptor.js';
import { SubPathMounts } from './sub-path-mounts.js';
import { openSubPath, subPathError } from './sub-path-resolution.js';
import { VolumeError } from './volume-error.js';

/** Marks an engine that only simulates containers: nothing is mounted. */
export const NO_ENGINE = 'no engine';

interface SubPathRequest {
  pod: Pod;
  container: Container;
  /** Position in the container's list. */
  index: number;
  volume: Volume;
  /** The volume's folder on the host. */
  root: string;
  /** Path below `root`, with `$(VAR)` replaced. */
  path: string;
  propagation: string;
}

export class SubPathPreparation {
  /** Undefined for `NO_ENGINE`. */
  readonly #mounts: SubPathMounts | undefined;

  constructor(dataDir: string, engine: FindProcesses | typeof NO_ENGINE) {
    this.#mounts = engine === NO_ENGINE ? undefined : new SubPathMounts(dataDir, engine);
  }

  /** Removes the mounts of the container's previous attempt. Throws `VolumeError`. */
  async removeFormerMounts({ metadata: { uid = '' } }: Pod, { name }: Container): Promise<void> {
    try {
      await this.#mounts?.remove(uid, name);
    } catch (cause) {
      throw new VolumeError(
        '',
        `cannot remove the old subPath mounts of container "${name}": ${messageOf(cause)}`,
        {
          cause,
        },
      );
    }
  }

  /** Returns the path for the engine. Throws `VolumeError`. */
  async prepare(request: SubPathRequest): Promise<string> {
    // No container can write to such a volume, so nothing changes between the agent's check and the engine's use.
    if (!this.#mounts || !isWritable(request.volume)) return this.#check(request);
    return this.#bind(this.#mounts, request);
  }

  /** Returns whether all mounts of the container still exist. */
  async areMounted(podUid: string, container: string): Promise<boolean> {
    return (await this.#mounts?.areMounted(podUid, container)) ?? true;
  }

  async remove(podUid: string): Promise<void> {
    await this.#mounts?.remove(podUid);
  }

  /** Removes the mounts of all Pods. Throws an Error if one remains (see `SubPathMounts.removeAll`). */
  async removeAll(): Promise<void> {
    await this.#mounts?.removeAll();
  }

  /** Keeps the mounts, because containers run without the agent. */
  async close(): Promise<void> {
    await this.#mounts?.close();
  }

  /** Returns the real path, after checking that it is inside the volume. */
  async #check({ container, index, root, path }: SubPathRequest): Promise<string> {
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

  async #bind(mounts: SubPathMounts, request: SubPathRequest): Promise<string> {
    const { pod, container, index, root, path, propagation } = request;
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

/** Returns whether a container, of this Pod or another, can write to the volume. */
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
