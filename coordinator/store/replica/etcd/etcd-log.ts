/** The log in etcd: one key per record. */
import { type AppendAttempt, appendUntilKnown } from '../append-until-known.js';
import {
  type LogBounds,
  type LogRecord,
  LogTrimmed,
  MAX_RECORD_BYTES,
  type ReplicatedLog,
} from '../replicated-log.js';
import type { EtcdConnection } from './etcd-connection.js';
import type { EtcdKeys } from './etcd-keys.js';
import { type CallOutcome, EtcdCallError, type EtcdCompare, type EtcdRangeReply } from './etcd-transport.js';

/** Records of one page of a read. A page of the largest records fits into a message. */
const MAX_PAGE_RECORDS = 64;
/** Pages are cut near this size, by the records of the page before. */
const PAGE_BYTES = 4 * 2 ** 20;

export class EtcdLog implements Omit<ReplicatedLog, 'onChange'> {
  readonly #connection: EtcdConnection;
  readonly #keys: EtcdKeys;
  #pageRecords = 16;

  constructor(connection: EtcdConnection, keys: EtcdKeys) {
    this.#connection = connection;
    this.#keys = keys;
  }

  append(record: LogRecord, term: number): Promise<'appended' | 'overtaken'> {
    if (record.bytes.length > MAX_RECORD_BYTES)
      throw new RangeError(`a record of ${record.bytes.length} bytes is larger than ${MAX_RECORD_BYTES}`);
    let last: CallOutcome = 'busy';
    const attempt = () =>
      this.#appendOnce(record, term).catch((error: unknown) => {
        if (!(error instanceof EtcdCallError)) throw error;
        last = error.outcome;
        return attemptOutcome(error);
      });
    return appendUntilKnown(attempt, (failures) => this.#connection.pauseAfter(failures, last));
  }

  async read(from: number, limit: number): Promise<readonly LogRecord[]> {
    const page = Math.min(limit, this.#pageRecords);
    const reply = await this.#connection.call('Range', { ...this.#keys.records(from), limit: page });
    const records = reply.kvs.map(({ key, value }) => ({ index: this.#keys.indexOf(key), bytes: value }));
    const gap = records.findIndex(({ index }, place) => index !== from + place);
    if (gap === 0) throw new LogTrimmed(`record ${from} is trimmed`);
    const largest = Math.max(1, ...records.map(({ bytes }) => bytes.length));
    this.#pageRecords = Math.min(MAX_PAGE_RECORDS, Math.max(1, Math.floor(PAGE_BYTES / largest)));
    // etcd was restored from an older backup: the present leader's database had later records. A reader of the first
    // missing record needs a snapshot.
    return gap === -1 ? records : records.slice(0, gap);
  }

  async bounds(): Promise<LogBounds> {
    const all = { ...this.#keys.records(0), limit: 1, keysOnly: true };
    return this.#boundsIn(await this.#connection.call('Range', all));
  }

  /** Never deletes the last record, because the next index follows from it. */
  async trim(index: number, term: number): Promise<void> {
    const { first, next } = await this.bounds();
    const kept = Math.min(index, next - 1);
    if (kept <= first) return;
    const keptExists: EtcdCompare = {
      key: this.#keys.record(kept),
      result: 'GREATER',
      target: 'CREATE',
      createRevision: 0,
    };
    const reply = await this.#connection.call('Txn', {
      compare: [this.#leads(term), keptExists],
      success: [{ requestDeleteRange: this.#keys.records(0, kept) }],
      failure: [],
    });
    if (reply.succeeded) await this.#compact(reply.header.revision);
  }

  /** Deletes etcd's history, so that it can reuse the space of trimmed records. */
  async #compact(revision: string): Promise<void> {
    try {
      await this.#connection.call('Compact', { revision });
    } catch (error) {
      // An earlier attempt, or an operator's automatic compaction, was there first.
      if (!(error instanceof EtcdCallError) || error.outcome !== 'rejected') throw error;
    }
  }

  async #appendOnce(record: LogRecord, term: number): Promise<AppendAttempt> {
    const key = this.#keys.record(record.index);
    const reply = await this.#connection.attempt('Txn', {
      compare: [this.#leads(term), { key, result: 'EQUAL', target: 'CREATE', createRevision: 0 }],
      success: [
        { requestPut: { key, value: record.bytes } },
        { requestPut: { key: this.#keys.head, value: Buffer.from(String(record.index)) } },
      ],
      failure: [{ requestRange: { key } }],
    });
    if (reply.succeeded) return 'appended';
    const stored = reply.responses[0]?.responseRange?.kvs[0];
    return stored?.value.equals(record.bytes) ? 'appended' : 'overtaken';
  }

  #leads(term: number): EtcdCompare {
    return { key: this.#keys.leader, result: 'EQUAL', target: 'CREATE', createRevision: term };
  }

  #boundsIn({ kvs: [kv], count }: EtcdRangeReply): LogBounds {
    const first = kv ? this.#keys.indexOf(kv.key) : 1;
    return { first, next: first + Number(count) };
  }
}

function attemptOutcome(error: EtcdCallError): AppendAttempt {
  if (error.message.includes('request is too large'))
    throw new Error(
      'etcd refuses a log record as too large: start etcd with --max-request-bytes=1572864 or more',
    );
  return error.outcome === 'unknown' || error.outcome === 'full' ? error.outcome : 'notSent';
}
