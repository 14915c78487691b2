/** The file under the desired cache. */
import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';

/** One text that is whole or not there, whatever happens while it is written. */
export interface DurableFile {
  /** Undefined when there is none. */
  read(): Promise<string | undefined>;
  /** After this resolves, a power cut finds the new text; before, it or the old one. */
  write(text: string): Promise<void>;
  /** Keeps the present text under another name, which it answers. */
  quarantine(mark: string): Promise<string>;
}

/** The file at `path`, private to this user; its folder is made when it is missing. */
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
