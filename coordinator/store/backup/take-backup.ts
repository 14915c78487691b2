/** Takes backups of a data directory, whether or not a coordinator is using it, and keeps a number of them. */
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StoreError, toStoreError } from '../store-error.js';
import type { BackupManifest } from './backup-archive.js';
import type { BackupReply } from './backup-worker.js';
import type { BackupRequest } from './write-backup.js';

/** Below a data directory, where backups go unless told otherwise. */
export const BACKUPS_DIRECTORY = 'backups';

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
export function takeBackup(dataDir: string, path: string, takenAt: number): Promise<BackupManifest> {
  const request: BackupRequest = { dataDir, path: resolve(path), takenAt };
  return new Promise((resolved, reject) => {
    const worker = new Worker(new URL('./backup-worker.js', import.meta.url), { workerData: request });
    worker.on('message', (reply: BackupReply) => {
      if ('error' in reply) reject(new StoreError(reply.error.code, reply.error.message));
      else resolved(reply.manifest);
    });
    worker.on('error', (error) => reject(toStoreError(error, path)));
    worker.on('exit', () => reject(new StoreError('failed', 'the thread that takes backups ended')));
  });
}

/**
 * Removes all but the newest `keep` scheduled backups of a directory; answers the names removed. Those that bear a later time than
 * `last`, the one that was taken just now, are older all the same, by a clock that was ahead: they go first, and it stays.
 */
export async function pruneBackups(directory: string, keep: number, last: string): Promise<string[]> {
  const names = await readdir(directory);
  const scheduled = names.filter((name) => /^scheduled-[\dTZ-]+\.tar\.gz$/.test(name)).sort();
  const ahead = scheduled.filter((name) => name > last);
  const oldestFirst = [...ahead, ...scheduled.filter((name) => name <= last)];
  const surplus = oldestFirst.slice(0, Math.max(0, oldestFirst.length - keep));
  for (const name of surplus) await rm(join(directory, name), { force: true });
  return surplus;
}
