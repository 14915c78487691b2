/** Changes of Events as one value of the main store. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ObjectReference } from '../../../shared/kube/objects/event-types.js';
import { type EventChange, type EventRecord, StoredEvent } from './event-record.js';

/** Changes that were written together. Numbers in rows are relative to `at` and `revision`. */
interface ChunkBody {
  /** Time of the write, ms by the clock of the coordinator that wrote it. */
  at: number;
  revision: number;
  /** The objects that the Events are about. Records have the index. */
  about: ObjectReference[];
  rows: Row[];
}

/** A deletion, an Event with the bytes of a client, or a record. The key is `NAMESPACE/NAME`. */
type Row = [key: string] | [...Written, text: string] | [...Written, ...Recorded];
type Written = [key: string, revision: number, createdRevision: number, writtenAt: number];
type Recorded = [
  about: number,
  ...texts: [component: string, type: string, reason: string, message: string],
  ...numbers: [count: number, createdAt: number, firstAt: number, lastAt: number],
];

/** A change read from a chunk. A deletion has no Event. */
export interface RestoredChange {
  readonly key: string;
  readonly event?: StoredEvent;
}

interface RestoredChunk {
  readonly at: number;
  readonly changes: readonly RestoredChange[];
}

/**
 * Encodes changes of Events below `prefix`. Values of the store are text that a backup may parse as JSON, so the
 * compressed bytes are a JSON string.
 */
export function encodeChunk(prefix: string, at: number, changes: readonly EventChange[]): Buffer {
  const abouts = new Map<ObjectReference, number>();
  const aboutOf = (about: ObjectReference): number => {
    const index = abouts.get(about) ?? abouts.size;
    abouts.set(about, index);
    return index;
  };
  const revision = changes.at(-1)?.revision ?? 0;
  const rows = changes.map(({ key, current }): Row => {
    const name = key.slice(prefix.length);
    if (!current) return [name];
    const { content } = current;
    const written: Written = [
      name,
      current.revision - revision,
      current.createdRevision - revision,
      current.writtenAt - at,
    ];
    if (Buffer.isBuffer(content)) return [...written, content.toString()];
    const { about, component, type, reason, message, count, createdAt, firstAt, lastAt } = content;
    const texts = [component, type, reason, message] as const;
    return [...written, aboutOf(about), ...texts, count, createdAt - at, firstAt - at, lastAt - at];
  });
  const body: ChunkBody = { at, revision, about: [...abouts.keys()], rows };
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
      content.length === 1 ? Buffer.from(content[0]) : recordOf(row[0], content, body),
    );
    return { key, event };
  });
  return { at, changes };
}

function recordOf(key: string, row: Recorded, { at, about: abouts }: ChunkBody): EventRecord {
  const [index, component, type, reason, message, count, createdAt, firstAt, lastAt] = row;
  const slash = key.indexOf('/');
  const about = abouts[index];
  if (!about) throw new Error(`no object has the index ${index}`);
  return {
    namespace: key.slice(0, slash),
    name: key.slice(slash + 1),
    ...{ about, component, type, reason, message, count },
    ...{ createdAt: at + createdAt, firstAt: at + firstAt, lastAt: at + lastAt },
  };
}
