/** A disk of a few MiB that a test can fill: a file system of its own. It requires root. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../basics/wait-until.js';

export interface SmallDisk {
  path: string;
  /** Fills the disk completely. */
  fill(): void;
  free(): void;
  /** Makes the disk read-only, or writable again. Rejects if a file stays open for writing. */
  lock(locks: boolean): Promise<void>;
  unmount(): void;
}

/** The large block fills the disk quickly, the small one to the last page. */
const BLOCKS = [Buffer.alloc(2 ** 20, 1), Buffer.alloc(4_096, 1)];

/** Timeout for a remount while programs write small files. */
const LOCK_MS = 10_000;

function writeUntilFull(file: number, block: Buffer): void {
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Mounts a disk at a new folder. Returns a reason where that is impossible. */
export function mountSmallDisk(path: string, mebibytes: number): SmallDisk | string {
  mkdirSync(path, { recursive: true });
  const why = attempt('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path);
  if (why !== undefined) return why;
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
    lock: async (locks) => {
      const remount = () => attempt('mount', '-o', `remount,${locks ? 'ro' : 'rw'}`, path) === undefined;
      await until(remount, { timeoutMs: LOCK_MS, what: `${path} to be locked` });
    },
    unmount: () => execFileSync('umount', ['-l', path]),
  };
}

/** Mounts an ext4 disk, which reserves some blocks for root. Its image is a file next to the folder. */
export function mountReservedDisk(
  path: string,
  { mebibytes, reservedPercent }: { mebibytes: number; reservedPercent: number },
): Pick<SmallDisk, 'path' | 'unmount'> | string {
  mkdirSync(path, { recursive: true });
  const image = `${path}.ext4`;
  writeFileSync(image, '');
  truncateSync(image, mebibytes * 2 ** 20);
  const why =
    attempt('mkfs.ext4', '-q', '-m', String(reservedPercent), image) ??
    attempt('mount', '-o', 'loop', image, path);
  return why ?? { path, unmount: () => execFileSync('umount', ['-l', path]) };
}

/** Returns the error of a failed command, or undefined. */
function attempt(command: string, ...args: string[]): string | undefined {
  try {
    execFileSync(command, args, { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `${command} fails: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
  }
}
