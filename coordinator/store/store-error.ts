/** Errors of the data directory, in contrast to conditions of a single write. */

/**
 * - `locked`: another coordinator uses the data.
 * - `damaged`: the file is not a database of this program, or is corrupt.
 * - `occupied`: the directory contains other data, and replacing it was not requested.
 * - `newer`: a later version wrote the data.
 * - `older`: an earlier version wrote the data, in a format that this version does not read.
 * - `absent`: a required database does not exist.
 * - `unwritable`: the directory cannot be created or written.
 * - `full`: no disk space. The write changed nothing, and a later one may succeed.
 * - `unavailable`: etcd does not answer. The write changed nothing, and a later one may succeed.
 * - `unknown`: etcd did not answer. The write may take effect later.
 * - `closed`: the coordinator is stopping and refuses writes.
 * - `failed`: a disk error. Nothing more is written until a restart reads what was stored.
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
  | 'unavailable'
  | 'unknown'
  | 'closed'
  | 'failed';

/** `message` is one sentence for the operator. */
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
  // mkdir fails like this in file systems that allow no new directories, such as /proc.
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
  unavailable: 'etcd does not answer, nothing was written for',
  unknown: 'etcd does not answer, a write may take effect later for',
  closed: 'the coordinator is stopping and does not write to',
  failed: 'writing failed; restart the coordinator to see what was stored in',
};

/** Returns an error of SQLite or the file system about `path` as a StoreError. A StoreError is returned unchanged. */
export function toStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  // Extended result codes begin with the primary one: SQLITE_IOERR_FSYNC, SQLITE_CORRUPT_INDEX.
  const primary = code.startsWith('SQLITE_') ? code.split('_').slice(0, 2).join('_') : code;
  const storeCode = CODES[primary] ?? 'failed';
  return new StoreError(storeCode, `${SENTENCES[storeCode]} ${path} (${message})`);
}
