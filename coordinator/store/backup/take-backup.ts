/** Takes backups of a data directory, also while a coordinator uses it, and deletes old scheduled backups. */
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StoreError, toStoreError } from '../store-error.js';
import type { BackupManifest } from './backup-archive.js';
import type { BackupReply } from './backup-worker.js';
import type { BackupRequest } from './write-backup.js';

/** Default directory for backups, relative to the data directory. */
export const BACKUPS_DIRECTORY = 'backups';

/** Returns a file name with trigger and time, such as `scheduled-2026-01-31T03-17-00Z.tar.gz`. */
export function backupName(by: 'scheduled' | 'manual', takenAt: number): string {
  const time = new Date(takenAt)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
  return `${by}-${time}.tar.gz`;
}

/**
 * Writes a complete backup of `dataDir` to `path`, with mode 0600, or nothing. A worker thread does the work, so a
 * running coordinator is not blocked. `takenAt`: the present time in ms. Throws StoreError.
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
    worker.on('exit', () => reject(new StoreError('failed', 'the backup thread exited')));
  });
}

/**
 * Deletes all but the newest `keep` scheduled backups and returns the deleted names. `last` is the backup just taken.
 * Names with a later time were written while the clock was ahead, so they count as the oldest.
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
