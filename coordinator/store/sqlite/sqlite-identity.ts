/** Which fleet and which log of it a database holds: the rows of table `identity`. */
import type Database from 'better-sqlite3';
import type { PastEpoch } from '../store.js';
import { lastRevision } from './sqlite-schema.js';

export interface Identity {
  readonly clusterUID: string;
  readonly epoch: string;
  readonly pastEpochs: readonly PastEpoch[];
  isUnconfirmed: boolean;
}

/** So far ahead of the backup that no revision of the lost log is reached again: each resume point in it is too old. */
export const EPOCH_STRIDE = 10 ** 12;

const PAST_EPOCHS = 'pastEpochs';
const UNCONFIRMED = 'unconfirmedRestore';

/** Reads the rows; the tables must be there. */
export function readIdentity(database: Database.Database): Identity {
  const row = database.prepare<string>('SELECT value FROM identity WHERE name = ?').pluck();
  return {
    clusterUID: String(row.get('clusterUID')),
    epoch: String(row.get('epoch')),
    pastEpochs: JSON.parse(String(row.get(PAST_EPOCHS) ?? '[]')) as PastEpoch[],
    isUnconfirmed: row.get(UNCONFIRMED) !== undefined,
  };
}

/** Names an epoch by the one that it goes on from, and the last revision of that. */
export type NameEpoch = (from: Pick<PastEpoch, 'epoch' | 'revision'>) => string;

/** Begins a new epoch in a restored database: no history, a revision far ahead, unconfirmed. `takenAt`: when the backup was taken, ms. */
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

/** The restore is confirmed; again is no error. */
export function confirmRestore(database: Database.Database): void {
  database.prepare('DELETE FROM identity WHERE name = ?').run(UNCONFIRMED);
}
