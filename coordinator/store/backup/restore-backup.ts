/** Puts a backup into a data directory and begins a new epoch there. */
import { existsSync } from 'node:fs';
import { lchown, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { trackNewFolders } from '../../../shared/process/files/new-file-cleanup.js';
import { makePrivateDirectory } from '../../../shared/process/files/private-file.js';
import {
  acquireDataLock,
  DATABASE_FILE,
  type DataLock,
  lockPath,
  RESTORING_DIRECTORY,
} from '../data-files.js';
import { type NameEpoch, readIdentity, startEpoch } from '../sqlite/sqlite-identity.js';
import { openDatabase, prepareSchema } from '../sqlite/sqlite-schema.js';
import { StoreError, toStoreError } from '../store-error.js';
import { type BackupManifest, syncDirectory, unpackBackup } from './backup-archive.js';

/** What a coordinator keeps in its directory and a backup replaces. The database is last: with it the restore has happened. */
const REPLACED = ['pki', 'kubeconfig', `${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`, DATABASE_FILE];

interface RestoreOptions {
  /** The backup. */
  file: string;
  /** Made if it is missing. */
  dataDir: string;
  /** Data that is there already is moved aside instead of refused. */
  replace: boolean;
  /** ms since the epoch; names the directory of what is moved aside. */
  now: number;
  nameEpoch: NameEpoch;
}

export interface Restored {
  manifest: BackupManifest;
  /** Where the data is that was there before. */
  movedTo?: string;
}

/**
 * Restores. Throws StoreError: `locked` while a coordinator uses the directory, `occupied` when it holds data and `replace` is not set,
 * `damaged` or `newer` for the backup. Until the last step the data that was there is untouched.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { dataDir } = options;
  const removeNewFolders = trackNewFolders(dataDir);
  const isLockNew = !existsSync(lockPath(dataDir));
  let lock: DataLock | undefined;
  try {
    makePrivateDirectory(dataDir);
    lock = acquireDataLock(dataDir);
    return await restoreLocked(options);
  } catch (error) {
    // Without the lock it may be another coordinator's.
    if (lock && isLockNew) await rm(lockPath(dataDir), { force: true });
    // A held lock has a journal in the directory, which goes with it.
    lock?.release();
    lock = undefined;
    removeNewFolders();
    throw toStoreError(error, dataDir);
  } finally {
    lock?.release();
  }
}

async function restoreLocked({ file, dataDir, replace, now, nameEpoch }: RestoreOptions): Promise<Restored> {
  const scratch = join(dataDir, RESTORING_DIRECTORY);
  if (!replace && REPLACED.some((name) => existsSync(join(dataDir, name)))) {
    throw new StoreError('occupied', `${dataDir} holds the data of a coordinator already`);
  }
  try {
    await rm(scratch, { recursive: true, force: true });
    makePrivateDirectory(scratch);
    const manifest = await unpackBackup(file, scratch);
    prepareDatabase(join(scratch, DATABASE_FILE), manifest, nameEpoch);
    const aside = join(dataDir, `replaced-${now}`);
    const moved = await moveAside(dataDir, aside);
    const installed: string[] = [];
    try {
      await install(scratch, dataDir, installed);
      await giveToOwner(dataDir);
    } catch (error) {
      for (const name of installed) await rm(join(dataDir, name), { recursive: true, force: true });
      await moveBack(aside, dataDir, moved);
      throw error;
    }
    return { manifest, ...(moved.length > 0 ? { movedTo: aside } : {}) };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function prepareDatabase(path: string, { clusterUID, takenAt }: BackupManifest, nameEpoch: NameEpoch): void {
  const database = openDatabase(path);
  try {
    prepareSchema(database);
    if (readIdentity(database).clusterUID !== clusterUID) {
      throw new StoreError('damaged', 'the backup holds the database of another fleet than it says');
    }
    startEpoch(database, takenAt, nameEpoch);
    // One file without a journal can be moved by one rename.
    database.pragma('journal_mode = DELETE');
  } finally {
    database.close();
  }
}

/** Moves what is there into `target`, and returns its names. Killed half-way, both directories together still hold everything. */
async function moveAside(dataDir: string, target: string): Promise<string[]> {
  // Without its database the directory serves nobody: that one goes first.
  const present = REPLACED.toReversed().filter((name) => existsSync(join(dataDir, name)));
  if (present.length === 0) return present;
  await mkdir(target, { mode: 0o700, recursive: true });
  const moved: string[] = [];
  try {
    for (const name of present) {
      await rename(join(dataDir, name), join(target, name));
      moved.push(name);
    }
    await syncDirectory(target);
  } catch (error) {
    await moveBack(target, dataDir, moved);
    throw error;
  }
  return moved;
}

/** Undoes `moveAside`. The database comes back last: with it the directory serves again. */
async function moveBack(from: string, dataDir: string, moved: readonly string[]): Promise<void> {
  for (const name of moved.toReversed()) await rename(join(from, name), join(dataDir, name));
  if (moved.length > 0) await rmdir(from);
  await syncDirectory(dataDir);
}

/** Root restores what a service's user is to read: all in the directory is that of the directory's owner. */
async function giveToOwner(dataDir: string): Promise<void> {
  const { uid, gid } = await stat(dataDir);
  if (process.getuid?.() !== 0 || uid === 0) return;
  for (const name of await readdir(dataDir, { recursive: true })) await lchown(join(dataDir, name), uid, gid);
}

/** Puts the unpacked files in place; `installed` receives the names, also of a failed attempt. */
async function install(scratch: string, dataDir: string, installed: string[]): Promise<void> {
  for (const name of REPLACED.filter((each) => existsSync(join(scratch, each)))) {
    await rename(join(scratch, name), join(dataDir, name));
    installed.push(name);
  }
  await syncDirectory(dataDir);
}
