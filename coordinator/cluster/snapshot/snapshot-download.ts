/** Fetches the leader's database for a member that is new or lags behind the trimmed log. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SNAPSHOT_HASH_HEADER, SNAPSHOT_PATH } from '../../../shared/link/messages/link-limits.js';
import { syncDirectory } from '../../../shared/process/files/private-file.js';
import { DATABASE_FILE } from '../../store/data-files.js';
import type { LogPosition } from '../../store/replica/log-operation.js';
import { readLogPosition } from '../../store/replica/log-position.js';
import { readIdentity } from '../../store/sqlite/sqlite-identity.js';
import { openDatabase, prepareSchema } from '../../store/sqlite/sqlite-schema.js';
import { snapshotProof } from './snapshot-proof.js';

/** The leader needs this long at most before it sends the first byte, and between two pieces. */
const IDLE_MS = 120_000;

interface SnapshotSource {
  /** The leader's address, `https://HOST:PORT`. */
  server: string;
  /** PEM of the authorities by which the server is verified. */
  ca: string;
  clusterKey: Buffer;
  clusterUID: string;
  generation: string;
  /** Of the member that downloads. */
  memberId: string;
  /** The present time, ms. */
  now: number;
  /** Ends the download. */
  signal?: AbortSignal;
}

/** The snapshot cannot be fetched or is not complete. Nothing was replaced. */
export class SnapshotError extends Error {
  override name = 'SnapshotError';
}

/**
 * Replaces the database of `dataDir`, which must not be open, by the leader's, and returns its position in the log. The
 * old database stays until the new one is complete and verified. Throws SnapshotError and errors of the disk.
 */
export async function downloadSnapshot(source: SnapshotSource, dataDir: string): Promise<LogPosition> {
  const target = join(dataDir, DATABASE_FILE);
  const temporary = `${target}.download`;
  await removeDatabase(temporary);
  try {
    await fetchTo(source, temporary);
    const position = verified(source, temporary);
    // Journals of the old database would be applied to the new one.
    for (const end of ['-wal', '-shm']) await rm(target + end, { force: true });
    await rename(temporary, target);
    await syncDirectory(dataDir);
    return position;
  } finally {
    await removeDatabase(temporary);
  }
}

async function fetchTo(source: SnapshotSource, path: string): Promise<void> {
  const response = await get(source);
  const expected = response.headers[SNAPSHOT_HASH_HEADER];
  const hash = createHash('sha256');
  const hashed = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  try {
    await pipeline(response, hashed, createWriteStream(path, { mode: 0o600, flags: 'wx', flush: true }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === 'write') throw error;
    throw new SnapshotError(`the snapshot of ${source.server} broke off: ${(error as Error).message}`);
  }
  if (hash.digest('hex') === expected) return;
  throw new SnapshotError(`the snapshot of ${source.server} does not match its checksum`);
}

function get({
  server,
  ca,
  clusterKey,
  clusterUID,
  memberId,
  now,
  signal,
}: SnapshotSource): Promise<IncomingMessage> {
  const authorization = snapshotProof(clusterKey, clusterUID, memberId, now);
  const options = { ca, minVersion: 'TLSv1.3' as const, agent: false as const, timeout: IDLE_MS, signal };
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new SnapshotError(`no snapshot from ${server}: ${why}`));
    const sent = request(
      new URL(SNAPSHOT_PATH, server),
      { ...options, headers: { authorization } },
      (response) => {
        if (response.statusCode === 200) {
          resolve(response);
          return;
        }
        response.resume();
        fail(refusal(response.statusCode));
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', (error) => fail(error.message));
    sent.end();
  });
}

function refusal(status: number | undefined): string {
  // The proof contains the time: see snapshot-proof.ts.
  if (status === 401) return 'it refuses this coordinator: set the clocks of both machines';
  return `status ${status}`;
}

/** Throws SnapshotError for a database of another fleet or log, StoreError for a damaged one. */
function verified({ server, clusterUID, generation }: SnapshotSource, path: string): LogPosition {
  const database = openDatabase(path);
  try {
    prepareSchema(database);
    const position = readLogPosition(database);
    if (readIdentity(database).clusterUID !== clusterUID || position?.generation !== generation) {
      throw new SnapshotError(`the snapshot of ${server} is of another fleet or another log`);
    }
    // One file without a journal can be moved by one rename.
    database.pragma('journal_mode = DELETE');
    return position;
  } finally {
    database.close();
  }
}

async function removeDatabase(path: string): Promise<void> {
  for (const end of ['', '-wal', '-shm', '-journal']) await rm(path + end, { force: true });
}
