/** Keeps a second coordinator off the same data, and is the leadership: who holds it, writes. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError, toStoreError } from './store-error.js';

export interface DataLock {
  release(): void;
}

/** The file of a data directory's lock. */
export function lockPath(dataDir: string): string {
  return join(dataDir, 'lock');
}

/**
 * Takes the lock of a data directory, which must exist. The lock is SQLite's own exclusive one on a file of its own: the kernel
 * drops it with the process, however that ends. Throws StoreError `locked` or `unwritable`.
 */
export function acquireDataLock(dataDir: string): DataLock {
  const path = lockPath(dataDir);
  try {
    // Opening and closing a locked file of our own process would drop the lock (POSIX), so only a missing one is made.
    if (!existsSync(path)) makePrivateFile(path);
    const database = new Database(path, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    return { release: () => void database.close() };
  } catch (error) {
    const storeError = toStoreError(error, dataDir);
    if (storeError.code !== 'locked') throw storeError;
    throw new StoreError('locked', `another coordinator is using the data in ${dataDir}`);
  }
}

/** The database in a data directory. */
export const DATABASE_FILE = 'everynode.db';

/** In a data directory while a restore is under way. One left without a database is a restore that was cut short. */
export const RESTORING_DIRECTORY = 'restoring';

/** Makes an empty file of mode 0600 unless it exists. SQLite gives its journals the mode of the database. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
}
