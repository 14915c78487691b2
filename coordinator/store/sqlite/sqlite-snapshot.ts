/** Reads a SQLite file at start into memory. */
import type Database from 'better-sqlite3';
import type { Logger } from '../../../shared/process/output/logger.js';
import { reencrypt } from '../encryption/reencrypt-values.js';
import type { ValueEncryption } from '../encryption/value-encryption.js';
import { decryptedValue } from '../encryption/value-encryption.js';
import { HistoryBudget } from '../log/history-retention.js';
import { PresentValues } from '../log/present-values.js';
import type { LogPosition } from '../replica/log-operation.js';
import { readLogPosition } from '../replica/log-position.js';
import type { StoredValue } from '../store.js';
import { type Identity, readIdentity } from './sqlite-identity.js';
import { lastRevision, openDatabase, prepareSchema } from './sqlite-schema.js';

/** The content of the file. Values are in plain text. */
export interface Snapshot {
  values: PresentValues;
  revision: number;
  compacted: number;
  history: HistoryBudget;
  identity: Identity;
  /** Absent in the database of a single coordinator. */
  position: LogPosition | undefined;
}

interface SnapshotOptions {
  /** Absent = no value is encrypted. */
  encryption?: ValueEncryption;
  /** Size limit of the history; default `MAX_HISTORY_BYTES`. */
  maxHistoryBytes?: number;
  log: Logger;
}

/** Reads the database at `path`. Creates missing tables and re-encrypts values after a key change. */
export function readSnapshot(path: string, { maxHistoryBytes, encryption, log }: SnapshotOptions): Snapshot {
  const database = openDatabase(path);
  try {
    prepareSchema(database);
    const reencrypted = encryption ? reencrypt(database, encryption) : 0;
    if (reencrypted > 0)
      log.info({ values: reencrypted }, 'Secrets in the database were re-encrypted with the current key');
    const values = new PresentValues();
    const objects = database.prepare<[], StoredValue>(
      'SELECT key, revision, CAST(value AS BLOB) AS value FROM objects ORDER BY key',
    );
    for (const stored of objects.iterate()) values.set(stored.key, decryptedValue(encryption, stored));
    const compacted = Number(database.prepare('SELECT revision FROM compaction').pluck().get());
    const history = readHistoryBudget(database, maxHistoryBytes);
    return {
      ...{ values, revision: lastRevision(database), compacted, history },
      identity: readIdentity(database),
      position: readLogPosition(database),
    };
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
