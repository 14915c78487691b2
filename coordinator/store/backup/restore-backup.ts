/** Restores a backup into a data directory and starts a new epoch there. */
import { existsSync } from 'node:fs';
import { lchown, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { trackNewFolders } from '../../../shared/process/files/new-file-cleanup.js';
import { makePrivateDirectory, syncDirectory } from '../../../shared/process/files/private-file.js';
import {
  acquireDataLock,
  DATABASE_FILE,
  type DataLock,
  lockPath,
  RESTORING_DIRECTORY,
} from '../data-files.js';
import { clearLogPosition } from '../replica/log-position.js';
import { type NameEpoch, readIdentity, startEpoch } from '../sqlite/sqlite-identity.js';
import { openDatabase, prepareSchema } from '../sqlite/sqlite-schema.js';
import { StoreError, toStoreError } from '../store-error.js';
import { type BackupManifest, unpackBackup } from './backup-archive.js';

/**
 * The files that a backup replaces. The database is last: once it is in place, the restore is complete. The files of a
 * member of several coordinators are moved away: with them, it would replace the restored data by the leader's.
 */
const REPLACED = [
  'member.json',
  'fleet-keys.json',
  'pki',
  'kubeconfig',
  `${DATABASE_FILE}-wal`,
  `${DATABASE_FILE}-shm`,
  DATABASE_FILE,
];

interface RestoreOptions {
  /** Path of the backup. */
  file: string;
  /** Created if missing. */
  dataDir: string;
  /** Move existing data aside instead of refusing to restore. */
  replace: boolean;
  /** ms since the epoch. Names the directory for the existing data. */
  now: number;
  nameEpoch: NameEpoch;
}

export interface Restored {
  manifest: BackupManifest;
  /** Where the existing data was moved. */
  movedTo?: string;
}

/**
 * Restores a backup. Until the last step, existing data is unchanged. Throws StoreError: `locked` if a coordinator uses
 * the directory, `occupied` if it contains data and `replace` is not set, `damaged`, `newer` or `older` for the backup.
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
    // Without the lock, the lock file may belong to another coordinator.
    if (lock && isLockNew) await rm(lockPath(dataDir), { force: true });
    // Releasing the lock removes its journal from the directory, so release it before removing folders.
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
    throw new StoreError('occupied', `${dataDir} already contains the data of a coordinator`);
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
      throw new StoreError(
        'damaged',
        'the database in the backup belongs to another fleet than its manifest says',
      );
    }
    startEpoch(database, takenAt, nameEpoch);
    clearLogPosition(database);
    // Without a journal, the database is one file that one rename can move.
    database.pragma('journal_mode = DELETE');
  } finally {
    database.close();
  }
}

/** Moves existing data into `target` and returns the names. After a crash, both directories together hold all files. */
async function moveAside(dataDir: string, target: string): Promise<string[]> {
  // Move the database first: a directory without it cannot be served by mistake.
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

/** Reverts `moveAside`. The database comes last, because it makes the directory usable again. */
async function moveBack(from: string, dataDir: string, moved: readonly string[]): Promise<void> {
  for (const name of moved.toReversed()) await rename(join(from, name), join(dataDir, name));
  if (moved.length > 0) await rmdir(from);
  await syncDirectory(dataDir);
}

/** Files that root restores must belong to the directory's owner. Otherwise the service cannot read them. */
async function giveToOwner(dataDir: string): Promise<void> {
  const { uid, gid } = await stat(dataDir);
  if (process.getuid?.() !== 0 || uid === 0) return;
  for (const name of await readdir(dataDir, { recursive: true })) await lchown(join(dataDir, name), uid, gid);
}

/** Moves the unpacked files into place. `installed` receives their names even if the move fails. */
async function install(scratch: string, dataDir: string, installed: string[]): Promise<void> {
  for (const name of REPLACED.filter((each) => existsSync(join(scratch, each)))) {
    await rename(join(scratch, name), join(dataDir, name));
    installed.push(name);
  }
  await syncDirectory(dataDir);
}
