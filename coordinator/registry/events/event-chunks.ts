/** Changes of Events as one value of the main store. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ObjectReference } from '../../../shared/kube/objects/event-types.js';
import { type EventChange, type EventRecord, StoredEvent } from './event-record.js';

/** Changes that were written together. Rows have indexes of objects and texts, and numbers relative to these. */
interface ChunkBody {
  /** Time of the write, ms by the clock of the coordinator that wrote it. */
  at: number;
  /** Revision of the last change. */
  revision: number;
  /** The objects that the Events are about. */
  about: readonly ObjectReference[];
  texts: readonly string[];
  rows: readonly Row[];
}

/** A deletion, an Event with the bytes of a client, or a record. The key is `NAMESPACE/NAME`. */
type Row = [key: string] | [...Written, text: string] | [...Written, ...Recorded];
type Written = [key: string, revision: number, createdRevision: number, writtenAt: number];
type Recorded = [
  about: number,
  ...texts: [component: number, type: number, reason: number, message: number],
  ...numbers: [count: number, createdAt: number, firstAt: number, lastAt: number],
];

/** A change that a chunk has. */
export type WrittenChange = Pick<EventChange, 'key' | 'revision' | 'current'>;

/** A change read from a chunk. A deletion has no Event. */
export interface RestoredChange {
  readonly key: string;
  readonly event?: StoredEvent;
}

interface RestoredChunk {
  readonly at: number;
  readonly changes: readonly RestoredChange[];
}

/** Values by index. Equal values have one index. */
class IndexedValues<Value> {
  readonly #indexes = new Map<Value, number>();

  indexOf(value: Value): number {
    const known = this.#indexes.get(value);
    if (known === undefined) this.#indexes.set(value, this.#indexes.size);
    return known ?? this.#indexes.size - 1;
  }

  list(): readonly Value[] {
    return [...this.#indexes.keys()];
  }
}

/**
 * Encodes changes of Events below `prefix`. Values of the store are text that a backup may parse as JSON, so the
 * compressed bytes are a JSON string.
 */
export function encodeChunk(prefix: string, at: number, changes: readonly WrittenChange[]): Buffer {
  const abouts = new IndexedValues<ObjectReference>();
  const texts = new IndexedValues<string>();
  const revision = changes.at(-1)?.revision ?? 0;
  const rows = changes.map(({ key, current }): Row => {
    const name = key.slice(prefix.length);
    if (!current) return [name];
    const { content, createdRevision } = current;
    const revisions = [current.revision - revision, createdRevision - revision] as const;
    const written: Written = [name, ...revisions, current.writtenAt - at];
    if (Buffer.isBuffer(content)) return [...written, content.toString()];
    const { about, component, type, reason, message, count, createdAt, firstAt, lastAt } = content;
    return [
      ...written,
      abouts.indexOf(about),
      ...[texts.indexOf(component), texts.indexOf(type), texts.indexOf(reason), texts.indexOf(message)],
      ...[count, createdAt - at, firstAt - at, lastAt - at],
    ] as [...Written, ...Recorded];
  });
  const body: ChunkBody = { at, revision, about: abouts.list(), texts: texts.list(), rows };
  const packed = deflateRawSync(JSON.stringify(body), { level: 1 }).toString('base64');
  return Buffer.from(`"${packed}"`);
}

/** Decodes a chunk. The time `now` replaces a later time, which a wrong clock has written. Throws for a damaged value. */
export function decodeChunk(prefix: string, value: Buffer, now: number): RestoredChunk {
  const packed = Buffer.from(value.toString('latin1').slice(1, -1), 'base64');
  const body: ChunkBody = JSON.parse(inflateRawSync(packed).toString());
  const at = Math.min(body.at, now);
  const changes = body.rows.map((row): RestoredChange => {
    const key = prefix + row[0];
    if (row.length === 1) return { key };
    const [, revision, createdRevision, writtenAt, ...content] = row;
    const event = new StoredEvent(
      key,
      body.revision + revision,
      body.revision + createdRevision,
      at + writtenAt,
      content.length === 1 ? Buffer.from(content[0]) : recordOf(key, content, body),
    );
    return { key, event };
  });
  return { at, changes };
}

function recordOf(key: string, row: Recorded, { at, about, texts }: ChunkBody): EventRecord {
  const [index, component, type, reason, message, count, createdAt, firstAt, lastAt] = row;
  return {
    key,
    about: existing(about[index]),
    component: existing(texts[component]),
    type: existing(texts[type]),
    reason: existing(texts[reason]),
    message: existing(texts[message]),
    count,
    createdAt: at + createdAt,
    firstAt: at + firstAt,
    lastAt: at + lastAt,
  };
}

function existing<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a row has the index of no value');
  return value;
}
