/** Disk usage of a folder, as `du -x` counts it. */
import { lstat } from 'node:fs/promises';
import { FileDescriptor } from './file-descriptor.js';
import { FolderMovedError, walkTree } from './folder-tree.js';

/** Unit of `stat`, whatever the file system's block size. */
const BLOCK_BYTES = 512;

/**
 * Returns 0 for a missing folder. A file with several names counts once. An entry that disappears meanwhile does not
 * count. A symbolic link is not followed, so a container cannot make files outside count.
 */
export async function folderBytes(path: string): Promise<number> {
  const top = await orUndefined(FileDescriptor.open(path));
  if (!top) return 0;
  const seen = new Set<number>();
  const { dev } = top.stats;
  let bytes = top.stats.blocks * BLOCK_BYTES;
  try {
    await walkTree(top, {
      skipsUnreadable: true,
      visit: async (parent, name, folder) => {
        const found = folder?.stats ?? (await orUndefined(lstat(parent.entry(name))));
        if (!found || found.dev !== dev || seen.has(found.ino)) return;
        if (found.nlink > 1) seen.add(found.ino);
        bytes += found.blocks * BLOCK_BYTES;
      },
    });
  } catch (error) {
    // A container that moves deep folders must not escape its limit: return the bytes counted so far.
    if (!(error instanceof FolderMovedError)) throw error;
  } finally {
    await top.close();
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
