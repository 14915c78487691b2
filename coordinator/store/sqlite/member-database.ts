/** The database of a member that follows the log. Unlike SqliteStore it keeps no values in memory. */
import { existsSync } from 'node:fs';
import type { MemberDatabase } from '../replica/commit-replication.js';
import { buffersOf } from '../replica/log-entry.js';
import type { LogPosition } from '../replica/log-operation.js';
import { readLogPosition } from '../replica/log-position.js';
import { openDatabase, prepareSchema } from './sqlite-schema.js';
import { SqliteWorkerClient } from './sqlite-worker-client.js';

export interface OpenMemberDatabase extends MemberDatabase {
  /** Position when the database was opened. */
  readonly position: LogPosition;
  close(): Promise<void>;
}

/** Opens the database. Returns undefined if there is none, or if it has no position in a log. Throws StoreError. */
export function openMemberDatabase(path: string): OpenMemberDatabase | undefined {
  if (!existsSync(path)) return undefined;
  const database = openDatabase(path);
  let position: LogPosition | undefined;
  try {
    prepareSchema(database);
    position = readLogPosition(database);
  } finally {
    database.close();
  }
  if (!position) return undefined;
  const worker = new SqliteWorkerClient(path, 'on-sync');
  return {
    position,
    apply: async (entry) => void (await worker.call({ kind: 'apply', entry }, buffersOf(entry))),
    sync: async () => void (await worker.call({ kind: 'sync' })),
    close: async () => void (await worker.call({ kind: 'close' })),
  };
}
