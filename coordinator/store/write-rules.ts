/** The conditions of a write, shared by all implementations of the store. */
import {
  type Guard,
  KeyExists,
  KeyMissing,
  MAX_VALUE_BYTES,
  RevisionMismatch,
  type StoredValue,
  ValueTooLarge,
} from './store.js';

/** A requested write. */
export type Write =
  | { readonly kind: 'create'; readonly key: string; readonly value: Buffer; readonly guard?: Guard }
  | {
      readonly kind: 'update';
      readonly key: string;
      readonly value: Buffer;
      readonly revision?: number;
      readonly guard?: Guard;
    }
  | { readonly kind: 'delete'; readonly key: string; readonly revision?: number; readonly guard?: Guard };

/** Throws if `write` is not allowed. `present` returns the value of a key. */
export function checkWrite(write: Write, present: (key: string) => StoredValue | undefined): void {
  if (write.kind !== 'delete' && write.value.length > MAX_VALUE_BYTES) {
    throw new ValueTooLarge(write.key, write.value.length);
  }
  const current = present(write.key);
  if (write.kind === 'create') {
    if (current) throw new KeyExists(write.key);
  } else {
    if (!current) throw new KeyMissing(write.key);
    if (write.revision !== undefined && write.revision !== current.revision) {
      throw new RevisionMismatch(write.key);
    }
  }
  if (write.guard && present(write.guard.key)?.revision !== write.guard.revision) {
    throw new RevisionMismatch(write.guard.key);
  }
}

/** Returns the value after a write, or undefined after a deletion. */
export function valueAfter(write: Write, revision: number): StoredValue | undefined {
  return write.kind === 'delete' ? undefined : { key: write.key, value: write.value, revision };
}
