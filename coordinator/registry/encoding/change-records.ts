/** The records of a change in the store, made once for all who watch it. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Change } from '../../store/store.js';
import type { ObjectRecord } from '../registry.js';
import { StoredRecord } from './object-record.js';

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
