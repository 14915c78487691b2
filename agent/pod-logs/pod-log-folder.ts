/**
 * Files and links below the directory of logs. A Pod may mount that directory with write access and replace any name
 * in it by a link, so folders are opened one by one and no link is followed.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readlink, rename, rmdir, symlink, unlink } from 'node:fs/promises';
import { filesOfAttempt } from '../decisions/pod-logs/log-rotation.js';
import {
  CONTAINERS_FOLDER,
  linkTarget,
  PODS_FOLDER,
  type PodLogPaths,
} from '../decisions/pod-logs/pod-log-paths.js';
import { FileDescriptor } from '../volumes/file-descriptor.js';

/** The kubelet's and containerd's modes. */
const FOLDER_MODE = 0o755;
const FILE_MODE = 0o640;
/** A FIFO in place of a file must not block the agent. */
const SAFE = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The folder of one container's log files. */
export class PodLogFolder {
  readonly #folder: FileDescriptor;

  private constructor(folder: FileDescriptor) {
    this.#folder = folder;
  }

  /** Opens the folder and creates it if it is missing. Throws an Error if a link or a file is in its place. */
  static async open(directory: string, { pod, container }: PodLogPaths): Promise<PodLogFolder> {
    return new PodLogFolder(await openFolders(directory, [PODS_FOLDER, pod, container]));
  }

  /** Opens a file to append to it. Creates it if it is missing. */
  async append(name: string): Promise<FileHandle> {
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | SAFE;
    const file = await this.#openFile(name, flags);
    // The mode given to `open` is limited by the umask.
    await file.chmod(FILE_MODE);
    return file;
  }

  read(name: string): Promise<FileHandle> {
    return this.#openFile(name, constants.O_RDONLY | SAFE);
  }

  /** Returns inode and size of a file; undefined without such a file. */
  async stat(name: string): Promise<{ inode: number; size: number } | undefined> {
    const found = await this.#folder.child(name);
    if (!found) return undefined;
    await found.close();
    return { inode: found.stats.ino, size: found.stats.size };
  }

  async names(): Promise<string[]> {
    return (await readdir(this.#folder.path)).sort();
  }

  rename(from: string, to: string): Promise<void> {
    return rename(this.#folder.entry(from), this.#folder.entry(to));
  }

  async remove(name: string): Promise<void> {
    await unlink(this.#folder.entry(name)).catch(unlessMissing);
  }

  close(): Promise<void> {
    return this.#folder.close();
  }

  async #openFile(name: string, flags: number): Promise<FileHandle> {
    const file = await open(this.#folder.entry(name), flags, FILE_MODE);
    const stats = await file.stat();
    // A second name may be that of another log of this host.
    if (stats.isFile() && stats.nlink === 1) return file;
    await file.close();
    throw new Error(`${name} is not a regular file with a single name`);
  }
}

/** Creates the link to a log file, or replaces a wrong one. */
export async function linkPodLog(directory: string, paths: PodLogPaths): Promise<void> {
  const folder = await openFolders(directory, [CONTAINERS_FOLDER]);
  const target = linkTarget(directory, paths);
  try {
    if ((await targetOf(folder, paths.link)) === target) return;
    await unlink(folder.entry(paths.link)).catch(unlessMissing);
    await symlink(target, folder.entry(paths.link));
  } finally {
    await folder.close();
  }
}

/** Removes the files of one attempt, its link, and folders that are empty then. */
export async function removePodLog(directory: string, paths: PodLogPaths): Promise<void> {
  await within(directory, [PODS_FOLDER], async (pods) => {
    await inChild(pods, paths.pod, async (pod) => {
      await inChild(pod, paths.container, async (container) => {
        const names = filesOfAttempt(paths.file, await readdir(container.path));
        for (const name of names) await unlink(container.entry(name)).catch(unlessMissing);
      });
      await rmdir(pod.entry(paths.container)).catch(unlessInUse);
    });
    await rmdir(pods.entry(paths.pod)).catch(unlessInUse);
  });
  await within(directory, [CONTAINERS_FOLDER], async (folder) => {
    if ((await targetOf(folder, paths.link)) !== linkTarget(directory, paths)) return;
    await unlink(folder.entry(paths.link)).catch(unlessMissing);
  });
}

/** Removes the two folders of all Pods if they are empty. */
export async function removeEmptyFolders(directory: string): Promise<void> {
  await within(directory, [], async (folder) => {
    for (const name of [PODS_FOLDER, CONTAINERS_FOLDER]) await rmdir(folder.entry(name)).catch(unlessInUse);
  });
}

/** Opens nested folders below `directory`, which is the operator's. Creates missing ones. */
async function openFolders(directory: string, names: readonly string[]): Promise<FileDescriptor> {
  let here = await FileDescriptor.open(directory);
  let path = directory;
  for (const name of names) {
    path = `${path}/${name}`;
    const next = await childFolder(here, name).finally(() => here.close());
    if (!next) throw new Error(`${path} is not a directory`);
    here = next;
  }
  return here;
}

async function childFolder(parent: FileDescriptor, name: string): Promise<FileDescriptor | undefined> {
  let found = await parent.child(name);
  if (!found) {
    await parent.makeFolder(name, FOLDER_MODE);
    found = await parent.child(name);
  }
  if (found?.isFolder) return found;
  await found?.close();
  return undefined;
}

/** Runs `action` in an existing folder. Does nothing without it, or if a link is in its place. */
async function within(
  directory: string,
  names: readonly string[],
  action: (folder: FileDescriptor) => Promise<void>,
): Promise<void> {
  const [name, ...rest] = names;
  if (name !== undefined) {
    await within(directory, rest, (folder) => inChild(folder, name, action));
    return;
  }
  const folder = await FileDescriptor.open(directory).catch(unlessMissing);
  if (folder) await action(folder).finally(() => folder.close());
}

async function inChild(
  parent: FileDescriptor,
  name: string,
  action: (folder: FileDescriptor) => Promise<void>,
): Promise<void> {
  const folder = await parent.child(name);
  if (!folder) return;
  try {
    if (folder.isFolder) await action(folder);
  } finally {
    await folder.close();
  }
}

async function targetOf(folder: FileDescriptor, name: string): Promise<string | undefined> {
  try {
    return await readlink(folder.entry(name), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EINVAL') return undefined;
    throw error;
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Other attempts, another container, or files of another program keep a folder. */
function unlessInUse(error: NodeJS.ErrnoException): undefined {
  if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EBUSY'].includes(error.code ?? '')) throw error;
}
