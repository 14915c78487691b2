/** A Pod's volumes, made ready on the host and turned into mounts of its containers. */
import { mkdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Container, EmptyDirVolumeSource, Pod, Volume, VolumeMount } from '../../shared/kube/pod.js';
import { wholeUnits } from '../../shared/kube/quantity.js';
import type { Mount } from '../runtime/driver.js';
import {
  type EmptyDirRoots,
  emptyDirPath,
  emptyDirRoots,
  prepareEmptyDir,
  prepareMemoryRoot,
  removeEmptyDirs,
} from './empty-dir.js';
import { applyFsGroup } from './fs-group.js';
import { prepareHostPath } from './host-path.js';
import { VolumeError } from './volume-error.js';

/** Prepares, mounts and removes volumes below one data directory. */
export class Volumes {
  readonly #roots: EmptyDirRoots;

  constructor(dataDir: string) {
    this.#roots = emptyDirRoots(dataDir);
  }

  /** Makes every volume of the Pod ready. Throws `VolumeError` for the first that cannot be had. */
  async prepare(pod: Pod): Promise<void> {
    for (const volume of pod.spec.volumes ?? []) {
      try {
        await this.#prepareOne(pod, volume);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new VolumeError(volume.name, `MountVolume.SetUp failed for volume "${volume.name}" : ${why}`);
      }
    }
  }

  /** The mounts of one container, in the spec's order. Throws `VolumeError` for one that names a path outside its volume. */
  async mountsOf(pod: Pod, container: Container): Promise<Mount[]> {
    const mounts: Mount[] = [];
    for (const mount of container.volumeMounts ?? []) {
      const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
      if (!volume) throw new VolumeError(mount.name, `volume "${mount.name}" not found in the Pod`);
      mounts.push(await this.#mountOf(pod, volume, mount));
    }
    return mounts;
  }

  /** Removes what the Pod kept on this host; hostPath is the host's own and stays. */
  async remove(podUid: string): Promise<void> {
    await removeEmptyDirs(this.#roots, podUid);
  }

  async #prepareOne(pod: Pod, volume: Volume): Promise<void> {
    if (volume.hostPath) return prepareHostPath(volume.hostPath);
    if (volume.emptyDir) {
      if (isTmpfs(pod, volume)) return;
      if (volume.emptyDir.medium === 'Memory') await prepareMemoryRoot(this.#roots);
      const folder = this.#folderOf(pod, volume, volume.emptyDir);
      await prepareEmptyDir(folder);
      await applyFsGroup(folder, pod.spec.securityContext);
      return;
    }
    const source = Object.keys(volume).find((key) => key !== 'name') ?? 'volume without a source';
    throw new Error(`${source} is not supported yet`);
  }

  async #mountOf(pod: Pod, volume: Volume, mount: VolumeMount): Promise<Mount> {
    const shared = {
      containerPath: mount.mountPath,
      readOnly: mount.readOnly ?? false,
      propagation: propagationOf(mount),
    };
    if (isTmpfs(pod, volume)) {
      const sizeBytes = wholeUnits(volume.emptyDir?.sizeLimit);
      return { ...shared, tmpfs: sizeBytes > 0 ? { sizeBytes } : {} };
    }
    const root = volume.hostPath?.path ?? this.#folderOf(pod, volume, volume.emptyDir ?? {});
    return { ...shared, hostPath: mount.subPath ? await subPath(volume, root, mount.subPath) : root };
  }

  #folderOf(pod: Pod, volume: Volume, { medium }: EmptyDirVolumeSource): string {
    return emptyDirPath(this.#roots, pod.metadata.uid ?? '', volume.name, medium === 'Memory');
  }
}

/** Memory that one container mounts whole is the engine's tmpfs, which keeps to its size; more need one shared folder, as does a group. */
function isTmpfs(pod: Pod, volume: Volume): boolean {
  if (volume.emptyDir?.medium !== 'Memory' || pod.spec.securityContext?.fsGroup !== undefined) return false;
  const mounts = pod.spec.containers.flatMap(({ volumeMounts }) =>
    (volumeMounts ?? []).filter(({ name }) => name === volume.name),
  );
  return mounts.length <= 1 && !mounts.some((mount) => mount.subPath);
}

/** The folder below the volume, created if missing. A link that leads out of the volume is refused. */
async function subPath(volume: Volume, root: string, path: string): Promise<string> {
  const target = join(root, path);
  // Whatever is there already: it may be a file.
  await mkdir(target, { recursive: true, mode: 0o750 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const [real, realRoot] = await Promise.all([realpath(target), realpath(root)]);
  if (real === realRoot || real.startsWith(realRoot === sep ? sep : realRoot + sep)) return real;
  throw new VolumeError(volume.name, `subPath "${path}" not within volume path`);
}

function propagationOf(mount: VolumeMount): string {
  switch (mount.mountPropagation) {
    case 'HostToContainer':
      return 'rslave';
    case 'Bidirectional':
      return 'rshared';
    default:
      return 'private';
  }
}
