/** How many bytes a folder takes on its file system, as `du` counts them. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Blocks of `stat`, whatever the file system's own are. */
const BLOCK_BYTES = 512;

/** 0 for what is not there. A file with several names counts once; what goes away meanwhile counts not at all. */
export async function folderBytes(path: string): Promise<number> {
  const seen = new Set<number>();
  const waiting = [path];
  let bytes = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const found = await orUndefined(lstat(next));
    if (!found || seen.has(found.ino)) continue;
    if (found.nlink > 1) seen.add(found.ino);
    bytes += found.blocks * BLOCK_BYTES;
    if (!found.isDirectory()) continue;
    const folder = next;
    const names = (await orUndefined(readdir(folder))) ?? [];
    waiting.push(...names.map((name) => join(folder, name)));
  }
  return bytes;
}

async function orUndefined<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return undefined;
    throw error;
  }
}
