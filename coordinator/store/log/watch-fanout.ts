/**
 * One log, many watchers. A watcher is a position in the log and no buffer: whoever falls so far behind
 * that the log has dropped what he lacks, gets `Expired` and lists again.
 */
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { type Change, Expired, type StoreWatch, type WatchBatch } from '../store.js';
import type { ChangeLog } from './change-log.js';

/** Changes handed over at once, so that one reader does not hold the event loop. */
const MAX_BATCH = 1_000;

interface FanoutOptions {
  clock: Clock;
  /** A watcher without changes of its own hears this often how far the log is. */
  progressMs: number;
  /** Changes after a revision from before the log's start, oldest first and without gaps; `Expired` when compacted. */
  readHistory?(after: number, limit: number): Promise<readonly Change[]>;
}

export class WatchFanout {
  readonly #log: ChangeLog;
  readonly #options: FanoutOptions;
  readonly #watchers = new Set<Watcher>();
  #progress: Timer | undefined;

  constructor(log: ChangeLog, options: FanoutOptions) {
    this.#log = log;
    this.#options = options;
  }

  watch(prefix: string, after: number): StoreWatch {
    const watcher = new Watcher(prefix, after, this.#log, this.#options.readHistory, (closed) =>
      this.#watchers.delete(closed),
    );
    this.#watchers.add(watcher);
    return watcher;
  }

  /** Says that `changes` have been appended to the log. */
  publish(changes: readonly Change[]): void {
    for (const watcher of this.#watchers) watcher.offer(changes);
    if (this.#watchers.size === 0 || this.#progress) return;
    this.#progress = this.#options.clock.after(this.#options.progressMs, () => {
      this.#progress = undefined;
      for (const watcher of this.#watchers) watcher.reportProgress();
    });
  }

  close(): void {
    this.#progress?.cancel();
    for (const watcher of this.#watchers) watcher.close();
  }
}

class Watcher implements StoreWatch {
  #position: number;
  /** The last position its reader heard of. */
  #reported: number;
  /** Set once the log itself has been read: from then on, falling out of the log is the reader's slowness. */
  #live = false;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(
    private readonly prefix: string,
    after: number,
    private readonly log: ChangeLog,
    private readonly readHistory: FanoutOptions['readHistory'],
    private readonly onClose: (watcher: Watcher) => void,
  ) {
    this.#position = after;
    this.#reported = after;
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchBatch> {
    return this.#batches();
  }

  close(): void {
    this.#closed = true;
    this.onClose(this);
    this.#wake?.();
  }

  /** Wakes a waiting reader if one of the new changes is his; else only moves his position. */
  offer(changes: readonly Change[]): void {
    if (!this.#wake) return;
    if (changes.some((change) => change.key.startsWith(this.prefix))) this.#wake();
    else this.#position = Math.max(this.#position, this.log.end);
  }

  reportProgress(): void {
    if (this.#reported < this.#position) this.#wake?.();
  }

  async *#batches(): AsyncGenerator<WatchBatch, void> {
    try {
      while (!this.#closed) {
        const changes = await this.#read();
        if (this.#closed) return;
        if (changes.length > 0 || this.#reported < this.#position) {
          this.#reported = this.#position;
          yield { changes, revision: this.#position };
        } else if (this.#position >= this.log.end) {
          await this.#sleep();
        }
      }
    } finally {
      this.close();
    }
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  /** The next changes under the prefix; moves the position past what was looked at. */
  async #read(): Promise<readonly Change[]> {
    const { start } = this.log;
    const fromLog = this.#position >= start;
    if (!fromLog && (this.#live || !this.readHistory)) throw new Expired(this.#position);
    const seen = fromLog
      ? this.log.after(this.#position, MAX_BATCH)
      : ((await this.readHistory?.(this.#position, MAX_BATCH)) ?? []);
    this.#live ||= fromLog;
    // No history before the log's start means that no change lies between.
    this.#position = Math.max(this.#position, seen.at(-1)?.revision ?? start);
    return seen.filter((change) => change.key.startsWith(this.prefix));
  }
}
