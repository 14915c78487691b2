/** For how long something has been so. */

export class DurationTracker<K> {
  readonly #since = new Map<K, number>();
  /** When it last ended. */
  readonly #until = new Map<K, number>();

  /** It is so now, or not. */
  note(key: K, isSo: boolean, nowMs: number): void {
    if (isSo) {
      if (!this.#since.has(key)) this.#since.set(key, nowMs);
    } else if (this.#since.delete(key)) this.#until.set(key, nowMs);
  }

  /** It is so, and was so during all of the last `ms`. */
  isFor(key: K, ms: number, nowMs: number): boolean {
    return (this.#since.get(key) ?? Number.POSITIVE_INFINITY) <= nowMs - ms;
  }

  /** It is so, or was so some time within the last `ms`. */
  isWithin(key: K, ms: number, nowMs: number): boolean {
    return this.#since.has(key) || (this.#until.get(key) ?? Number.NEGATIVE_INFINITY) >= nowMs - ms;
  }
}
