/** Stored values and decoded objects as ObjectRecords. Each side is converted only on demand. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import type { Change } from '../../store/store.js';
import type { ObjectRecord } from '../registry.js';
import { cachedObject, decodeShared } from './decoded-objects.js';
import { decodeMetadata, encodeObject, SplicedValue, spliceResourceVersion } from './object-encoding.js';

/** A record of a stored value. It caches nothing, because many records live long. */
export class StoredRecord<T extends KubeObject> implements ObjectRecord<T> {
  constructor(
    /** The stored bytes, without resourceVersion. */
    readonly stored: Buffer,
    readonly revision: number,
  ) {}

  bytes(): Buffer {
    return spliceResourceVersion(this.stored, this.revision);
  }

  copyableBytes(): SplicedValue {
    return new SplicedValue(this.stored, this.revision);
  }

  object(): T {
    return decodeShared<T>(this.stored, this.revision);
  }

  /** Returns the labels without decoding the rest of the object. */
  labels(): Labels | undefined {
    return (cachedObject(this.stored)?.metadata ?? decodeMetadata(this.stored)).labels;
  }
}

/** Returns the labels of a record without decoding more than necessary. */
export function labelsOf(record: ObjectRecord): Labels | undefined {
  return record instanceof StoredRecord ? record.labels() : record.object().metadata.labels;
}

/**
 * Returns a record of a decoded object and sets its resourceVersion. The caller must not change the object afterwards.
 * Revision 0 means "not stored" (dry run): the object then has no resourceVersion.
 */
export function recordOf<T extends KubeObject>(object: T, revision: number): ObjectRecord<T> {
  if (revision === 0) delete object.metadata.resourceVersion;
  else object.metadata.resourceVersion = String(revision);
  let bytes: Buffer | undefined;
  return {
    revision,
    object: () => object,
    bytes: () => {
      bytes ??= revision === 0 ? encodeObject(object) : spliceResourceVersion(encodeObject(object), revision);
      return bytes;
    },
  };
}

/** Returns a record of an object that was just stored as `stored`, so that the response is not encoded again. */
export function writtenRecord<T extends KubeObject>(
  object: T,
  stored: Buffer,
  revision: number,
): ObjectRecord<T> {
  object.metadata.resourceVersion = String(revision);
  return { revision, object: () => object, bytes: () => spliceResourceVersion(stored, revision) };
}

/** The object before and after a change. Both have the revision of the change. */
interface ChangeRecords<T extends KubeObject = KubeObject> {
  current?: ObjectRecord<T>;
  previous?: ObjectRecord<T>;
}

/**
 * Records by change. All watches share a change, so it is decoded once for all of them. Weak, because the store of
 * Events does not count the bytes that a record has of a change.
 */
const RECORDS = new WeakMap<Change, WeakRef<ChangeRecords>>();

/** Returns the records of one change. The caller guarantees that the change's key belongs to objects of type `T`. */
export function recordsOf<T extends KubeObject>(change: Change): ChangeRecords<T> {
  const known = RECORDS.get(change)?.deref();
  if (known) return known as ChangeRecords<T>;
  const { value, previous, revision } = change;
  const records: ChangeRecords<T> = {
    ...(value && { current: new StoredRecord<T>(value, revision) }),
    // With the revision of its last update, a resumed watch would report the deletion twice.
    ...(previous && { previous: new StoredRecord<T>(previous.value, revision) }),
  };
  RECORDS.set(change, new WeakRef(records));
  return records;
}
