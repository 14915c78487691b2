/** Applies the log's entries to the database of a follower. */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { MemberDatabase } from './commit-replication.js';
import { EntryReader } from './log-entry.js';
import type { LogPosition } from './log-operation.js';
import type { ReplicatedLog } from './replicated-log.js';

/** Records per read: at most 16 MiB. */
const READ_RECORDS = 16;

interface LogFollowerDeps {
  log: Pick<ReplicatedLog, 'read'>;
  position: LogPosition;
  database: MemberDatabase;
  logger: Logger;
}

export class LogFollower {
  readonly #deps: LogFollowerDeps;
  readonly #reader: EntryReader;
  #durable: number;
  /** Position of the last entry that the database has. The reader may be further if an apply failed. */
  #applied: LogPosition;

  constructor(deps: LogFollowerDeps) {
    this.#deps = deps;
    this.#reader = new EntryReader(deps.position);
    this.#applied = deps.position;
    this.#durable = deps.position.record;
  }

  get position(): LogPosition {
    return this.#applied;
  }

  /** Index of the record after the last one that was read. */
  get nextRecord(): number {
    return this.#reader.nextRecord;
  }

  /** Index of the last record that the database has durably. */
  get durableRecord(): number {
    return this.#durable;
  }

  /**
   * Applies all entries that the log has now. Rejects with `LogTrimmed`, `EntryTooNew`, `EntryDiverged`,
   * `LogUnavailable` or StoreError. After StoreError, open another follower: this one may have skipped an entry.
   */
  async catchUp(): Promise<void> {
    const { log, database } = this.#deps;
    for (;;) {
      const records = await log.read(this.#reader.nextRecord, READ_RECORDS);
      for (const record of records) {
        const entry = this.#reader.add(record);
        if (!entry) continue;
        await database.apply(entry);
        this.#applied = entry.position;
      }
      if (records.length === 0) return;
    }
  }

  /** Makes the applied entries durable. */
  async sync(): Promise<void> {
    const { record } = this.#applied;
    if (record === this.#durable) return;
    await this.#deps.database.sync();
    this.#durable = record;
  }
}
