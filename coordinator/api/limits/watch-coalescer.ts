/**
 * Coalesces the writes of watches. On a busy fleet, 100 watchers would cost 100 socket writes per commit. All watchers
 * together may make 40 small writes in 20 ms. A watcher that exceeds this waits 20 ms, and its events of that time are
 * sent in one write. A few watchers never wait.
 */
import type { Clock } from '../../../shared/process/time/clock.js';

/** Pause of a watcher, and the interval in which writes are counted. */
const INTERVAL_MS = 20;
/** About 5 µs each, so they take 1 % of the interval. */
const MAX_SMALL_WRITES = 40;
/** A batch of this size is worth its own write. */
const LARGE_BATCH = 50;

export class WatchCoalescer {
  readonly #clock: Clock;
  #intervalStart = Number.NEGATIVE_INFINITY;
  #written = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call it after a batch of `events` was written. Resolves when the watcher may take its next batch. */
  async afterWrite(events: number): Promise<void> {
    if (events >= LARGE_BATCH) return;
    const now = this.#clock.monotonic();
    if (now - this.#intervalStart >= INTERVAL_MS) {
      this.#intervalStart = now;
      this.#written = 0;
    }
    this.#written++;
    if (this.#written <= MAX_SMALL_WRITES) return;
    await new Promise<void>((resolve) => void this.#clock.after(INTERVAL_MS, resolve));
  }
}
