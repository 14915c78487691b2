/** The journal's file: lines are appended, or the whole content is replaced. */
import { open } from 'node:fs/promises';
import {
  countWrittenBytes,
  readIfPresent,
  writePrivateFile,
} from '../../shared/process/files/private-file.js';

export interface EventJournalFile {
  /** Resolves with undefined if there is no file. */
  read(): Promise<string | undefined>;
  /** Resolves when the lines survive a power cut; before that, a part of them may. */
  append(text: string): Promise<void>;
  /** Replaces the whole content. */
  replace(text: string): Promise<void>;
}

/** Returns the file at `path`, private to this user. */
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
