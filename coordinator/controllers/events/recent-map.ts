/** A map that remembers only the entries set last: a bounded memory for limits and counts. */
export class RecentMap<Value> {
  readonly #entries = new Map<string, Value>();
  /** Goes through the entries once for good: one from their beginning would pass the places of all that went before. */
  readonly #oldest = this.#entries.keys();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#capacity) return;
    const oldest = this.#oldest.next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }
}
