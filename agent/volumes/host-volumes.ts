/** Prepares a Pod's volumes on the host, and converts them to mounts of its containers. */
import type { Container, Pod, Volume, VolumeMount } from '../../shared/kube/pods/pod-types.js';
import { type FileFacts, fileSourceOf, volumeFiles } from '../decisions/container-spec/volume-files.js';
import type { Mount } from '../runtime/runtime-driver.js';
import { writeAtomically } from './atomic-files.js';
import type { FindProcesses } from './engine-mount-namespace.js';
import { ensureFolder } from './ensure-folder.js';
import { folderBytes } from './folder-size.js';
import { applyFsGroup, READ_ONLY } from './fs-group.js';
import { prepareHostPath } from './host-path-volume.js';
import {
  type PodFolders,
  podFolders,
  podsWithFolders,
  prepareMemoryRoot,
  removePodFolders,
  volumeFolder,
} from './pod-folders.js';
import { type NO_ENGINE, SubPathPreparation } from './sub-path-preparation.js';
import { subPathOf } from './sub-path-resolution.js';
import { VolumeError } from './volume-error.js';

/** The volumes below one data directory. */
export class HostVolumes {
  readonly #folders: PodFolders;
  readonly #subPaths: SubPathPreparation;

  /** `engine` finds processes that may be the engine's. */
  constructor(dataDir: string, engine: FindProcesses | typeof NO_ENGINE) {
    this.#folders = podFolders(dataDir);
    this.#subPaths = new SubPathPreparation(dataDir, engine);
  }

  /** Prepares every volume of the Pod. Throws `VolumeError` for the first that fails. */
  async prepare(pod: Pod, facts: FileFacts): Promise<void> {
    for (const volume of pod.spec.volumes ?? []) {
      await named(volume, () => this.#prepareOne(pod, volume, facts));
    }
  }

  /** Updates files of API objects, such as Secrets. Throws `VolumeError` and keeps the former files. */
  async refresh(pod: Pod, facts: FileFacts): Promise<void> {
    for (const volume of pod.spec.volumes ?? []) {
      if (fileSourceOf(volume)) await named(volume, () => this.#writeFiles(pod, volume, facts));
    }
  }

  /**
   * Returns the mounts of a container that is about to be created, in the spec's order. Throws `VolumeError` for a path
   * outside its volume, or one that this host cannot mount safely.
   */
  async mountsOf(pod: Pod, container: Container, environment: ReadonlyMap<string, string>): Promise<Mount[]> {
    const mounts: Mount[] = [];
    await this.#subPaths.removeFormerMounts(pod, container);
    for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
      const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
      if (!volume) throw new VolumeError(mount.name, `volume "${mount.name}" not found in the Pod`);
      const propagation = propagationOf(mount);
      const root = volume.hostPath?.path ?? this.#folderOf(pod, volume);
      const path = subPathOf(mount, environment);
      const request = { pod, container, index, volume, root, path, propagation };
      mounts.push({
        containerPath: mount.mountPath,
        // Volumes of API objects are always read-only (pkg/volume: the attributes of these mounters).
        readOnly: (mount.readOnly ?? false) || fileSourceOf(volume) !== undefined,
        propagation,
        hostPath: path ? await this.#subPaths.prepare(request) : root,
      });
    }
    return mounts;
  }

  /** Returns false after a reboot: without its subPath mounts the container must be created again. */
  hasMounts(podUid: string, container: string): Promise<boolean> {
    return this.#subPaths.areMounted(podUid, container);
  }

  /** Removes volumes except hostPath. On a read-only disk they stay until `sweep`, so that the Pod can end. */
  async remove(podUid: string): Promise<void> {
    await this.#subPaths.remove(podUid);
    await removePodFolders(this.#folders, podUid).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EROFS') throw error;
    });
  }

  /**
   * Removes the folders of Pods that the agent does not know, and returns their uids (pkg/kubelet
   * cleanupOrphanedPodDirs). If a folder cannot be removed, such as one with a mount in it, continues with the others
   * and throws AggregateError at the end.
   */
  async sweep(isKnown: (podUid: string) => boolean): Promise<string[]> {
    const removed: string[] = [];
    const failures: unknown[] = [];
    for (const podUid of await podsWithFolders(this.#folders)) {
      if (isKnown(podUid)) continue;
      try {
        await this.#subPaths.remove(podUid);
        await removePodFolders(this.#folders, podUid);
        removed.push(podUid);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '));
    return removed;
  }

  /** Returns the disk usage of the Pod's volumes in bytes, without hostPath. */
  async storageOf(pod: Pod): Promise<{ emptyDirs: Map<string, number>; otherVolumes: number }> {
    const emptyDirs = new Map<string, number>();
    let otherVolumes = 0;
    for (const volume of pod.spec.volumes ?? []) {
      if (volume.hostPath) continue;
      const bytes = await folderBytes(this.#folderOf(pod, volume));
      if (volume.emptyDir) emptyDirs.set(volume.name, bytes);
      else if (!isInMemory(volume)) otherVolumes += bytes;
    }
    return { emptyDirs, otherVolumes };
  }

  /** Returns the size of each of the Pod's volumes in bytes, by name, without hostPath. */
  async bytesByVolume(pod: Pod): Promise<Map<string, number>> {
    const bytes = new Map<string, number>();
    for (const volume of pod.spec.volumes ?? [])
      if (!volume.hostPath) bytes.set(volume.name, await folderBytes(this.#folderOf(pod, volume)));
    return bytes;
  }

  /** Keeps all mounts for the next agent. */
  close(): Promise<void> {
    return this.#subPaths.close();
  }

  async #prepareOne(pod: Pod, volume: Volume, facts: FileFacts): Promise<void> {
    if (volume.hostPath) return prepareHostPath(volume.hostPath);
    if (fileSourceOf(volume)) return this.#writeFiles(pod, volume, facts);
    if (volume.emptyDir) {
      if (isInMemory(volume)) await prepareMemoryRoot(this.#folders);
      const folder = this.#folderOf(pod, volume);
      // Writable for every user that the containers run as.
      await ensureFolder(folder, 0o777);
      return applyFsGroup(folder, pod.spec.securityContext);
    }
    const source = Object.keys(volume).find((key) => key !== 'name') ?? 'volume without a source';
    throw new Error(`${source} is not supported`);
  }

  async #writeFiles(pod: Pod, volume: Volume, facts: FileFacts): Promise<void> {
    const wanted = volumeFiles(pod, volume, facts);
    if (wanted.kind === 'refused') throw new Error(wanted.message);
    if (isInMemory(volume)) await prepareMemoryRoot(this.#folders);
    const folder = this.#folderOf(pod, volume);
    await ensureFolder(folder, 0o755);
    await writeAtomically(folder, wanted.files, (directory) =>
      applyFsGroup(directory, pod.spec.securityContext, READ_ONLY),
    );
  }

  #folderOf(pod: Pod, volume: Volume): string {
    return volumeFolder(this.#folders, pod.metadata.uid ?? '', {
      kind: fileSourceOf(volume) ? 'files' : 'empty-dir',
      name: volume.name,
      inMemory: isInMemory(volume),
    });
  }
}

/** Secrets and tokens must not reach a disk. */
function isInMemory(volume: Volume): boolean {
  const source = fileSourceOf(volume);
  return source ? source !== 'configMap' : volume.emptyDir?.medium === 'Memory';
}

/** Throws errors with the message of the kubelet's FailedMount event. */
async function named({ name }: Volume, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new VolumeError(name, `MountVolume.SetUp failed for volume "${name}" : ${why}`);
  }
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
