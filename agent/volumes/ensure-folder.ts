/** Folders that may be there already. What is right is not written to: a disk that takes no writes still shows what it holds. */
import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes what is missing of the path. Throws the system's error; Node's own recursive mkdir calls a read-only disk ENOENT. */
export async function makeFolders(path: string, mode?: number): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return;
  if (dirname(path) !== path) await makeFolders(dirname(path), mode);
  await mkdir(path, mode).catch((error: NodeJS.ErrnoException) => {
    // Another one was quicker; a file in its place is told as such by who uses the folder.
    if (error.code !== 'EEXIST') throw error;
  });
}

/** A folder that allows at least what `mode` says, whatever the umask. */
export async function ensureFolder(path: string, mode: number): Promise<void> {
  await makeFolders(path);
  const found = await stat(path);
  if ((found.mode & mode) !== mode) await chmod(path, mode);
}
