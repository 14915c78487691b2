/** A worker thread that takes one backup, so that the coordinator's event loop keeps running. */
import { parentPort, workerData } from 'node:worker_threads';
import { type StoreErrorCode, toStoreError } from '../store-error.js';
import type { BackupManifest } from './backup-archive.js';
import { type BackupRequest, writeBackup } from './write-backup.js';

export type BackupReply = { manifest: BackupManifest } | { error: { code: StoreErrorCode; message: string } };

async function serve(order: BackupRequest): Promise<BackupReply> {
  try {
    return { manifest: await writeBackup(order) };
  } catch (error) {
    const { code, message } = toStoreError(error, order.path);
    return { error: { code, message } };
  }
}

parentPort?.postMessage(await serve(workerData));
