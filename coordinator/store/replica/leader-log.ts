/**
 * The leader's end of the replicated log: appends one entry after the other, and hands each appended entry to the
 * leader's own database.
 */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { StoreError } from '../store-error.js';
import type { CommitReplication, MemberDatabase, Stall } from './commit-replication.js';
import { type Deflate, encodeEntry, type LogEntry } from './log-entry.js';
import type { LogOperation, LogPosition } from './log-operation.js';
import { LogClosed, LogFull, type LogRecord, type ReplicatedLog } from './replicated-log.js';

/** A commit of this size fits into one record, with the size of keys and of one value above the limit. */
const MAX_COMMIT_BYTES = 786_432;
/** After this time without an answer, callers get an error. */
const STALL_MS = 2_000;
/** Entries that the database may lack. More would only fill the memory while a disk is slow. */
const MAX_UNAPPLIED = 64;

const STALL: Stall = {
  unavailable: new StoreError('unavailable', 'etcd does not answer: nothing was written'),
  unknown: new StoreError('unknown', 'etcd does not answer: the write may still take effect'),
};

interface LeaderLogDeps {
  log: ReplicatedLog;
  term: number;
  memberId: string;
  /** Position of the database. The log has no entry after it. */
  position: LogPosition;
  /** Index of the next record: larger than `position.record + 1` if a leader died within an entry. */
  nextRecord: number;
  database: MemberDatabase;
  clock: Clock;
  logger: Logger;
  /** Called once: this process leads no longer, or its database cannot follow the log. It must exit. */
  onFailed(error: StoreError): void;
  /** Receives each record that was appended. */
  onRecord?(index: number, bytes: number): void;
  /** Receives the duration of each append, for metrics. */
  onAppend?(durationMs: number): void;
  /** See `encodeEntry`. */
  deflate?: Deflate;
}

export class LeaderLog implements CommitReplication {
  readonly maxCommitBytes = MAX_COMMIT_BYTES;
  readonly #deps: LeaderLogDeps;
  readonly #unapplied = new Set<Promise<void>>();
  #position: LogPosition;
  #durable: number;
  #nextRecord: number;
  #last: Promise<unknown> = Promise.resolve();
  #onStall: (stall: Stall | undefined) => void = () => undefined;
  #isStalled = false;
  #failure: StoreError | undefined;

  constructor(deps: LeaderLogDeps) {
    this.#deps = deps;
    this.#position = deps.position;
    this.#durable = deps.position.record;
    this.#nextRecord = deps.nextRecord;
  }

  /** Position of the last appended entry. */
  get position(): LogPosition {
    return this.#position;
  }

  get isStalled(): boolean {
    return this.#isStalled;
  }

  /** Index of the last record that the database has durably. */
  get durableRecord(): number {
    return this.#durable;
  }

  /** Makes `durableRecord` current. */
  async sync(): Promise<void> {
    const { record } = this.#position;
    if (record === this.#durable) return;
    // The database's thread has received all entries up to `record`, and syncs after them.
    await this.#deps.database.sync();
    this.#durable = record;
  }

  onStall(listener: (stall: Stall | undefined) => void): void {
    this.#onStall = listener;
  }

  /** Appends the first entry of the term. Rejects with StoreError if another coordinator leads. */
  start(): Promise<void> {
    return this.append({ kind: 'start', memberId: this.#deps.memberId });
  }

  append(operation: LogOperation): Promise<void> {
    const appended = this.#last.then(() => this.#append(operation));
    this.#last = appended.catch(() => undefined);
    return appended;
  }

  async close(): Promise<void> {
    await this.#last;
    await Promise.all(this.#unapplied);
    // The log has what a failed database lacks.
    if (!this.#failure) await this.sync();
  }

  async #append(operation: LogOperation): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (this.#unapplied.size >= MAX_UNAPPLIED) await Promise.race(this.#unapplied);
    const { term, clock, onAppend, deflate } = this.#deps;
    const place = { before: this.#position, firstRecord: this.#nextRecord, term };
    const { records, position } = await encodeEntry(operation, place, deflate);
    const began = clock.monotonic();
    const timer = clock.after(STALL_MS, () => this.#setStalled(true));
    try {
      for (const record of records) await this.#appendRecord(record);
    } finally {
      timer.cancel();
      this.#setStalled(false);
    }
    onAppend?.(clock.monotonic() - began);
    this.#position = position;
    // Sent to the database's thread in this turn, so that every later read of the database sees the entry.
    this.#apply({ operation, position });
  }

  async #appendRecord(record: LogRecord): Promise<void> {
    const { log, term } = this.#deps;
    const outcome = await log.append(record, term).catch((error: unknown) => {
      if (error instanceof LogFull)
        throw new StoreError('full', 'etcd has no space left (NOSPACE): nothing was written');
      if (error instanceof LogClosed) throw new StoreError('closed', 'the coordinator is stopping');
      throw error;
    });
    if (outcome === 'overtaken')
      throw this.#fail(new StoreError('failed', 'another coordinator leads: nothing was written'));
    this.#nextRecord = record.index + 1;
    this.#deps.onRecord?.(record.index, record.bytes.length);
  }

  #apply(entry: LogEntry): void {
    const applied: Promise<void> = this.#deps.database
      .apply(entry)
      .catch((error: StoreError) => void this.#fail(error))
      .finally(() => this.#unapplied.delete(applied));
    this.#unapplied.add(applied);
  }

  /** The log has all entries. A restart as a follower applies those that the database lacks. */
  #fail(error: StoreError): StoreError {
    if (this.#failure) return this.#failure;
    this.#failure = error;
    this.#deps.logger.error({ err: error }, 'this coordinator leads no longer');
    this.#deps.onFailed(error);
    return error;
  }

  #setStalled(isStalled: boolean): void {
    if (isStalled === this.#isStalled) return;
    this.#isStalled = isStalled;
    const { logger } = this.#deps;
    if (isStalled) logger.error('etcd does not answer: writes are refused until it does');
    else logger.info('etcd answers again: writes are accepted');
    this.#onStall(isStalled ? STALL : undefined);
  }
}
