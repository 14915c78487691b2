/** Files of a data directory: names and the lock. Only the owner of the lock writes to the database. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError, toStoreError } from './store-error.js';

export interface DataLock {
  release(): void;
}

/** Returns the path of the lock file. */
export function lockPath(dataDir: string): string {
  return join(dataDir, 'lock');
}

/**
 * Locks an existing data directory. The lock is SQLite's exclusive lock on a separate file, so the kernel releases it
 * however the process ends. Throws StoreError `locked` or `unwritable`.
 */
export function acquireDataLock(dataDir: string): DataLock {
  const path = lockPath(dataDir);
  try {
    // Only create a missing file: opening and closing a locked file releases the lock (POSIX).
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

export const DATABASE_FILE = 'everynode.db';

/** Exists in the data directory of a coordinator that shares its fleet with others. */
export const MEMBER_FILE = 'member.json';

/** Exists from the begin of `clusterize` until `MEMBER_FILE` exists: etcd may name this directory as its fleet's. */
export const PENDING_MEMBER_FILE = 'member-pending.json';

/** Exists during a restore. If it exists without a database, a restore was interrupted. */
export const RESTORING_DIRECTORY = 'restoring';

/** Creates an empty file with mode 0600 unless it exists. SQLite gives its journals the same mode. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
}
