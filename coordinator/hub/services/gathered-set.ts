/** Gathers items for a fixed time after the first, and then passes on each once. */
import type { Clock, Timer } from '../../../shared/process/time/clock.js';

export class GatheredSet<T> {
  readonly #clock: Clock;
  readonly #gatherMs: number;
  readonly #pass: (item: T) => void;
  #items = new Set<T>();
  #timer: Timer | undefined;

  constructor(clock: Clock, gatherMs: number, pass: (item: T) => void) {
    this.#clock = clock;
    this.#gatherMs = gatherMs;
    this.#pass = pass;
  }

  add(item: T): void {
    this.#items.add(item);
    this.#timer ??= this.#clock.after(this.#gatherMs, () => {
      this.#timer = undefined;
      const items = this.#items;
      this.#items = new Set();
      for (const each of items) this.#pass(each);
    });
  }

  delete(item: T): void {
    this.#items.delete(item);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
