/** Directories and files that only their owner reads. */
import { closeSync, mkdirSync, openSync } from 'node:fs';

/** The database in a data directory. */
export const DATABASE_FILE = 'everynode.db';

/** Makes the directory and its parents with mode 0700; one that exists keeps its mode. */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Makes an empty file of mode 0600 unless it exists. SQLite gives its journals the mode of the database. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
}
