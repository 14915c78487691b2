/** Where on the host the Pods' volumes are: on disk, and in memory for what must never reach a disk. */
import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { FileDescriptor } from './file-descriptor.js';
import { removeTree } from './folder-tree.js';

/** Memory-backed folder of the host, one a user. */
const MEMORY_ROOT = '/dev/shm/everynode';
const HASH_CHARACTERS = 12;

/** Below them one folder a Pod, by its uid. */
export interface PodFolders {
  disk: string;
  memory: string;
}

/** Those of the agent with this data directory; no two agents of a host share one. */
export function podFolders(dataDir: string): PodFolders {
  const agent = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, HASH_CHARACTERS);
  return { disk: join(dataDir, 'pods'), memory: join(`${MEMORY_ROOT}-${userInfo().uid}`, agent) };
}

/** How volumes are kept apart: those a Pod writes, and those that the agent writes. */
type FolderKind = 'empty-dir' | 'files';

/** The folder of one volume on the host. */
export function volumeFolder(
  folders: PodFolders,
  podUid: string,
  { kind, name, inMemory }: { kind: FolderKind; name: string; inMemory: boolean },
): string {
  return join(inMemory ? folders.memory : folders.disk, podUid, 'volumes', kind, name);
}

/**
 * Makes the root of what is kept in memory, for its owner alone. Everyone may write to /dev/shm, so one that stands there
 * already must be ours. Throws an Error that says so.
 */
export async function prepareMemoryRoot({ memory }: PodFolders): Promise<void> {
  const root = resolve(memory, '..');
  await mkdir(root, { recursive: true, mode: 0o700 });
  const found = await lstat(root);
  if (!found.isDirectory() || found.uid !== userInfo().uid)
    throw new Error(`${root} belongs to somebody else`);
}

/** Removes what the Pods of the agent with this data directory kept in memory: what was left beside that directory. */
export async function removeMemory(dataDir: string): Promise<void> {
  await removeFolder(podFolders(dataDir).memory);
}

/** Uids of all Pods that have a folder, on disk or in memory. */
export async function podsWithFolders({ disk, memory }: PodFolders): Promise<Set<string>> {
  const names = await Promise.all([disk, memory].map(namesIn));
  return new Set(names.flat());
}

async function namesIn(root: string): Promise<string[]> {
  try {
    return await readdir(root);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Removes everything the Pod kept, on disk and in memory. */
export async function removePodFolders(folders: PodFolders, podUid: string): Promise<void> {
  await removeIn(folders.memory, podUid);
  await removeIn(folders.disk, podUid);
}

/**
 * Removes a folder with all that is in it; no container may be able to write to its parents. Throws an Error when something is mounted in
 * it, such as a disk that a container with `mountPropagation: Bidirectional` mounted there: those files are not the Pod's.
 */
export function removeFolder(path: string): Promise<void> {
  return removeIn(dirname(path), basename(path));
}

/** Throws an Error for a name that leads elsewhere, such as the uid in a label of a container that another program created. */
async function removeIn(folder: string, name: string): Promise<void> {
  let parent: FileDescriptor;
  try {
    parent = await FileDescriptor.open(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    await removeTree(parent, name);
  } finally {
    await parent.close();
  }
}
