/** Files with mode 0600 that are written atomically: a crash leaves the old content or the new one. */
import { existsSync, mkdirSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes renames in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Creates the directory and missing parents with mode 0700. Throws the system's error. */
export function makePrivateDirectory(path: string): void {
  // Create one level at a time: Node's recursive mkdir never returns on file systems that reject new directories, such
  // as /proc.
  if (existsSync(path)) return;
  makePrivateDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/**
 * Replaces the file by `content` with mode 0600, atomically and durably. If several processes can write the file, each
 * needs another `temporary` path in the same directory.
 */
export async function writePrivateFile(
  path: string,
  content: string | Uint8Array,
  temporary = `${path}.new`,
): Promise<void> {
  const file = await open(temporary, 'w', 0o600);
  try {
    // A temporary file from an earlier crash keeps its mode when it is opened.
    await file.chmod(0o600);
    await file.writeFile(content);
    countWrittenBytes(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

/** Removes the file durably, so that it does not reappear after a power failure. A missing file is not an error. */
export async function removePrivateFile(path: string): Promise<void> {
  await rm(path, { force: true });
  await syncDirectory(dirname(path));
}

/** Returns the file's text, or undefined if the file does not exist. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Bytes that this process has written to files, like the kernel's counter in `/proc/self/io`. */
let total = 0;

/** Counts a write. Must be called for each write to a file. */
export function countWrittenBytes(content: string | Uint8Array): void {
  total += typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
}

/** Returns the count since the start of the process. */
export function writtenBytes(): number {
  return total;
}
