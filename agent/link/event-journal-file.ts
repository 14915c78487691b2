/** The file under the journal: lines are added to its end, and it is replaced as a whole. */
import { open } from 'node:fs/promises';
import {
  countWrittenBytes,
  readIfPresent,
  writePrivateFile,
} from '../../shared/process/files/private-file.js';

export interface EventJournalFile {
  /** Undefined when there is none. */
  read(): Promise<string | undefined>;
  /** After this resolves a power cut finds the lines; before, perhaps a part of them. */
  append(text: string): Promise<void>;
  /** The file holds this and nothing else. */
  replace(text: string): Promise<void>;
}

/** The file at `path`, private to this user. */
export function eventJournalFile(path: string): EventJournalFile {
  return {
    read: () => readIfPresent(path),
    append: async (text) => {
      const file = await open(path, 'a', 0o600);
      try {
        await file.writeFile(text);
        countWrittenBytes(text);
        await file.datasync();
      } finally {
        await file.close();
      }
    },
    replace: (text) => writePrivateFile(path, text),
  };
}
