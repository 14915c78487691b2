/** Callers that wait for a revision. */
interface Waiter {
  revision: number;
  resolve(): void;
}

export class RevisionWaiters {
  /** Below every revision, because an empty store starts at revision 0. */
  #reached = -1;
  #waiters: Waiter[] = [];
  #closed = false;

  get reached(): number {
    return this.#reached;
  }

  /** Resolves when `revision` is reached, or after `close()`. */
  wait(revision: number): Promise<void> {
    if (this.#closed || revision <= this.#reached) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ revision, resolve }));
  }

  reach(revision: number): void {
    if (revision <= this.#reached) return;
    this.#reached = revision;
    this.#settle((waiter) => waiter.revision <= revision);
  }

  close(): void {
    this.#closed = true;
    this.#settle(() => true);
  }

  #settle(isDue: (waiter: Waiter) => boolean): void {
    const due = this.#waiters.filter(isDue);
    if (due.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => !isDue(waiter));
    for (const waiter of due) waiter.resolve();
  }
}
