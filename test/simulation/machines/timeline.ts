/** Simulated time: a queue of what happens when. Between two happenings everything that needs no time runs to its end. */
import type { Timer } from '../../../shared/process/time/clock.js';

interface Happening {
  at: number;
  order: number;
  action: (() => void) | undefined;
}

/** A busy second of a handful of hosts has some thousands. */
const MOST_A_SECOND = 30_000;
/** Limit for reads of clocks between two happenings. A history with several coordinators has some hundreds. */
const MOST_READS = 100_000;

export class Timeline {
  /** A heap: the soonest first, of equal times the one that was planned first. */
  readonly #heap: Happening[] = [];
  #now = 0;
  #planned = 0;
  /** Happenings in the present second. */
  #second = { begun: 0, happenings: 0 };
  /** Reads of programs' clocks since the last happening. */
  #reads = 0;

  /** ms since the simulation began. */
  get now(): number {
    return this.#now;
  }

  after(delayMs: number, action: () => void): Timer {
    this.#planned += 1;
    const happening: Happening = { at: this.#now + Math.max(delayMs, 0), order: this.#planned, action };
    this.#push(happening);
    return {
      cancel: () => {
        happening.action = undefined;
      },
    };
  }

  /**
   * Returns `now` to a program. Throws in a program that never pauses, such as a controller that requeues a key at once.
   * Without the throw the event loop gets no next turn, and the simulation hangs.
   */
  readClock(): number {
    this.#reads += 1;
    if (this.#reads > MOST_READS) throw new Error('a program works without end and without a pause');
    return this.#now;
  }

  /** True if a program works without end and without a pause. */
  get isBusy(): boolean {
    return this.#second.happenings > MOST_A_SECOND || this.#reads > MOST_READS;
  }

  /** Lets everything happen that is due by then; stops early when `isOver` says so. */
  async until(endMs: number, isOver: () => boolean = () => false): Promise<void> {
    await settled();
    for (let next = this.#heap[0]; next && next.at <= endMs && !isOver(); next = this.#heap[0]) {
      if (this.isBusy) return;
      this.#pop();
      if (!next.action) continue;
      this.#now = next.at;
      this.#count();
      next.action();
      await settled();
    }
    if (!isOver()) this.#now = endMs;
  }

  #count(): void {
    this.#reads = 0;
    if (this.#now >= this.#second.begun + 1_000) this.#second = { begun: this.#now, happenings: 0 };
    this.#second.happenings += 1;
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let index = heap.push(happening) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfLater(parent, index)) return;
      index = parent;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    heap[0] = last;
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      const child = a && b && isSooner(b, a) ? left + 1 : left;
      if (!a || !this.#swapIfLater(index, child)) return;
      index = child;
    }
  }

  #swapIfLater(upper: number, lower: number): boolean {
    const [a, b] = [this.#heap[upper], this.#heap[lower]];
    if (!a || !b || !isSooner(b, a)) return false;
    this.#heap[upper] = b;
    this.#heap[lower] = a;
    return true;
  }
}

function isSooner(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Resolves when no promise has anything left to do: a turn of the event loop begins only then. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
