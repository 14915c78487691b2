/** Keys with deadlines in ms since the epoch, with fast access to the earliest one. */
import sortedBTree from 'sorted-btree';

const BTree = sortedBTree.default;

export class DeadlineQueue {
  readonly #byTime = new BTree<number, Set<string>>();
  readonly #byName = new Map<string, number>();

  /** Replaces the deadline of `name`; undefined removes it. */
  set(name: string, at: number | undefined): void {
    const before = this.#byName.get(name);
    if (before === at) return;
    if (before !== undefined) this.#remove(name, before);
    if (at === undefined) return;
    this.#byName.set(name, at);
    const together = this.#byTime.get(at);
    if (together) together.add(name);
    else this.#byTime.set(at, new Set([name]));
  }

  get next(): number | undefined {
    return this.#byTime.minKey();
  }

  /** Removes and returns all names that are due at `now`, earliest first. */
  takeDue(now: number): string[] {
    const due: string[] = [];
    for (let at = this.next; at !== undefined && at <= now; at = this.next) {
      for (const name of [...(this.#byTime.get(at) ?? [])]) {
        this.#remove(name, at);
        due.push(name);
      }
    }
    return due;
  }

  #remove(name: string, at: number): void {
    this.#byName.delete(name);
    const together = this.#byTime.get(at);
    together?.delete(name);
    if (together?.size === 0) this.#byTime.delete(at);
  }
}
