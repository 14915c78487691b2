/** The directory under static Pods. */
import { watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Files by name, one text each. */
export interface ManifestDirectory {
  /** Absolute. */
  readonly path: string;
  /** None when there is no such directory. Throws what else reading it says. */
  names(): Promise<string[]>;
  /** Undefined for what is no file, or was removed since it was listed. Throws what else reading it says. */
  text(name: string): Promise<string | undefined>;
  /** Calls when anything in it changes; undefined while there is no such directory. Throws what else watching it says. */
  watch(onChange: () => void): { close(): void } | undefined;
}

/** A directory of this machine. */
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

/** What the file system answers; undefined when it refuses with one of these codes. */
async function unless<T>(codes: readonly string[], answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return undefined;
  }
}
