/** The newest changes in memory. Watches and continued lists read them before the history on disk. */
import type { Change } from '../store.js';

export interface ChangeLogLimits {
  maxChanges: number;
  /** Limit for the values in the changes. */
  maxBytes: number;
}

/** When it exceeds a limit, the oldest quarter is dropped. */
export class ChangeLog {
  #changes: Change[] = [];
  #bytes = 0;
  #start: number;
  #end: number;
  readonly #limits: ChangeLogLimits;

  readonly #sizeOf: (change: Change) => number;

  /** `revision`: the last commit before the log begins. `sizeOf` returns the bytes of a change's values. */
  constructor(revision: number, limits: ChangeLogLimits, sizeOf = bytesOf) {
    this.#start = revision;
    this.#end = revision;
    this.#limits = limits;
    this.#sizeOf = sizeOf;
  }

  /** The log has every change after this revision. */
  get start(): number {
    return this.#start;
  }

  /** The revision of the newest change. */
  get end(): number {
    return this.#end;
  }

  append(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#changes.push(change);
      this.#bytes += this.#sizeOf(change);
      this.#end = change.revision;
    }
    while (this.#changes.length > this.#limits.maxChanges || this.#bytes > this.#limits.maxBytes) {
      this.#drop(Math.ceil(this.#changes.length / 4));
    }
  }

  /** Returns at most `limit` changes after `revision`, oldest first. Only valid if `revision >= start`. */
  after(revision: number, limit = Number.POSITIVE_INFINITY): readonly Change[] {
    const first = this.#indexAfter(revision);
    return this.#changes.slice(first, Math.min(first + limit, this.#changes.length));
  }

  /** Drops changes up to and including `revision`. */
  forget(revision: number): void {
    this.#drop(this.#indexAfter(revision));
    this.#start = Math.max(this.#start, Math.min(revision, this.#end));
  }

  #drop(count: number): void {
    const dropped = this.#changes.splice(0, count);
    for (const change of dropped) this.#bytes -= this.#sizeOf(change);
    this.#start = dropped.at(-1)?.revision ?? this.#start;
  }

  #indexAfter(revision: number): number {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function bytesOf(change: Change): number {
  return (change.value?.length ?? 0) + (change.previous?.value.length ?? 0);
}
