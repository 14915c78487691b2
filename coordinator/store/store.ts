/**
 * The store: a revisioned key-value log. It knows keys, bytes and revisions, and no kind.
 * Its laws are test/laws/store-laws.ts, run against every implementation.
 */

/** A value at rest. `revision` is that of the write that made it. */
export interface StoredValue {
  readonly key: string;
  /** JSON text. It does not hold its own revision: etcd learns that only after the commit. */
  readonly value: Buffer;
  readonly revision: number;
}

export interface ListOptions {
  /** At most so many items; absent = all. */
  limit?: number;
  /** From an earlier page: start after this key, at that page's revision. */
  continue?: { afterKey: string; revision: number };
}

export interface StoredList {
  items: StoredValue[];
  /** The revision at which the list is true; all pages of one list name the same. */
  revision: number;
  /** Present when more items follow: how many. */
  remaining?: number;
}

/** One committed write. A deletion has no `value`; a creation has no `previous`. */
export interface Change {
  readonly key: string;
  readonly revision: number;
  readonly value?: Buffer;
  readonly previous?: StoredValue;
}

/** Changes in revision order, and the revision up to which the watch is now complete (also without changes). */
export interface WatchBatch {
  readonly changes: readonly Change[];
  readonly revision: number;
}

/** Ends with `Expired` when the reader is too slow or its revision was compacted, silently after `close()`. */
export interface StoreWatch extends AsyncIterable<WatchBatch> {
  close(): void;
}

/** Another key that must still be at its revision, or the write changes nothing. */
export interface Guard {
  key: string;
  revision: number;
}

/** One of several values that are created together. */
export interface NewValue {
  readonly key: string;
  readonly value: Buffer;
  readonly guard?: Guard;
}

export interface WriteCondition {
  /** The revision that the key must be at; absent = whatever it is at. */
  revision?: number;
  guard?: Guard;
}

/** An epoch that a backup was taken of. What happened in it after `revision` is not in this log. */
export interface PastEpoch {
  readonly epoch: string;
  readonly revision: number;
  /** When the backup was taken, ms since the epoch, by the clock of the coordinator that took it. */
  readonly takenAt: number;
}

export interface Store {
  /** The present value, or undefined. */
  get(key: string): Promise<StoredValue | undefined>;
  /** The revision of the write that created what this key has now; 0 = one of before this was kept, undefined = it has nothing. */
  createdAt(key: string): Promise<number | undefined>;
  /** Values whose key starts with `prefix`, in key order. Throws `Expired` for a page whose revision was compacted. */
  list(prefix: string, options?: ListOptions): Promise<StoredList>;
  /** Resolves with the new revision once it is durable. Throws `KeyExists`, `ValueTooLarge`, `RevisionMismatch` (guard). */
  create(key: string, value: Buffer, condition?: Pick<WriteCondition, 'guard'>): Promise<number>;
  /** Creates each as `create` would, for far less than one call a value. Answers of each what it was refused for; undefined = it is durable. */
  createAll(values: readonly NewValue[]): Promise<readonly unknown[]>;
  /** Throws `KeyMissing`, `RevisionMismatch`, `ValueTooLarge`. */
  update(key: string, value: Buffer, condition?: WriteCondition): Promise<number>;
  /** Resolves with the revision of the deletion. Throws `KeyMissing`, `RevisionMismatch`. */
  delete(key: string, condition?: WriteCondition): Promise<number>;
  /** Every change of keys under `prefix` after revision `after`, once, in order. The first read may throw `Expired`. */
  watch(prefix: string, options: { after: number }): StoreWatch;
  /** The revision of the last commit. */
  revision(): Promise<number>;
  /** Forgets history up to and including `revision`; present values stay. */
  compact(revision: number): Promise<void>;
  /** Random, made with the database, never changed: which fleet this is. */
  clusterUID(): string;
  /** The log since the database was made or last restored. */
  epoch(): string;
  /** The epochs that this log was restored from, oldest first; empty when it never was. */
  pastEpochs(): readonly PastEpoch[];
  /** True from a restore until `confirmRestore`: what is stored may be older than what runs. */
  isUnconfirmed(): boolean;
  /** A person has looked at what came back. Resolves when that is durable. */
  confirmRestore(): Promise<void>;
  /** Resolves when everything accepted is durable and the files are closed. */
  close(): Promise<void>;
}

/** 1.5 MiB, etcd's limit for a request. */
export const MAX_VALUE_BYTES = 1_572_864;

export class KeyExists extends Error {
  constructor(readonly key: string) {
    super(`key ${key} exists`);
  }
}

export class KeyMissing extends Error {
  constructor(readonly key: string) {
    super(`key ${key} is missing`);
  }
}

export class RevisionMismatch extends Error {
  constructor(readonly key: string) {
    super(`key ${key} is not at the expected revision`);
  }
}

/** The history asked for is gone, or the reader was too slow: list again. */
export class Expired extends Error {
  constructor(readonly revision: number) {
    super(`revision ${revision} is too old`);
  }
}

export class ValueTooLarge extends Error {
  constructor(
    readonly key: string,
    readonly bytes: number,
  ) {
    super(`value of ${key} has ${bytes} bytes, the limit is ${MAX_VALUE_BYTES}`);
  }
}
