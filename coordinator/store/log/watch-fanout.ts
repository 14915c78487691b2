/**
 * Many watchers on one log. A watcher is a position without a buffer. A watcher whose position was dropped from the log
 * gets `Expired` and must list again.
 */
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { type Change, Expired, type StoreWatch, type WatchBatch } from '../store.js';
import type { ChangeLog } from './change-log.js';

/** Changes in one batch, so that one reader does not block the event loop. */
const MAX_BATCH = 1_000;

interface FanoutOptions {
  clock: Clock;
  /** Interval of progress reports to watchers without changes. */
  progressMs: number;
  /** Returns changes from before the log's start, oldest first. Throws `Expired` if they were compacted. */
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

  /** Call after `changes` were appended to the log. */
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
  /** The last position that the reader received. */
  #reported: number;
  /** True once the watcher has read from the log. If its position is dropped afterwards, the reader was too slow. */
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

  /** Wakes a waiting reader if a change matches its prefix; otherwise only advances the position. */
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

  /** Returns the next changes under the prefix and advances the position past all changes read. */
  async #read(): Promise<readonly Change[]> {
    const { start } = this.log;
    const fromLog = this.#position >= start;
    if (!fromLog && (this.#live || !this.readHistory)) throw new Expired(this.#position);
    const seen = fromLog
      ? this.log.after(this.#position, MAX_BATCH)
      : ((await this.readHistory?.(this.#position, MAX_BATCH)) ?? []);
    this.#live ||= fromLog;
    // An empty history before the log's start means that there is no change in between.
    this.#position = Math.max(this.#position, seen.at(-1)?.revision ?? start);
    return seen.filter((change) => change.key.startsWith(this.prefix));
  }
}
