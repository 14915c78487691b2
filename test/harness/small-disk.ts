/** A disk of a few MiB that a test can fill: a tmpfs of its own, for root alone. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface SmallDisk {
  path: string;
  /** Leaves no byte free. */
  fill(): void;
  free(): void;
  unmount(): void;
}

/** The large one fills it soon, the small one to the last page. */
const BLOCKS = [Buffer.alloc(2 ** 20, 1), Buffer.alloc(4_096, 1)];

function writeUntilFull(file: number, block: Buffer): void {
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Mounts it at a new folder; a sentence where that is not possible. */
export function mountSmallDisk(path: string, mebibytes: number): SmallDisk | string {
  mkdirSync(path, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path], { stdio: 'pipe' });
  } catch (error) {
    return `cannot mount a tmpfs: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill: () => {
      const file = openSync(filler, 'a');
      try {
        for (const block of BLOCKS) writeUntilFull(file, block);
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    unmount: () => execFileSync('umount', ['-l', path]),
  };
}
