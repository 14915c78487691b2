/**
 * A queue that serves its groups in turn (round robin). A group with a thousand items delays another group by one item.
 */
export class FairQueue<T> {
  /** Items by group. The group that is served next is first. */
  readonly #groups = new Map<string, Set<T>>();

  add(group: string, item: T): void {
    const items = this.#groups.get(group) ?? new Set();
    this.#groups.set(group, items.add(item));
  }

  /** Does nothing if the item is not queued. */
  delete(group: string, item: T): void {
    const items = this.#groups.get(group);
    items?.delete(item);
    if (items?.size === 0) this.#groups.delete(group);
  }

  /** Returns the number of items of a group. */
  sizeOf(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  /** Removes and returns the oldest item of the next group; undefined if the queue is empty. */
  take(): T | undefined {
    const [next] = this.#groups;
    if (!next) return undefined;
    const [group, items] = next;
    const [item] = items;
    this.#groups.delete(group);
    if (item !== undefined) items.delete(item);
    if (items.size > 0) this.#groups.set(group, items);
    return item;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const items of this.#groups.values()) yield* items;
  }
}
