/** The waiting keys of a queue: the lowest rank first, and the oldest first among equal ranks. */

/** Keys of one rank, with the time since when each waits. */
class RankedKeys {
  readonly keys = new Map<string, number>();
  /** One iterator for all calls. A new one per call would skip all deleted entries, which is slow. */
  #oldest = this.keys.keys();

  /** Removes and returns the oldest key. There must be one. An exhausted iterator is replaced. */
  shift(): string {
    let next = this.#oldest.next();
    if (next.done) {
      this.#oldest = this.keys.keys();
      next = this.#oldest.next();
    }
    return next.value as string;
  }
}

export class WaitingKeys {
  /** Sorted by rank. There are few ranks, for example one for each PriorityClass. */
  #ranks: { rank: number; waiting: RankedKeys }[] = [];
  readonly #present = new Set<string>();

  get size(): number {
    return this.#present.size;
  }

  has(key: string): boolean {
    return this.#present.has(key);
  }

  /** `since`: the time from which the key waits. */
  add(key: string, since: number, rank: number): void {
    this.#present.add(key);
    this.#at(rank).keys.set(key, since);
  }

  #at(rank: number): RankedKeys {
    const index = this.#ranks.findIndex((each) => each.rank >= rank);
    const found = this.#ranks[index];
    if (found?.rank === rank) return found.waiting;
    const waiting = new RankedKeys();
    this.#ranks.splice(index < 0 ? this.#ranks.length : index, 0, { rank, waiting });
    return waiting;
  }

  /** Removes and returns the first key, or returns undefined if none waits. */
  take(): { key: string; since: number | undefined } | undefined {
    const first = this.#ranks.find(({ waiting }) => waiting.keys.size > 0);
    if (!first) return undefined;
    const { keys } = first.waiting;
    const key = first.waiting.shift();
    const since = keys.get(key);
    keys.delete(key);
    this.#present.delete(key);
    // Rank 0, the only rank of most queues, stays: its iterator must survive.
    if (keys.size === 0 && first.rank !== 0) this.#ranks = this.#ranks.filter((each) => each !== first);
    return { key, since };
  }

  clear(): void {
    this.#ranks = [];
    this.#present.clear();
  }
}
