/** emptyDir volumes: a folder that lives as long as the Pod (pkg/volume/emptydir). */
import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';

/** Memory-backed folder of the host, one a user: what several containers share must be one place, not a tmpfs each. */
const MEMORY_ROOT = '/dev/shm/everynode';

/** Where the Pods' folders are. */
export interface EmptyDirRoots {
  disk: string;
  memory: string;
}

/** The disk's root is below the agent's data directory. */
export function emptyDirRoots(dataDir: string): EmptyDirRoots {
  return { disk: join(dataDir, 'pods'), memory: `${MEMORY_ROOT}-${userInfo().uid}` };
}

/** The folder of one volume on the host. */
export function emptyDirPath(
  roots: EmptyDirRoots,
  podUid: string,
  volume: string,
  inMemory: boolean,
): string {
  return join(inMemory ? roots.memory : roots.disk, podUid, 'volumes', 'empty-dir', volume);
}

/**
 * Makes the root of what is kept in memory, for its owner alone. Everyone may write to /dev/shm, so one that stands there
 * already must be ours. Throws an Error that says so.
 */
export async function prepareMemoryRoot({ memory }: EmptyDirRoots): Promise<void> {
  await mkdir(memory, { recursive: true, mode: 0o700 });
  const found = await lstat(memory);
  if (found.isDirectory() && found.uid === userInfo().uid) return;
  throw new Error(`${memory} belongs to somebody else`);
}

/** Creates the folder, writable for whichever user the containers run as. */
export async function prepareEmptyDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  // mkdir's mode passes through the umask.
  await chmod(path, 0o777);
}

/** Removes everything the Pod kept, on disk and in memory. */
export async function removeEmptyDirs(roots: EmptyDirRoots, podUid: string): Promise<void> {
  await rm(join(roots.disk, podUid), { recursive: true, force: true });
  await rm(join(roots.memory, podUid), { recursive: true, force: true });
}
