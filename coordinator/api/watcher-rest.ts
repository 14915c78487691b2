/**
 * On a busy fleet a hundred watchers would cost a hundred writes for each commit. One that has had several small batches in a
 * row rests between them, and what comes meanwhile goes out in one write; what comes after a pause goes out at once.
 */
import type { Clock } from '../../shared/process/clock.js';

/** How long a busy watcher rests; after twice as long without a batch it is not busy any more. */
const REST_MS = 20;
/** Batches in a row that go out as they come: a Pod that starts makes three or four. */
const AT_ONCE = 4;
/** One of so many events is worth a write of its own. */
const LARGE_BATCH = 50;

export class WatcherRest {
  readonly #clock: Clock;
  #lastAt = Number.NEGATIVE_INFINITY;
  #left = AT_ONCE;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call when a batch of so many events has been written; resolves when the next may be taken. */
  async after(events: number): Promise<void> {
    const now = this.#clock.monotonic();
    if (now - this.#lastAt > 2 * REST_MS) this.#left = AT_ONCE;
    this.#lastAt = now;
    if (events >= LARGE_BATCH) return;
    this.#left = Math.max(0, this.#left - 1);
    if (this.#left === 0) await new Promise<void>((resolve) => void this.#clock.after(REST_MS, resolve));
  }
}
