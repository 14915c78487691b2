/** A file that survives power cuts. */
import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';

/** One text that is replaced atomically. */
export interface DurableFile {
  /** Resolves with undefined if there is no file. */
  read(): Promise<string | undefined>;
  /** Resolves when the new text survives a power cut; before that, the old or the new text does. */
  write(text: string): Promise<void>;
  /** Renames the file and resolves with the new path. */
  quarantine(mark: string): Promise<string>;
}

/** Returns the file at `path`, private to this user; its folder is created if missing. */
export function durableFile(path: string): DurableFile {
  return {
    read: async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      return readIfPresent(path);
    },
    write: (text) => writePrivateFile(path, text),
    quarantine: async (mark) => {
      const aside = `${path}.${mark}`;
      await rename(path, aside);
      return aside;
    },
  };
}
