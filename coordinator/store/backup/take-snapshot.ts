/** Copies the database of a running coordinator as of one point of the log, for another member. */
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { DATABASE_FILE } from '../data-files.js';
import { StoreError, toStoreError } from '../store-error.js';
import type { SnapshotReply, SnapshotRequest } from './snapshot-worker.js';

const PREFIX = 'snapshot-';

export interface DatabaseSnapshot {
  /** A complete database file, which contains its position in the log. Destroy it if it is not read to its end. */
  readonly bytes: Readable;
  readonly size: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/**
 * The copy needs as much space as the database until it is read. It has no name, so nothing is left if the process
 * ends. One call at a time for each data directory. Throws StoreError.
 */
export async function takeSnapshot(dataDir: string): Promise<DatabaseSnapshot> {
  try {
    for (const name of await readdir(dataDir)) {
      if (name.startsWith(PREFIX)) await rm(join(dataDir, name), { recursive: true, force: true });
    }
    const scratch = await mkdtemp(join(dataDir, PREFIX));
    try {
      const copy = join(scratch, DATABASE_FILE);
      const sha256 = await copied({ from: join(dataDir, DATABASE_FILE), to: copy });
      const file = await open(copy, 'r');
      const { size } = await file.stat();
      return { bytes: file.createReadStream(), size, sha256 };
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  } catch (error) {
    throw toStoreError(error, dataDir);
  }
}

function copied(workerData: SnapshotRequest): Promise<string> {
  return new Promise((resolved, reject) => {
    const worker = new Worker(new URL('./snapshot-worker.js', import.meta.url), { workerData });
    worker.on('message', (reply: SnapshotReply) => {
      if ('error' in reply) reject(new StoreError(reply.error.code, reply.error.message));
      else resolved(reply.sha256);
    });
    worker.on('error', reject);
    worker.on('exit', () => reject(new StoreError('failed', 'the snapshot thread exited')));
  });
}
