/**
 * On a busy fleet a hundred watchers would cost a hundred writes for each commit. Together they get so many small writes
 * in a moment; whoever makes one more rests, and what comes meanwhile goes out in one write. A few watchers never rest,
 * however much happens.
 */
import type { Clock } from '../../../shared/process/time/clock.js';

/** How long a watcher rests, and the moment in which writes are counted. */
const REST_MS = 20;
/** Some 5 µs each: as many take a hundredth of the moment. */
const AT_ONCE = 40;
/** One of so many events is worth a write of its own. */
const LARGE_BATCH = 50;

/** One for all watchers of a server. */
export class WatchCoalescer {
  readonly #clock: Clock;
  #momentSince = Number.NEGATIVE_INFINITY;
  #written = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call when a batch of so many events has been written; resolves when that watcher may take its next. */
  async afterWrite(events: number): Promise<void> {
    if (events >= LARGE_BATCH) return;
    const now = this.#clock.monotonic();
    if (now - this.#momentSince >= REST_MS) {
      this.#momentSince = now;
      this.#written = 0;
    }
    this.#written++;
    if (this.#written <= AT_ONCE) return;
    await new Promise<void>((resolve) => void this.#clock.after(REST_MS, resolve));
  }
}
