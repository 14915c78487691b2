/** Keys to look at, each once at a time (client-go `util/workqueue`). */
import type { Clock, Timer } from '../../../shared/process/time/clock.js';

interface Delayed {
  at: number;
  timer: Timer;
}

/** Who counts what goes through a queue. */
export interface QueueObserver {
  /** A key was added that did not wait already. */
  added(): void;
  /** A key was taken after so long. */
  waited(durationMs: number): void;
}

/**
 * A key added while it waits is there once; added while it is processed, it comes again afterwards.
 * Between `take` and `done` nobody else gets the key.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #observer: QueueObserver | undefined;
  /** Since when. */
  readonly #waiting = new Map<string, number>();
  /** Goes through `#waiting` once for good: one from its beginning would pass the places of all keys taken before. */
  #oldest = this.#waiting.keys();
  /** Since when. */
  readonly #processing = new Map<string, number>();
  /** Added while being processed. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #closed = false;

  constructor(clock: Clock, observer?: QueueObserver) {
    this.#clock = clock;
    this.#observer = observer;
  }

  /** Keys that wait now, delayed ones and those in work not counted. */
  get size(): number {
    return this.#waiting.size;
  }

  /** How long keys have been worked on that are not done yet, ms. */
  unfinished(): number[] {
    const now = this.#clock.monotonic();
    return [...this.#processing.values()].map((since) => now - since);
  }

  add(key: string): void {
    if (this.#closed || this.#waiting.has(key) || this.#again.has(key)) return;
    this.#observer?.added();
    if (this.#processing.has(key)) {
      this.#again.add(key);
      return;
    }
    const now = this.#clock.monotonic();
    const taker = this.#takers.shift();
    if (!taker) {
      this.#waiting.set(key, now);
      return;
    }
    this.#begin(key, now);
    taker(key);
  }

  /** Adds the key after `delayMs`; of several delays of one key the soonest counts. */
  addAfter(key: string, delayMs: number): void {
    if (this.#closed) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const at = this.#clock.monotonic() + delayMs;
    const pending = this.#delayed.get(key);
    if (pending && pending.at <= at) return;
    pending?.timer.cancel();
    const timer = this.#clock.after(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, timer });
  }

  /** Forgets the key's delay, if it has one. */
  cancelDelay(key: string): void {
    this.#delayed.get(key)?.timer.cancel();
    this.#delayed.delete(key);
  }

  /** The key that waited longest, as soon as there is one; undefined once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const key = this.#first();
    if (key === undefined) return new Promise((resolve) => this.#takers.push(resolve));
    const since = this.#waiting.get(key);
    this.#waiting.delete(key);
    this.#begin(key, since);
    return Promise.resolve(key);
  }

  #begin(key: string, waitingSince: number | undefined): void {
    const now = this.#clock.monotonic();
    this.#processing.set(key, now);
    this.#observer?.waited(now - (waitingSince ?? now));
  }

  /** The key that waited longest. An iterator that has once ended stays at its end. */
  #first(): string | undefined {
    if (this.#waiting.size === 0) return undefined;
    const next = this.#oldest.next();
    if (!next.done) return next.value;
    this.#oldest = this.#waiting.keys();
    return this.#oldest.next().value;
  }

  /** Gives a taken key back. */
  done(key: string): void {
    this.#processing.delete(key);
    if (!this.#again.delete(key)) return;
    // It was counted when it was added, and waits from now on.
    const taker = this.#takers.shift();
    if (taker) {
      this.#begin(key, undefined);
      taker(key);
    } else if (!this.#closed) this.#waiting.set(key, this.#clock.monotonic());
  }

  close(): void {
    this.#closed = true;
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
    this.#waiting.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }
}
