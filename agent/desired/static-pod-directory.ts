/** The directory of static Pod manifests. */
import { watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Text files by name. */
export interface ManifestDirectory {
  /** Absolute path. */
  readonly path: string;
  /** Resolves with no names if the directory is missing. Rejects with other read errors. */
  names(): Promise<string[]>;
  /** Resolves with undefined for anything but a file, and after a removal. Rejects with other read errors. */
  text(name: string): Promise<string | undefined>;
  /** Calls `onChange` for every change; returns undefined if the directory is missing. Throws other errors. */
  watch(onChange: () => void): { close(): void } | undefined;
}

/** Returns a directory of this machine. */
export function manifestDirectory(path: string): ManifestDirectory {
  return {
    path,
    names: async () => (await unless(['ENOENT'], readdir(path))) ?? [],
    text: (name) => unless(['ENOENT', 'EISDIR'], readFile(join(path, name), 'utf8')),
    watch: (onChange) => {
      try {
        const watcher = watch(path, { persistent: false }, onChange);
        watcher.on('error', () => watcher.close());
        return watcher;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        return undefined;
      }
    },
  };
}

/** Resolves with undefined if the operation fails with one of these codes. */
async function unless<T>(codes: readonly string[], answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return undefined;
  }
}
