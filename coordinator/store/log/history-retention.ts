/** How much of the history is kept on disk: what exceeds it goes, oldest first. */
import type { Change, Store } from '../store.js';

/**
 * A watch or a paged list that was interrupted reads this much to catch up: some 30,000 changes of Pods, which a fleet of
 * 10,000 hosts makes in half a minute of rollout, and elsewhere more than the five minutes after which history goes anyway.
 * Without it a busy five minutes grew the file by gigabytes, and a file of SQLite never shrinks by itself.
 */
export const MAX_HISTORY_BYTES = 64 * 1_048_576;

/** What a change takes beside the value before it: its key, twice, and the rows' own heads. */
const BYTES_A_CHANGE = 160;

/** Parts that history goes in: smaller ones would be a question to the disk for a handful of rows. */
const SEGMENTS = 16;

interface Segment {
  /** The last revision in it. */
  until: number;
  bytes: number;
}

/** Counts what history holds. It knows sizes and revisions, and deletes nothing. */
export class HistoryBudget {
  readonly #segments: Segment[] = [];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_HISTORY_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** A change is history now. In revision order. */
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

  /** The revision up to which history has to go, undefined while it is within bounds. Call `forget` when it goes. */
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

  /** History up to and including `revision` is gone; a part that it cuts counts until it is gone as a whole. */
  forget(revision: number): void {
    while (this.#segments[0] && this.#segments[0].until <= revision) {
      this.#bytes -= this.#segments.shift()?.bytes ?? 0;
    }
  }
}

/** Each run forgets what was history at the run before: a watch or a paged list has one period to catch up (as etcd's with kube-apiserver). */
export class Compaction {
  readonly #store: Store;
  #previous: number | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Answers the revision up to which history is gone, or undefined on the first run. */
  async run(): Promise<number | undefined> {
    const upTo = this.#previous;
    this.#previous = await this.#store.revision();
    if (upTo !== undefined) await this.#store.compact(upTo);
    return upTo;
  }
}
