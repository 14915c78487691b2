/** Folders of the Pods' volumes on the host: on disk, and in memory for data that must never reach a disk. */
import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { FileDescriptor } from './file-descriptor.js';
import { removeTree } from './folder-tree.js';

/** Folder in memory, one per user. */
const MEMORY_ROOT = '/dev/shm/everynode';
const HASH_CHARACTERS = 12;

/** Each contains one folder per Pod, named by its uid. */
export interface PodFolders {
  disk: string;
  memory: string;
}

/** Returns the folders of the agent with this data directory. No two agents of a host share them. */
export function podFolders(dataDir: string): PodFolders {
  const agent = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, HASH_CHARACTERS);
  return { disk: join(dataDir, 'pods'), memory: join(`${MEMORY_ROOT}-${userInfo().uid}`, agent) };
}

/** `empty-dir`: written by containers. `files`: written by the agent. */
type FolderKind = 'empty-dir' | 'files';

/** Returns the host's folder of a volume. */
export function volumeFolder(
  folders: PodFolders,
  podUid: string,
  { kind, name, inMemory }: { kind: FolderKind; name: string; inMemory: boolean },
): string {
  return join(inMemory ? folders.memory : folders.disk, podUid, 'volumes', kind, name);
}

/**
 * Creates the folder in memory, accessible for its owner only. Every user may write to /dev/shm, so an existing folder
 * must belong to this user. Throws an Error otherwise.
 */
export async function prepareMemoryRoot({ memory }: PodFolders): Promise<void> {
  const root = resolve(memory, '..');
  await mkdir(root, { recursive: true, mode: 0o700 });
  const found = await lstat(root);
  if (!found.isDirectory() || found.uid !== userInfo().uid)
    throw new Error(`${root} belongs to another user`);
}

/** Removes the volumes in memory, which are outside of the data directory. */
export async function removeMemory(dataDir: string): Promise<void> {
  await removeFolder(podFolders(dataDir).memory);
}

/** Returns the uids of all Pods with a folder, on disk or in memory. */
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

/** Removes the Pod's folders, on disk and in memory. */
export async function removePodFolders(folders: PodFolders, podUid: string): Promise<void> {
  await removeIn(folders.memory, podUid);
  await removeIn(folders.disk, podUid);
}

/**
 * Removes a folder with its content. No container may have write access to its parents. Throws an Error if something is
 * mounted in it, such as a disk that a container with `mountPropagation: Bidirectional` mounted: those files do not
 * belong to the Pod.
 */
export function removeFolder(path: string): Promise<void> {
  return removeIn(dirname(path), basename(path));
}

/** Throws an Error for a name that leads elsewhere. The uid may come from a label of another program's container. */
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
