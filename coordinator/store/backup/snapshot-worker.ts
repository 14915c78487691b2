/** A worker thread that copies the database for another member, so that the coordinator's event loop keeps running. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type StoreErrorCode, toStoreError } from '../store-error.js';
import { copyDatabase } from './write-backup.js';

export interface SnapshotRequest {
  /** Path of the database. */
  from: string;
  /** Path of the copy. */
  to: string;
}

/** `sha256` of the copy, lower-case hex. */
export type SnapshotReply = { sha256: string } | { error: { code: StoreErrorCode; message: string } };

async function serve({ from, to }: SnapshotRequest): Promise<SnapshotReply> {
  try {
    copyDatabase(from, to);
    const hash = createHash('sha256');
    await pipeline(createReadStream(to), hash);
    return { sha256: hash.digest('hex') };
  } catch (error) {
    const { code, message } = toStoreError(error, from);
    return { error: { code, message } };
  }
}

parentPort?.postMessage(await serve(workerData));
