/**
 * The bytes of log entries. An entry larger than a record is cut into several records. Every entry names the hash of
 * the one before it, so that members that differ notice it at once.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRawSync } from 'node:zlib';
import { pack, unpack } from 'msgpackr';
import type { PackedCommit } from '../log/packed-commit.js';
import type { LogOperation, LogPosition } from './log-operation.js';
import { type LogRecord, MAX_RECORD_BYTES } from './replicated-log.js';

/** Raised with each change that an earlier version would misread. A member refuses entries of a newer format. */
export const LOG_FORMAT = 1;

/** Shorter entries are stored as they are: compressing them costs more than their bytes. */
const MIN_DEFLATED_BYTES = 1_024;
const PLAIN = 0;
const DEFLATED = 1;

/** The first byte of a record tells whether an entry begins and ends with it. */
const BEGINS = 1;
const ENDS = 2;

/** An entry of a newer format: a later version wrote it. */
export class EntryTooNew extends Error {
  override name = 'EntryTooNew';

  constructor(readonly format: number) {
    super(
      `a newer version wrote the log: its entries have format ${format}, this version reads ${LOG_FORMAT}`,
    );
  }
}

/** The entry does not continue the entries that this member has applied. */
export class EntryDiverged extends Error {
  override name = 'EntryDiverged';

  constructor(record: number) {
    super(`the log does not continue this database at record ${record}`);
  }
}

/** An operation with the position of a database that has applied it. */
export interface LogEntry {
  readonly operation: LogOperation;
  readonly position: LogPosition;
}

/** Returns the large buffers of an entry, to move them to another thread. */
export function buffersOf({ operation }: LogEntry): ArrayBuffer[] {
  return operation.kind === 'commit' ? [operation.commit.values.buffer] : [];
}

interface EntryBody {
  term: number;
  /** `chain` of the position before this entry. */
  previous: string;
  operation: Record<string, unknown> & { kind: LogOperation['kind'] };
}

/** Compresses in the format of `deflateRaw`. */
export type Deflate = (bytes: Uint8Array) => Promise<Uint8Array>;

const deflateAsync = promisify(deflateRaw);
// The thread pool compresses: a megabyte would block the event loop for ten milliseconds.
const deflateInThread: Deflate = (bytes) => deflateAsync(bytes, { level: 1 });

/**
 * Returns the records of an entry that follows `before`, and the position after it. `firstRecord`: index of its first
 * record. `deflate`: replaces the thread pool, whose answers have no fixed order, in a simulation.
 */
export async function encodeEntry(
  operation: LogOperation,
  { before, firstRecord, term }: { before: LogPosition; firstRecord: number; term: number },
  deflate: Deflate = deflateInThread,
): Promise<{ records: LogRecord[]; position: LogPosition }> {
  const body: EntryBody = { term, previous: before.chain, operation: toPlain(operation) };
  const plain = pack(body);
  const isLong = plain.length >= MIN_DEFLATED_BYTES;
  const content = isLong ? await deflate(plain) : plain;
  const bytes = Buffer.concat([Buffer.of(LOG_FORMAT, isLong ? DEFLATED : PLAIN), content]);
  const records = cut(bytes, firstRecord);
  const record = firstRecord + records.length - 1;
  return {
    records,
    position: { generation: before.generation, record, term, chain: chainAfter(before.chain, bytes) },
  };
}

function cut(bytes: Buffer, firstRecord: number): LogRecord[] {
  const size = MAX_RECORD_BYTES - 1;
  const count = Math.max(1, Math.ceil(bytes.length / size));
  return Array.from({ length: count }, (_, part) => {
    const flags = (part === 0 ? BEGINS : 0) | (part === count - 1 ? ENDS : 0);
    const piece = bytes.subarray(part * size, (part + 1) * size);
    return { index: firstRecord + part, bytes: Buffer.concat([Buffer.of(flags), piece]) };
  });
}

function chainAfter(chain: string, bytes: Uint8Array): string {
  return createHash('sha256').update(chain).update(bytes).digest('hex');
}

/** Joins records to entries. Records must arrive in order without a gap. */
export class EntryReader {
  #position: LogPosition;
  /** Pieces of an entry whose last record has not arrived. */
  #pieces: Uint8Array[] = [];
  #nextRecord: number;

  constructor(position: LogPosition) {
    this.#position = position;
    this.#nextRecord = position.record + 1;
  }

  /** Position after the last complete entry. */
  get position(): LogPosition {
    return this.#position;
  }

  /** Index of the next record, which may continue an entry. */
  get nextRecord(): number {
    return this.#nextRecord;
  }

  /** Returns the entry that the record completes. Throws `EntryTooNew` or `EntryDiverged`. */
  add({ index, bytes }: LogRecord): LogEntry | undefined {
    if (index !== this.#nextRecord) throw new EntryDiverged(index);
    const flags = bytes[0] ?? 0;
    // A leader that died within an entry leaves its first records. The next leader begins another entry.
    if (flags & BEGINS) this.#pieces = [];
    else if (this.#pieces.length === 0) throw new EntryDiverged(index);
    const pieces = [...this.#pieces, bytes.subarray(1)];
    if (!(flags & ENDS)) {
      this.#pieces = pieces;
      this.#nextRecord += 1;
      return undefined;
    }
    const entry = this.#decode(Buffer.concat(pieces), index);
    this.#pieces = [];
    this.#nextRecord += 1;
    this.#position = entry.position;
    return entry;
  }

  #decode(bytes: Buffer, record: number): LogEntry {
    const [format = 0, compression] = bytes;
    if (format > LOG_FORMAT) throw new EntryTooNew(format);
    const content = bytes.subarray(2);
    const body = unpack(compression === DEFLATED ? inflateRawSync(content) : content) as EntryBody;
    if (body.previous !== this.#position.chain || body.term < this.#position.term)
      throw new EntryDiverged(record);
    const { generation, chain } = this.#position;
    return {
      operation: fromPlain(body.operation),
      position: { generation, record, term: body.term, chain: chainAfter(chain, bytes) },
    };
  }
}

/** msgpackr stores typed arrays in a format of its own, so they are stored as bytes. */
function toPlain(operation: LogOperation): EntryBody['operation'] {
  if (operation.kind !== 'commit') return { ...operation };
  const { keyLengths, valueLengths, creations, values, ...rest } = operation.commit;
  return {
    kind: 'commit',
    ...rest,
    keyLengths: bytesOf(keyLengths),
    valueLengths: bytesOf(valueLengths),
    creations: bytesOf(creations),
    values: bytesOf(values),
  };
}

function fromPlain(plain: EntryBody['operation']): LogOperation {
  if (plain.kind !== 'commit') return plain as unknown as LogOperation;
  const { firstRevision, keys, keyLengths, valueLengths, creations, values } = plain as unknown as Record<
    'keyLengths' | 'valueLengths' | 'creations' | 'values',
    Uint8Array
  > &
    Pick<PackedCommit, 'firstRevision' | 'keys'>;
  const commit: PackedCommit = {
    firstRevision,
    keys,
    keyLengths: new Uint32Array(ownBuffer(keyLengths)),
    valueLengths: new Int32Array(ownBuffer(valueLengths)),
    creations: new Uint8Array(ownBuffer(creations)),
    values: new Uint8Array(ownBuffer(values)),
  };
  return { kind: 'commit', commit };
}

function bytesOf(view: Uint8Array | Uint32Array | Int32Array): Buffer {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength);
}

/** Copies the bytes: a view of a decoded message can begin at an odd offset, where an Int32Array cannot. */
function ownBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
