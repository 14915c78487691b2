/** Removes the Pods' volumes when the agent leaves the host. */
import type { FindProcesses } from './engine-mount-namespace.js';
import { podFolders, podsWithFolders, removeMemory, removePodFolders } from './pod-folders.js';
import { type NO_ENGINE, SubPathPreparation } from './sub-path-preparation.js';
import { VolumeError } from './volume-error.js';

/**
 * Called after all containers of the agent were removed. Throws `VolumeError` when a mount remains below the data
 * directory: removing the directory would remove the mounted files, too.
 */
export async function removeAllVolumes(
  dataDir: string,
  engine: FindProcesses | typeof NO_ENGINE,
): Promise<void> {
  const subPaths = new SubPathPreparation(dataDir, engine);
  try {
    await subPaths.removeAll();
    const folders = podFolders(dataDir);
    for (const podUid of await podsWithFolders(folders)) await removePodFolders(folders, podUid);
    await removeMemory(dataDir);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new VolumeError('', `The volumes of this host's Pods in ${dataDir} cannot be removed: ${why}`, {
      cause,
    });
  } finally {
    await subPaths.close();
  }
}
