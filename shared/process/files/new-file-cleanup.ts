/** Clean-up after a failed command: removes the files that it created in a directory, and keeps earlier ones. */
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Depth of data directories. Commands do not create files below it in existing directories. */
const DEPTH = 2;

/**
 * Lists the files in `directory` and returns a function that removes all others: new files and folders, and the
 * directory and its parents if they are new. Existing files are not touched, even if their content changed. The
 * directory must not be written to by another process, because its new files would be removed too.
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

/** Returns a function that removes the folders and parents that do not exist now, if they are empty. */
export function trackNewFolders(...folders: readonly string[]): () => void {
  const missing = folders.flatMap(missingFolders);
  return () => {
    for (const folder of missing) removeEmpty(folder);
  };
}

/** Returns the directory and its parents as far as they do not exist, deepest first. */
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

/** Keeps the folder if another program has put a file into it. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The folder does not exist, or is not empty.
  }
}
