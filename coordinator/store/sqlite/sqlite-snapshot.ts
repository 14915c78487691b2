/** A SQLite file as it lies on the disk, read once at the start into what the store holds in memory. */
import type Database from 'better-sqlite3';
import type { Logger } from '../../../shared/process/output/logger.js';
import { reencrypt } from '../encryption/reencrypt-values.js';
import type { ValueEncryption } from '../encryption/value-encryption.js';
import { decryptedValue } from '../encryption/value-encryption.js';
import { HistoryBudget } from '../log/history-retention.js';
import { PresentValues } from '../log/present-values.js';
import type { StoredValue } from '../store.js';
import { type Identity, readIdentity } from './sqlite-identity.js';
import { lastRevision, openDatabase, prepareSchema } from './sqlite-schema.js';

/** What the file holds when it is opened; values in plain. */
export interface Snapshot {
  values: PresentValues;
  revision: number;
  compacted: number;
  history: HistoryBudget;
  identity: Identity;
}

/** What a file is read by. */
interface SnapshotOptions {
  /** Absent = nothing in the file is encrypted. */
  encryption?: ValueEncryption;
  /** Bound of the history that is kept; default `MAX_HISTORY_BYTES`. */
  maxHistoryBytes?: number;
  log: Logger;
}

/**
 * Reads the database at `path`: makes what is missing of its schema, and first brings what lies there in plain,
 * or under an older key, under the key in use. Throws `StoreError`, and SQLite's own errors.
 */
export function readSnapshot(path: string, { maxHistoryBytes, encryption, log }: SnapshotOptions): Snapshot {
  const database = openDatabase(path);
  try {
    prepareSchema(database);
    const reencrypted = encryption ? reencrypt(database, encryption) : 0;
    if (reencrypted > 0)
      log.info({ values: reencrypted }, 'Secrets in the database are encrypted under the key in use');
    const values = new PresentValues();
    const objects = database.prepare<[], StoredValue>(
      'SELECT key, revision, CAST(value AS BLOB) AS value FROM objects ORDER BY key',
    );
    for (const stored of objects.iterate()) values.set(stored.key, decryptedValue(encryption, stored));
    const compacted = Number(database.prepare('SELECT revision FROM compaction').pluck().get());
    const history = readHistoryBudget(database, maxHistoryBytes);
    return { values, revision: lastRevision(database), compacted, history, identity: readIdentity(database) };
  } finally {
    database.close();
  }
}

function readHistoryBudget(database: Database.Database, maxBytes?: number): HistoryBudget {
  const budget = new HistoryBudget(maxBytes);
  const rows = database.prepare<[], { revision: number; bytes: number | null }>(
    'SELECT revision, octet_length(previous_value) AS bytes FROM history ORDER BY revision',
  );
  for (const { revision, bytes } of rows.iterate()) budget.add(revision, bytes ?? 0);
  return budget;
}
