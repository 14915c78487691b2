/** Lines within lines: at each level whoever is next stands behind all the others of that level afterwards. */

export class FairQueue<T> {
  readonly #lines = new Map<string, FairQueue<T>>();
  readonly #here = new Set<T>();

  get isEmpty(): boolean {
    return this.#lines.size === 0 && this.#here.size === 0;
  }

  /** `path` names the line at each level, the outermost first. */
  add([name, ...rest]: readonly string[], item: T): void {
    if (name === undefined) {
      this.#here.add(item);
      return;
    }
    const line = this.#lines.get(name) ?? new FairQueue<T>();
    this.#lines.set(name, line);
    line.add(rest, item);
  }

  /** Takes one out of its line, wherever it stands there; one that is not there changes nothing. */
  delete([name, ...rest]: readonly string[], item: T): void {
    if (name === undefined) {
      this.#here.delete(item);
      return;
    }
    const line = this.#lines.get(name);
    line?.delete(rest, item);
    if (line?.isEmpty) this.#lines.delete(name);
  }

  /** Takes out whose turn it is; undefined when nobody waits. */
  take(): T | undefined {
    const [next] = this.#lines;
    if (!next) {
      const [item] = this.#here;
      if (item !== undefined) this.#here.delete(item);
      return item;
    }
    const [name, line] = next;
    const item = line.take();
    this.#lines.delete(name);
    if (!line.isEmpty) this.#lines.set(name, line);
    return item;
  }

  /** All who wait, in no order. */
  *[Symbol.iterator](): Generator<T> {
    yield* this.#here;
    for (const line of this.#lines.values()) yield* line;
  }
}
