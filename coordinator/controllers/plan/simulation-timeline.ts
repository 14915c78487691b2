/** What is to happen when, on a time that only moves when it is told to. */
import sortedBTree from 'sorted-btree';

const BTree = sortedBTree.default;

/** Times are ms since the epoch. */
export class SimulationTimeline {
  #now: number;
  /** Things of one moment happen in the order in which they were put there. */
  readonly #due = new BTree<number, (() => void)[]>();

  constructor(now: number) {
    this.#now = now;
  }

  get now(): number {
    return this.#now;
  }

  /** When the next thing happens; undefined when nothing is left. */
  get next(): number | undefined {
    return this.#due.minKey();
  }

  after(delayMs: number, happen: () => void): void {
    const at = this.#now + Math.max(0, delayMs);
    const together = this.#due.get(at);
    if (together) together.push(happen);
    else this.#due.set(at, [happen]);
  }

  /** Moves to `time`, unless that is past, and lets happen all that is due by then. */
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
