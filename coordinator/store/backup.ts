/**
 * Takes backups of a data directory, whether or not a coordinator is using it: the database as it is at one moment, and
 * what agents and clients trust (authority, keys, the hash of the administrator's token and the kubeconfig with it).
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { makePrivateDirectory } from '../../shared/process/private-file.js';
import { type BackupManifest, type BackupSource, packBackup } from './backup-file.js';
import type { CopyReply, CopyWish } from './backup-worker.js';
import { DATABASE_FILE } from './private-files.js';
import { StoreError, type StoreErrorCode, toStoreError } from './store-error.js';

/** Below a data directory, where backups go unless told otherwise. */
export const BACKUPS_DIRECTORY = 'backups';

/** Beside the database. */
const KEYS_DIRECTORY = 'pki';
const KUBECONFIG = 'kubeconfig';

/** Says in a name when and by whom a backup was taken: `scheduled-2026-01-31T03-17-00Z.tar.gz`. */
export function backupName(by: 'scheduled' | 'manual', takenAt: number): string {
  const time = new Date(takenAt)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
  return `${by}-${time}.tar.gz`;
}

/**
 * Writes a backup of `dataDir` to `path`, whole or not at all, for root's eyes alone. Neither a running coordinator's event loop nor its writes
 * wait for it. `takenAt`: now, in ms. Throws StoreError.
 */
export async function takeBackup(dataDir: string, path: string, takenAt: number): Promise<BackupManifest> {
  const database = join(dataDir, DATABASE_FILE);
  if (!existsSync(database)) throw new StoreError('unwritable', `there is no database in ${dataDir}`);
  try {
    makePrivateDirectory(dirname(resolve(path)));
    const scratch = await mkdtemp(`${resolve(path)}.copy-`);
    try {
      const copy = join(scratch, DATABASE_FILE);
      const held = await copyDatabase({ from: database, to: copy });
      const sources = [{ name: DATABASE_FILE, path: copy }, ...(await trustedFiles(dataDir))];
      return await packBackup(resolve(path), { ...held, takenAt }, sources);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  } catch (error) {
    throw toStoreError(error, path);
  }
}

async function trustedFiles(dataDir: string): Promise<BackupSource[]> {
  const keys = existsSync(join(dataDir, KEYS_DIRECTORY)) ? await readdir(join(dataDir, KEYS_DIRECTORY)) : [];
  // `.new`: a file that is being written.
  const names = keys.filter((name) => !name.endsWith('.new')).map((name) => join(KEYS_DIRECTORY, name));
  if (existsSync(join(dataDir, KUBECONFIG))) names.push(KUBECONFIG);
  return names.map((name) => ({ name, path: join(dataDir, name) }));
}

function copyDatabase(wish: CopyWish): Promise<Pick<BackupManifest, 'clusterUID' | 'era' | 'revision'>> {
  return new Promise((resolved, reject) => {
    const worker = new Worker(new URL('./backup-worker.js', import.meta.url), { workerData: wish });
    worker.on('message', (reply: CopyReply) => {
      if ('error' in reply) reject(new StoreError(reply.error.code as StoreErrorCode, reply.error.message));
      else resolved(reply);
    });
    worker.on('error', reject);
    worker.on('exit', () => reject(new StoreError('failed', 'the copying thread ended')));
  });
}

/** Removes all but the newest `keep` scheduled backups of a directory; answers the names removed. */
export async function pruneBackups(directory: string, keep: number): Promise<string[]> {
  const names = await readdir(directory);
  const scheduled = names.filter((name) => /^scheduled-[\dTZ-]+\.tar\.gz$/.test(name)).sort();
  const surplus = scheduled.slice(0, Math.max(0, scheduled.length - keep));
  for (const name of surplus) await rm(join(directory, name), { force: true });
  return surplus;
}
