/** What goes wrong with the place where the data lies, as opposed to a single write's conditions. */

/**
 * - `locked`: another coordinator has this data open.
 * - `damaged`: the file is no database, or its pages do not fit together.
 * - `occupied`: the directory holds other data, which nobody agreed to replace.
 * - `newer`: a later version wrote the data.
 * - `older`: an earlier version wrote the data, in a format that this version does not read.
 * - `absent`: there is no database where one must be.
 * - `unwritable`: the directory cannot be made or written.
 * - `full`: no room; the write changed nothing and a later one may work.
 * - `closed`: the coordinator is stopping, and takes no more writes.
 * - `failed`: the disk broke its promise; nothing is written any more until a restart reads what is really there.
 */
export type StoreErrorCode =
  | 'locked'
  | 'occupied'
  | 'damaged'
  | 'newer'
  | 'older'
  | 'absent'
  | 'unwritable'
  | 'full'
  | 'closed'
  | 'failed';

/** `message` is one sentence for an operator. */
export class StoreError extends Error {
  constructor(
    readonly code: StoreErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'StoreError';
  }
}

const CODES: Record<string, StoreErrorCode> = {
  SQLITE_FULL: 'full',
  SQLITE_CORRUPT: 'damaged',
  SQLITE_NOTADB: 'damaged',
  SQLITE_READONLY: 'unwritable',
  SQLITE_CANTOPEN: 'unwritable',
  SQLITE_PERM: 'unwritable',
  SQLITE_BUSY: 'locked',
  EACCES: 'unwritable',
  EPERM: 'unwritable',
  EROFS: 'unwritable',
  ENOTDIR: 'unwritable',
  // Of making a directory: the file system takes no new ones, as /proc does not.
  ENOENT: 'unwritable',
  EEXIST: 'unwritable',
  ENOSPC: 'full',
};

const SENTENCES: Record<StoreErrorCode, string> = {
  locked: 'another coordinator is using the data in',
  occupied: 'other data is in',
  damaged: 'the database is damaged and must be restored from a backup:',
  newer: 'the database was written by a newer version:',
  older: 'the database was written by an older version:',
  absent: 'there is no database in',
  unwritable: 'cannot write to',
  full: 'no space left for',
  closed: 'the coordinator is stopping and does not write to',
  failed: 'writing failed; restart the coordinator to see what was stored in',
};

/** A SQLite or file system error about `path` as a StoreError; a StoreError stays as it is. */
export function toStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  // Extended result codes begin with the primary one: SQLITE_IOERR_FSYNC, SQLITE_CORRUPT_INDEX.
  const primary = code.startsWith('SQLITE_') ? code.split('_').slice(0, 2).join('_') : code;
  const storeCode = CODES[primary] ?? 'failed';
  return new StoreError(storeCode, `${SENTENCES[storeCode]} ${path} (${message})`);
}
