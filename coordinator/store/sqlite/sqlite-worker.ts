/** The thread that owns the database. An fsync can take a second on a bad disk and must not block the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { HistoryChanges, type HistoryRow } from '../log/history-changes.js';
import { type PackedCommit, unpackCommit } from '../log/packed-commit.js';
import type { LogEntry } from '../replica/log-entry.js';
import type { LogPosition } from '../replica/log-operation.js';
import { preparePositionWriter, readLogPosition } from '../replica/log-position.js';
import type { Change } from '../store.js';
import { toStoreError } from '../store-error.js';
import { confirmRestore } from './sqlite-identity.js';
import { openDatabase } from './sqlite-schema.js';
import type { WorkerCall, WorkerInput, WorkerReply, WorkerRequest } from './sqlite-worker-client.js';

/** History rows per transaction. Commits run between transactions. */
const COMPACTION_SLICE = 2_000;

class Connection {
  readonly #database: Database.Database;
  readonly #rememberNothing;
  readonly #remember;
  readonly #create;
  readonly #update;
  readonly #remove;
  readonly #creation;
  readonly #changes: HistoryChanges;
  readonly #reads = new Set<Promise<unknown>>();
  readonly #before;
  readonly #forget;
  #applyFailure: { readonly error: unknown } | undefined;
  /** Absent in the database of a single coordinator. */
  readonly #putPosition: ((position: LogPosition) => void) | undefined;

  constructor({ path, durability }: WorkerInput) {
    const database = openDatabase(path);
    if (durability === 'on-sync') database.pragma('synchronous = NORMAL');
    this.#database = database;
    this.#putPosition = readLogPosition(database) && preparePositionWriter(database);
    this.#changes = new HistoryChanges(database, nextTurn);
    this.#rememberNothing = database.prepare<[number, string]>(
      'INSERT INTO history (revision, key) VALUES (?, ?)',
    );
    this.#remember = database.prepare<[number, string]>(
      'INSERT INTO history SELECT ?, key, revision, value FROM objects WHERE key = ?',
    );
    this.#create = database.prepare<[number, number, Buffer, string]>(
      'INSERT INTO objects (revision, created, value, key) VALUES (?, ?, CAST(? AS TEXT), ?)',
    );
    this.#update = database.prepare<[number, Buffer, string]>(
      'UPDATE objects SET revision = ?, value = CAST(? AS TEXT) WHERE key = ?',
    );
    this.#remove = database.prepare<string>('DELETE FROM objects WHERE key = ?');
    this.#creation = database.prepare<string, Pick<Change, 'key' | 'revision'>>(
      'SELECT key, created AS revision FROM objects WHERE key = ?',
    );
    // SQLite takes the bare columns from the row with the minimum.
    this.#before = database.prepare<
      { after: number; until: number; from: string; to: string },
      Omit<HistoryRow, 'value'>
    >(
      `SELECT min(revision) AS revision, key, previous_revision AS previousRevision,
         CAST(previous_value AS BLOB) AS previousValue
       FROM history WHERE revision > @after AND revision <= @until AND key >= @from AND key < @to GROUP BY key`,
    );
    this.#forget = database.prepare<{ revision: number; limit: number }>(
      `DELETE FROM history WHERE revision <= @revision AND revision <=
         (SELECT max(revision) FROM (SELECT revision FROM history ORDER BY revision LIMIT @limit))`,
    );
  }

  async answer(call: WorkerCall): Promise<Change[]> {
    switch (call.kind) {
      case 'commit':
        this.#commit(call.commit);
        return [];
      case 'apply':
        await this.#apply(call.entry);
        return [];
      case 'sync':
        this.#sync();
        return [];
      case 'changes':
        return (await this.#read(this.#changes.read(call))).map(toChange);
      case 'before':
        return this.#before
          .all({ ...call, from: call.prefix, to: `${call.prefix}\u{10ffff}` })
          .map((row) => toChange({ ...row, value: null }));
      case 'creation':
        return this.#creation.all(call.key);
      case 'compact':
        await this.#compact(call.revision);
        return [];
      case 'confirmRestore':
        confirmRestore(this.#database);
        return [];
      case 'close':
        this.#database.close();
        return [];
    }
  }

  #commit(commit: PackedCommit): void {
    this.#database.transaction(() => {
      for (const { key, revision, value, isNew } of unpackCommit(commit)) {
        (isNew ? this.#rememberNothing : this.#remember).run(revision, key);
        if (!value) this.#remove.run(key);
        else if (isNew) this.#create.run(revision, revision, value, key);
        else this.#update.run(revision, value, key);
      }
    })();
  }

  /** After an error, no later entry is applied: the database would lack an entry before its position. */
  async #apply({ operation, position }: LogEntry): Promise<void> {
    if (this.#applyFailure) throw this.#applyFailure.error;
    try {
      this.#database.transaction(() => {
        if (operation.kind === 'commit') this.#commit(operation.commit);
        else if (operation.kind === 'confirmRestore') confirmRestore(this.#database);
        else if (operation.kind === 'compact') this.#compactUpTo(operation.revision);
        this.#putPosition?.(position);
      })();
    } catch (error) {
      this.#applyFailure = { error };
      throw error;
    }
    if (operation.kind === 'compact') await this.#compact(operation.revision);
  }

  /** Storing the position again with an fsync makes all earlier transactions of the write-ahead log durable. */
  #sync(): void {
    const position = readLogPosition(this.#database);
    if (!position) return;
    this.#database.pragma('synchronous = FULL');
    try {
      this.#putPosition?.(position);
    } finally {
      this.#database.pragma('synchronous = NORMAL');
    }
  }

  async #read<T>(reading: Promise<T>): Promise<T> {
    this.#reads.add(reading);
    try {
      return await reading;
    } finally {
      this.#reads.delete(reading);
    }
  }

  async #compact(revision: number): Promise<void> {
    // Earlier reads may still need the rows that are deleted next.
    await Promise.allSettled(this.#reads);
    try {
      await this.#deleteUntil(revision);
    } finally {
      this.#changes.forget();
    }
  }

  #compactUpTo(revision: number): void {
    this.#database.prepare('UPDATE compaction SET revision = max(revision, ?)').run(revision);
  }

  async #deleteUntil(revision: number): Promise<void> {
    this.#compactUpTo(revision);
    while (this.#database.open) {
      if (this.#forget.run({ revision, limit: COMPACTION_SLICE }).changes < COMPACTION_SLICE) return;
      await nextTurn();
    }
  }
}

function toChange({ revision, key, value, previousRevision, previousValue }: HistoryRow): Change {
  return {
    key,
    revision,
    ...(value && { value }),
    ...(previousValue &&
      previousRevision !== null && { previous: { key, value: previousValue, revision: previousRevision } }),
  };
}

function serve(input: WorkerInput): void {
  const { path } = input;
  const connection = new Connection(input);
  parentPort?.on('message', async ({ id, call }: WorkerRequest) => {
    let reply: WorkerReply;
    try {
      reply = { id, changes: await connection.answer(call) };
    } catch (error) {
      const { code, message } = toStoreError(error, path);
      reply = { id, error: { code, message } };
    }
    parentPort?.postMessage(reply);
    if (call.kind === 'close') parentPort?.close();
  });
}

serve(workerData);
