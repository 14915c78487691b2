/** Files that only their owner reads, and that are whole or not there: whatever happens while they are written. */
import { existsSync, mkdirSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { countWrittenBytes } from './written-bytes.js';

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Makes the directory and its parents with mode 0700; one that exists keeps its mode. Throws the system's error. */
export function makePrivateDirectory(path: string): void {
  // Step by step: Node's recursive mkdir never returns where a file system refuses new folders, as /proc does.
  if (existsSync(path)) return;
  makePrivateDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/** Replaces the file by `content`, mode 0600, durably. A reader sees the old content or the new one. */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    // A leftover of an earlier crash keeps its mode when opened.
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

/** Removes the file durably: a power cut does not bring it back. One that is not there is no error. */
export async function removePrivateFile(path: string): Promise<void> {
  await rm(path, { force: true });
  await syncDirectory(dirname(path));
}

/** The file's text, or undefined when there is none. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
