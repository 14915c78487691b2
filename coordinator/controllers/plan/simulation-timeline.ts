/** Scheduled callbacks on a simulated clock. */
import sortedBTree from 'sorted-btree';

const BTree = sortedBTree.default;

/** Times are ms since the epoch. */
export class SimulationTimeline {
  #now: number;
  /** Callbacks of the same time run in the order in which they were added. */
  readonly #due = new BTree<number, (() => void)[]>();

  constructor(now: number) {
    this.#now = now;
  }

  get now(): number {
    return this.#now;
  }

  /** Time of the next callback, or undefined. */
  get next(): number | undefined {
    return this.#due.minKey();
  }

  after(delayMs: number, happen: () => void): void {
    const at = this.#now + Math.max(0, delayMs);
    const together = this.#due.get(at);
    if (together) together.push(happen);
    else this.#due.set(at, [happen]);
  }

  /** Runs all callbacks that are due by then. A past `time` runs only callbacks that are due now. */
  moveTo(time: number): void {
    for (let next = this.next; next !== undefined && next <= time; next = this.next) {
      this.#now = Math.max(this.#now, next);
      const together = this.#due.get(next) ?? [];
      this.#due.delete(next);
      for (const happen of together) happen();
    }
    this.#now = Math.max(this.#now, time);
  }
}
