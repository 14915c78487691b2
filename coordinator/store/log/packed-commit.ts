/** A commit for the worker thread, in a few flat values: copying many small objects costs more than storing them. */
import type { Change } from '../store.js';

/** The writes have consecutive revisions from `firstRevision` on. */
export interface PackedCommit {
  firstRevision: number;
  /** All keys, concatenated. */
  keys: string;
  /** Length of each key in UTF-16 units. */
  keyLengths: Uint32Array<ArrayBuffer>;
  /** Length of each value in bytes; DELETION = no value. */
  valueLengths: Int32Array<ArrayBuffer>;
  /** 1 = the key has no previous value. */
  creations: Uint8Array<ArrayBuffer>;
  values: Uint8Array<ArrayBuffer>;
}

interface PackedWrite {
  key: string;
  revision: number;
  isNew: boolean;
  /** Absent = deletion. A view that is valid as long as the commit. */
  value?: Buffer;
}

const DELETION = -1;

/** Packs changes in revision order without gaps. */
export function packCommit(changes: readonly Change[]): PackedCommit {
  const valueLengths = Int32Array.from(changes, ({ value }) => value?.length ?? DELETION);
  const values = new Uint8Array(valueLengths.reduce((sum, length) => sum + Math.max(length, 0), 0));
  let offset = 0;
  for (const { value } of changes) {
    if (!value) continue;
    values.set(value, offset);
    offset += value.length;
  }
  return {
    firstRevision: changes[0]?.revision ?? 0,
    keys: changes.map(({ key }) => key).join(''),
    keyLengths: Uint32Array.from(changes, ({ key }) => key.length),
    valueLengths,
    creations: Uint8Array.from(changes, ({ previous }) => (previous ? 0 : 1)),
    values,
  };
}

/** Yields the writes of a commit in order. */
export function* unpackCommit(commit: PackedCommit): Generator<PackedWrite> {
  const bytes = Buffer.from(commit.values.buffer);
  let keyAt = 0;
  let valueAt = 0;
  for (const [index, keyLength] of commit.keyLengths.entries()) {
    const key = commit.keys.slice(keyAt, keyAt + keyLength);
    const length = commit.valueLengths[index] ?? DELETION;
    const value = length === DELETION ? undefined : bytes.subarray(valueAt, valueAt + length);
    yield {
      key,
      revision: commit.firstRevision + index,
      isNew: commit.creations[index] === 1,
      ...(value && { value }),
    };
    keyAt += keyLength;
    valueAt += value?.length ?? 0;
  }
}
