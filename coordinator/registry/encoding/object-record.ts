/** A stored value as an ObjectRecord: bytes stay bytes until somebody asks for fields, and the other way round. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import type { Change } from '../../store/store.js';
import type { ObjectRecord } from '../registry.js';
import { cachedObject, decodeShared } from './decoded-objects.js';
import { decodeMetadata, encodeObject, SplicedValue, spliceResourceVersion } from './object-encoding.js';

/** A record of a value as the store holds it. It keeps nothing that it makes: a change's record stays as long as the change. */
export class StoredRecord<T extends KubeObject> implements ObjectRecord<T> {
  constructor(
    /** The value, without its revision. */
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

  /** The object's labels, without decoding the rest of it. */
  labels(): Labels | undefined {
    return (cachedObject(this.stored)?.metadata ?? decodeMetadata(this.stored)).labels;
  }
}

/** The labels of any record, as cheaply as it allows. */
export function labelsOf(record: ObjectRecord): Labels | undefined {
  return record instanceof StoredRecord ? record.labels() : record.object().metadata.labels;
}

/**
 * A record of an object at hand, which its maker gives away: it gets its resourceVersion here and is not to
 * change any more. Revision 0 stands for "not stored" (a dry run's creation): such an object names none.
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

/** The object before and after; both carry the change's revision. */
interface ChangeRecords<T extends KubeObject = KubeObject> {
  current?: ObjectRecord<T>;
  previous?: ObjectRecord<T>;
}

/** Keyed by the change, which the store shares among its watches: so it is decoded and spliced once for all. */
const RECORDS = new WeakMap<Change, ChangeRecords>();

/** The records of one change. The caller knows that its key belongs to objects of type `T`. */
export function recordsOf<T extends KubeObject>(change: Change): ChangeRecords<T> {
  const known = RECORDS.get(change);
  if (known) return known as ChangeRecords<T>;
  const { value, previous, revision } = change;
  const records: ChangeRecords<T> = {
    ...(value && { current: new StoredRecord<T>(value, revision) }),
    // A deleted object carries the revision of its deletion, else a resumed watch would repeat it.
    ...(previous && { previous: new StoredRecord<T>(previous.value, revision) }),
  };
  RECORDS.set(change, records);
  return records;
}
