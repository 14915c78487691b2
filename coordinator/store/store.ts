/**
 * The store: a revisioned key-value log. It handles keys, bytes and revisions, but no kinds. test/laws/store-laws.ts
 * specifies it for every implementation.
 */

/** A stored value. `revision` is the revision of the write that stored it. */
export interface StoredValue {
  readonly key: string;
  /** JSON text without resourceVersion, because the revision is only assigned by the commit. */
  readonly value: Buffer;
  readonly revision: number;
}

export interface ListOptions {
  /** Maximum number of items; absent = all. */
  limit?: number;
  /** Continues an earlier page: starts after this key, at that page's revision. */
  continue?: { afterKey: string; revision: number };
}

export interface StoredList {
  items: StoredValue[];
  /** The revision of the list. All pages of a list have the same one. */
  revision: number;
  /** The number of further items, if any. */
  remaining?: number;
}

/** A committed write. A deletion has no `value`; a creation has no `previous`. */
export interface Change {
  readonly key: string;
  readonly revision: number;
  readonly value?: Buffer;
  readonly previous?: StoredValue;
}

/** Changes in revision order. All changes up to `revision` have been reported, also if the batch is empty. */
export interface WatchBatch {
  readonly changes: readonly Change[];
  readonly revision: number;
}

/** Throws `Expired` if the reader is too slow or its revision was compacted. Ends without an error after `close()`. */
export interface StoreWatch extends AsyncIterable<WatchBatch> {
  close(): void;
}

/** Another key that must still have this revision; otherwise the write changes nothing. */
export interface Guard {
  key: string;
  revision: number;
}

export interface WriteCondition {
  /** The expected revision of the key; absent = any. */
  revision?: number;
  guard?: Guard;
}

/** An epoch from which a backup was restored. This log lacks its changes after `revision`. */
export interface PastEpoch {
  readonly epoch: string;
  readonly revision: number;
  /** Time of the backup, ms since the epoch, by the clock of the coordinator that took it. */
  readonly takenAt: number;
}

export interface Store {
  /** Returns the present value, or undefined. */
  get(key: string): Promise<StoredValue | undefined>;
  /** Returns the revision of the write that created the present value, or undefined if there is none. */
  createdAt(key: string): Promise<number | undefined>;
  /** Returns values with this prefix in key order. Throws `Expired` for a page with a compacted revision. */
  list(prefix: string, options?: ListOptions): Promise<StoredList>;
  /**
   * Resolves with the new revision when it is durable. Throws `KeyExists`, `ValueTooLarge`, `RevisionMismatch` (guard).
   */
  create(key: string, value: Buffer, condition?: Pick<WriteCondition, 'guard'>): Promise<number>;
  /** Throws `KeyMissing`, `RevisionMismatch`, `ValueTooLarge`. */
  update(key: string, value: Buffer, condition?: WriteCondition): Promise<number>;
  /** Resolves with the revision of the deletion. Throws `KeyMissing`, `RevisionMismatch`. */
  delete(key: string, condition?: WriteCondition): Promise<number>;
  /** Returns every change under `prefix` after revision `after`, once, in order. The first read may throw `Expired`. */
  watch(prefix: string, options: { after: number }): StoreWatch;
  /** Returns the revision of the last commit. */
  revision(): Promise<number>;
  /** Deletes history up to and including `revision`. Present values stay. */
  compact(revision: number): Promise<void>;
  /** The random identity of the fleet. It never changes. */
  clusterUID(): string;
  /** Names the log since the database was created or last restored. */
  epoch(): string;
  /** The epochs from which this log was restored, oldest first. */
  pastEpochs(): readonly PastEpoch[];
  /** True from a restore until `confirmRestore`: stored objects may be older than running Pods. */
  isUnconfirmed(): boolean;
  /** An operator has reviewed the restored state. Resolves when that is durable. */
  confirmRestore(): Promise<void>;
  /** Resolves when all accepted writes are durable and the files are closed. */
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

/** The requested history was compacted, or the reader was too slow: list again. */
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
