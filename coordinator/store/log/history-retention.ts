/** Limits of the history on disk: by size, and by age in compaction runs. The oldest history is deleted first. */
import type { Change, Store } from '../store.js';

/**
 * An interrupted watch or paged list reads this history to catch up. 64 MiB are about 30,000 Pod changes: half a minute
 * of a rollout on 10,000 hosts. Without the limit, five busy minutes would grow the file by gigabytes, and SQLite files
 * do not shrink.
 */
export const MAX_HISTORY_BYTES = 64 * 1_048_576;

/** Size of a change without its previous value: the key twice, and row overhead. */
const BYTES_A_CHANGE = 160;

/** History is deleted in segments, so that a deletion is worth a disk access. */
const SEGMENTS = 16;

interface Segment {
  /** The last revision in the segment. */
  until: number;
  bytes: number;
}

/** Tracks the size of history by revision. The caller deletes. */
export class HistoryBudget {
  readonly #segments: Segment[] = [];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_HISTORY_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Counts a change. Call it in revision order. */
  add(revision: number, previousBytes: number): void {
    const bytes = previousBytes + BYTES_A_CHANGE;
    const newest = this.#segments.at(-1);
    if (newest && newest.bytes < this.#maxBytes / SEGMENTS) {
      newest.until = revision;
      newest.bytes += bytes;
    } else {
      this.#segments.push({ until: revision, bytes });
    }
    this.#bytes += bytes;
  }

  addAll(changes: readonly Change[]): void {
    for (const { revision, previous } of changes) this.add(revision, previous?.value.length ?? 0);
  }

  /**
   * Returns the revision up to which history must be deleted, or undefined within the limit. Call `forget` afterwards.
   */
  get excess(): number | undefined {
    let bytes = this.#bytes;
    let upTo: number | undefined;
    for (const segment of this.#segments) {
      if (bytes <= this.#maxBytes) break;
      bytes -= segment.bytes;
      upTo = segment.until;
    }
    return upTo;
  }

  /** Call after history up to and including `revision` was deleted. A partly deleted segment still counts in full. */
  forget(revision: number): void {
    while (this.#segments[0] && this.#segments[0].until <= revision) {
      this.#bytes -= this.#segments.shift()?.bytes ?? 0;
    }
  }
}

/** Each run deletes the history of the run before last, so that watches get one period to catch up, like in etcd. */
export class Compaction {
  readonly #store: Store;
  #previous: number | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns the revision up to which history was deleted, or undefined on the first run. */
  async run(): Promise<number | undefined> {
    const upTo = this.#previous;
    this.#previous = await this.#store.revision();
    if (upTo !== undefined) await this.#store.compact(upTo);
    return upTo;
  }
}
