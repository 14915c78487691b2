/** Files of the store that only their owner reads. */
import { closeSync, openSync } from 'node:fs';

/** The database in a data directory. */
export const DATABASE_FILE = 'everynode.db';

/** In a data directory while a restore is under way. One left without a database is a restore that was cut short. */
export const RESTORING_DIRECTORY = 'restoring';

/** Makes an empty file of mode 0600 unless it exists. SQLite gives its journals the mode of the database. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
}
