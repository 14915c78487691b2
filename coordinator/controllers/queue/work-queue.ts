/** A queue of unique keys (client-go `util/workqueue`). */
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { WaitingKeys } from './waiting-keys.js';

interface Delayed {
  at: number;
  timer: Timer;
}

export interface QueueObserver {
  /** A key was added that was not waiting yet. */
  added(): void;
  /** A key was taken after waiting for `durationMs`. */
  waited(durationMs: number): void;
}

/**
 * Adding a waiting key has no effect. A key that is added while it is processed is queued again afterwards. Between
 * `take` and `done` a key has only one worker.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #observer: QueueObserver | undefined;
  readonly #waiting = new WaitingKeys();
  readonly #rankOf: (key: string) => number;
  /** By key: since when it is processed. */
  readonly #processing = new Map<string, number>();
  /** Keys that were added while being processed. */
  readonly #requeued = new Set<string>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #closed = false;

  /** Of waiting keys, those with the lowest rank are taken first. The rank counts when the key is added. */
  constructor(clock: Clock, observer?: QueueObserver, rankOf: (key: string) => number = () => 0) {
    this.#clock = clock;
    this.#rankOf = rankOf;
    this.#observer = observer;
  }

  /** Number of waiting keys, without delayed keys and keys in process. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Processing time so far of each key in process, in ms. */
  unfinished(): number[] {
    const now = this.#clock.monotonic();
    return [...this.#processing.values()].map((since) => now - since);
  }

  add(key: string): void {
    if (this.#closed || this.#waiting.has(key) || this.#requeued.has(key)) return;
    this.#observer?.added();
    if (this.#processing.has(key)) {
      this.#requeued.add(key);
      return;
    }
    const now = this.#clock.monotonic();
    const taker = this.#takers.shift();
    if (!taker) {
      this.#waiting.add(key, now, this.#rankOf(key));
      return;
    }
    this.#start(key, now);
    taker(key);
  }

  /** Adds the key after `delayMs`. Of several delays of one key, the shortest counts. */
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

  cancelDelay(key: string): void {
    this.#delayed.get(key)?.timer.cancel();
    this.#delayed.delete(key);
  }

  /** Resolves with the key of the lowest rank that waited longest, once there is one. Undefined once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const first = this.#waiting.take();
    if (!first) return new Promise((resolve) => this.#takers.push(resolve));
    this.#start(first.key, first.since);
    return Promise.resolve(first.key);
  }

  #start(key: string, waitingSince: number | undefined): void {
    const now = this.#clock.monotonic();
    this.#processing.set(key, now);
    this.#observer?.waited(now - (waitingSince ?? now));
  }

  done(key: string): void {
    this.#processing.delete(key);
    if (!this.#requeued.delete(key)) return;
    // It was counted when it was added, and its waiting time starts now.
    const taker = this.#takers.shift();
    if (taker) {
      this.#start(key, undefined);
      taker(key);
    } else if (!this.#closed) this.#waiting.add(key, this.#clock.monotonic(), this.#rankOf(key));
  }

  close(): void {
    this.#closed = true;
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
    this.#waiting.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }
}
