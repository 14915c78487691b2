/** How full the disk is that holds a folder. */
import { statfs } from 'node:fs/promises';
import type { DiskUse } from '../decisions/images/image-collection.js';

/** Of the file system that `path` is on; the available part is what an ordinary user could still take. */
export async function readFileSystemUsage(path: string): Promise<DiskUse> {
  const { blocks, bavail, bsize } = await statfs(path);
  return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize };
}

/** In [0, 1]. */
export function usedFraction({ capacityBytes, availableBytes }: DiskUse): number {
  return capacityBytes > 0 ? 1 - availableBytes / capacityBytes : 0;
}
