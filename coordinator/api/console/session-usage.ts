/** The sessions of each user or owner, ordered by their last use. */

export class SessionUsage {
  /** Session ids by holder. A Set keeps the order of insertion, so the least recently used id is first. */
  readonly #idsOf = new Map<string, Set<string>>();

  /** Adds a session or marks it as just used. */
  use(holder: string, id: string): void {
    const ids = this.#idsOf.get(holder) ?? new Set();
    ids.delete(id);
    this.#idsOf.set(holder, ids.add(id));
  }

  delete(holder: string, id: string): void {
    const ids = this.#idsOf.get(holder);
    ids?.delete(id);
    if (ids?.size === 0) this.#idsOf.delete(holder);
  }

  countOf(holder: string): number {
    return this.#idsOf.get(holder)?.size ?? 0;
  }

  leastUsedOf(holder: string): string | undefined {
    const [first] = this.#idsOf.get(holder) ?? [];
    return first;
  }

  /** Returns the holder with the most sessions; of several, the one who signed in first. */
  holderWithMost(): string | undefined {
    let largest: string | undefined;
    for (const [holder, { size }] of this.#idsOf) {
      if (largest === undefined || size > this.countOf(largest)) largest = holder;
    }
    return largest;
  }
}
