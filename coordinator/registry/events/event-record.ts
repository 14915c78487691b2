/** Events as the coordinator keeps them in memory: only what differs between Events. Their JSON is written on demand. */
import type { KubeEvent, ObjectReference } from '../../../shared/kube/objects/event-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { eventKind } from '../../kinds/index.js';
import type { Change, StoredValue } from '../../store/store.js';
import { cacheWritten } from '../encoding/decoded-objects.js';
import { encodeObject, spliceResourceVersion } from '../encoding/object-encoding.js';
import { StoredRecord } from '../encoding/object-record.js';
import type { ObjectRecord } from '../registry.js';
import { prefixOf } from '../storage-keys.js';

/** An Event that the coordinator recorded. Times in ms since the epoch. */
export interface EventRecord {
  /** The key in the store. It contains the name, in which the time of the creation is in nanoseconds. */
  readonly key: string;
  /** All Events about one object share its reference. */
  readonly about: ObjectReference;
  readonly component: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly createdAt: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

const PREFIX_LENGTH = prefixOf(eventKind).length;
/** Estimated memory of an Event apart from its key and message, or from the bytes that a client sent. */
const ENTRY_BYTES = 400;

/** A stored Event. An Event that a client has written keeps the client's bytes, which may have any field. */
export class StoredEvent implements StoredValue {
  constructor(
    readonly key: string,
    readonly revision: number,
    /** The revision of its creation. */
    readonly createdRevision: number,
    /** Time of the write, in ms by the store's monotonic clock. */
    readonly writtenAt: number,
    readonly content: EventRecord | Buffer,
  ) {}

  get value(): Buffer {
    return Buffer.isBuffer(this.content) ? this.content : encodeRecord(this.content);
  }

  /** Returns the Event for readers. */
  record(): ObjectRecord {
    const { content, revision } = this;
    return Buffer.isBuffer(content)
      ? new StoredRecord(content, revision)
      : new RecordedEvent(content, revision);
  }

  /** Estimated memory in bytes. */
  get size(): number {
    const { key, content } = this;
    return ENTRY_BYTES + key.length + (Buffer.isBuffer(content) ? content : content.message).length;
  }
}

/** An Event for readers. A selector needs only the object, which costs far less than its JSON. */
class RecordedEvent implements ObjectRecord<KubeEvent> {
  readonly #record: EventRecord;
  #object: KubeEvent | undefined;

  constructor(
    record: EventRecord,
    readonly revision: number,
  ) {
    this.#record = record;
  }

  object(): KubeEvent {
    if (this.#object) return this.#object;
    this.#object = toEvent(this.#record);
    this.#object.metadata.resourceVersion = String(this.revision);
    return this.#object;
  }

  bytes(): Buffer {
    return spliceResourceVersion(encodeObject(this.object()), this.revision);
  }
}

/** A change of an Event. Its bytes are written when a watch reads them. */
export class EventChange implements Change {
  constructor(
    readonly key: string,
    readonly revision: number,
    readonly current: StoredEvent | undefined,
    readonly previous: StoredEvent | undefined,
  ) {}

  get value(): Buffer | undefined {
    return this.current?.value;
  }

  /** Estimated memory in bytes. */
  get size(): number {
    return (this.current?.size ?? 0) + (this.previous?.size ?? 0);
  }
}

/** Returns the value with its bytes, which are encoded once. */
export function encoded({ key, value, revision }: StoredValue): StoredValue {
  return { key, value, revision };
}

/** Returns when an Event last happened, in ms since the epoch. Clients of events.k8s.io report repeats by the series. */
export function lastHappened(value: Buffer): number {
  const { series, lastTimestamp, eventTime, metadata }: KubeEvent = JSON.parse(value.toString());
  const text = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
  return text ? Date.parse(text) : 0;
}

/** Returns the stored JSON of a record. A reader that needs the object does not decode it again. */
function encodeRecord(record: EventRecord): Buffer {
  const event = toEvent(record);
  const bytes = encodeObject(event);
  cacheWritten(bytes, event);
  return bytes;
}

function toEvent(record: EventRecord): KubeEvent {
  const { key, about, component, type, reason, message, count } = record;
  const slash = key.indexOf('/', PREFIX_LENGTH);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      namespace: key.slice(PREFIX_LENGTH, slash),
      name: key.slice(slash + 1),
      uid: uidOf(record),
      creationTimestamp: toTimestamp(record.createdAt),
    },
    involvedObject: about,
    reason,
    message,
    source: { component },
    firstTimestamp: toTimestamp(record.firstAt),
    lastTimestamp: toTimestamp(record.lastAt),
    count,
    type,
    eventTime: null,
    reportingComponent: component,
    reportingInstance: '',
  };
}

/** Returns the same uid after each read and restart: a UUID (version 8) of the nanoseconds at the end of the name. */
function uidOf({ key, about }: EventRecord): string {
  const time = key.slice(key.lastIndexOf('.') + 1).padStart(16, '0');
  const node = about.uid?.length === 36 ? about.uid.slice(24) : '000000000000';
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-8${time.slice(12, 15)}-8${time.slice(15)}00-${node}`;
}

/** Returns the bytes that a client wrote with the count, message and time of a repeated occurrence. */
export function countedUp(stored: Buffer, { count, message, lastAt }: EventRecord): Buffer {
  const event: KubeEvent = JSON.parse(stored.toString());
  return encodeObject({ ...event, count, message, lastTimestamp: toTimestamp(lastAt) } as KubeEvent);
}
