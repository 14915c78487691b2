/** A command that fails leaves nothing behind: the files that it created in a directory are removed, earlier ones stay. */
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Deep enough for the data directories: files that a command adds to a folder of an earlier command lie no deeper. */
const DEPTH = 2;

/**
 * Lists the files in `directory` now, and returns a function that removes all others: new files and folders, and the directory and
 * its parents if they are new. The function does not touch files that were there before, even if their content has changed.
 * Only for a directory that no other process writes to: the new files of another process would be removed too.
 */
export function trackNewFiles(directory: string): () => void {
  const removeNewFolders = trackNewFolders(directory);
  const known = new Set(pathsIn(directory, DEPTH));
  return () => {
    for (const path of pathsIn(directory, DEPTH)) {
      if (!known.has(path)) rmSync(path, { recursive: true, force: true });
    }
    removeNewFolders();
  };
}

/** Returns a function that removes these folders and their parents if they do not exist now and are empty then. */
export function trackNewFolders(...folders: readonly string[]): () => void {
  const missing = folders.flatMap(missingFolders);
  return () => {
    for (const folder of missing) removeEmpty(folder);
  };
}

/** The directory and its parents as far as they do not exist, the deepest first. */
function missingFolders(directory: string): string[] {
  return existsSync(directory) ? [] : [directory, ...missingFolders(dirname(directory))];
}

function pathsIn(directory: string, depth: number): string[] {
  if (depth === 0 || !existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return [path, ...(entry.isDirectory() ? pathsIn(path, depth - 1) : [])];
  });
}

/** A folder stays if another program has put a file there. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Not there, or not empty.
  }
}
