/** The identity of a database: its fleet and its epoch, in table `identity`. */
import type Database from 'better-sqlite3';
import type { PastEpoch } from '../store.js';
import { lastRevision } from './sqlite-schema.js';

export interface Identity {
  readonly clusterUID: string;
  readonly epoch: string;
  readonly pastEpochs: readonly PastEpoch[];
  isUnconfirmed: boolean;
}

/** Added to the revision by a restore, so that every resume point in the lost log is refused as too old. */
export const EPOCH_STRIDE = 10 ** 12;

const PAST_EPOCHS = 'pastEpochs';
const UNCONFIRMED = 'unconfirmedRestore';

/** Reads the identity. The tables must exist. */
export function readIdentity(database: Database.Database): Identity {
  const row = database.prepare<string>('SELECT value FROM identity WHERE name = ?').pluck();
  return {
    clusterUID: String(row.get('clusterUID')),
    epoch: String(row.get('epoch')),
    pastEpochs: JSON.parse(String(row.get(PAST_EPOCHS) ?? '[]')) as PastEpoch[],
    isUnconfirmed: row.get(UNCONFIRMED) !== undefined,
  };
}

/** Returns the name of an epoch that continues `from` after its last revision. */
export type NameEpoch = (from: Pick<PastEpoch, 'epoch' | 'revision'>) => string;

/** Starts a new epoch in a restored database: no history, unconfirmed. `takenAt`: time of the backup, ms. */
export function startEpoch(database: Database.Database, takenAt: number, nameEpoch: NameEpoch): void {
  database.transaction(() => {
    const { epoch, pastEpochs } = readIdentity(database);
    const revision = lastRevision(database);
    const past: readonly PastEpoch[] = [...pastEpochs, { epoch: epoch, revision, takenAt }];
    const put = database.prepare('INSERT OR REPLACE INTO identity VALUES (?, ?)');
    put.run('epoch', nameEpoch({ epoch: epoch, revision }));
    put.run(PAST_EPOCHS, JSON.stringify(past));
    put.run(UNCONFIRMED, 'true');
    database.exec('DELETE FROM history');
    database.prepare('UPDATE compaction SET revision = ?').run(revision + EPOCH_STRIDE);
  })();
}

/** Marks the restore as confirmed. Idempotent. */
export function confirmRestore(database: Database.Database): void {
  database.prepare('DELETE FROM identity WHERE name = ?').run(UNCONFIRMED);
}
