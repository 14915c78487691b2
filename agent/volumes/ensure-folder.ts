/** Creates folders unless they exist, so that volumes on a read-only disk stay usable. */
import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Throws the system's error. Node's recursive mkdir would report ENOENT for a read-only disk. */
export async function makeFolders(path: string, mode?: number): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return;
  if (dirname(path) !== path) await makeFolders(dirname(path), mode);
  await mkdir(path, mode).catch((error: NodeJS.ErrnoException) => {
    // Another caller has created it. If it is a file, using it as a folder fails.
    if (error.code !== 'EEXIST') throw error;
  });
}

/** Creates a folder with at least the permissions of `mode`, whatever the umask. */
export async function ensureFolder(path: string, mode: number): Promise<void> {
  await makeFolders(path);
  const found = await stat(path);
  if ((found.mode & mode) !== mode) await chmod(path, mode);
}
