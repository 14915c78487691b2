/** Sets of completion indexes, as intervals. The text form is that of `status.completedIndexes`: `1,3-5,7`. */

/** Both ends belong to the span. */
type Span = [first: number, last: number];

/**
 * A set of indexes. Its memory and its operations depend on the number of intervals: a Job may have 2,147,483,647
 * completions, and its author writes them as one interval.
 */
export class IndexSet {
  /** Ascending, with a gap between two spans. */
  readonly #spans: Span[] = [];

  private constructor(spans: Span[]) {
    for (const [first, last] of spans.sort((a, b) => a[0] - b[0])) {
      const previous = this.#spans.at(-1);
      if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
      else this.#spans.push([first, last]);
    }
  }

  static of(indexes: Iterable<number>): IndexSet {
    return new IndexSet([...indexes].map((index) => [index, index]));
  }

  /** Reads the indexes of a text below `completions`. Ignores fragments that are not an index or an interval. */
  static parse(text: string | undefined, completions: number): IndexSet {
    const spans: Span[] = [];
    for (const fragment of (text ?? '').split(',')) {
      const match = /^(\d+)(?:-(\d+))?$/.exec(fragment);
      if (!match) continue;
      const first = Number(match[1]);
      const last = Math.min(Number(match[2] ?? first), completions - 1);
      if (first <= last) spans.push([first, last]);
    }
    return new IndexSet(spans);
  }

  static union(...sets: IndexSet[]): IndexSet {
    return new IndexSet(sets.flatMap((set) => set.#spans));
  }

  get size(): number {
    return this.#spans.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  has(index: number): boolean {
    const span = this.#spans[this.#firstEndingAt(index)];
    return span !== undefined && span[0] <= index;
  }

  add(index: number): void {
    // The first span that contains the index or starts after it, or ends right before it.
    const at = this.#firstEndingAt(index - 1);
    const [span, following] = [this.#spans[at], this.#spans[at + 1]];
    if (!span || span[0] > index + 1) {
      this.#spans.splice(at, 0, [index, index]);
      return;
    }
    span[0] = Math.min(span[0], index);
    span[1] = Math.max(span[1], index);
    if (following?.[0] !== span[1] + 1) return;
    span[1] = following[1];
    this.#spans.splice(at + 1, 1);
  }

  /** Returns the indexes that both sets contain. */
  intersection(other: IndexSet): IndexSet {
    const shared: Span[] = [];
    for (let mine = 0, its = 0; ; ) {
      const [a, b] = [this.#spans[mine], other.#spans[its]];
      if (!a || !b) return new IndexSet(shared);
      const [first, last] = [Math.max(a[0], b[0]), Math.min(a[1], b[1])];
      if (first <= last) shared.push([first, last]);
      if (a[1] < b[1]) mine += 1;
      else its += 1;
    }
  }

  /** Iterates the indexes of the set, ascending. The caller stops early if the set may be large. */
  *[Symbol.iterator](): Generator<number> {
    for (const [first, last] of this.#spans) for (let index = first; index <= last; index += 1) yield index;
  }

  /** Iterates the indexes below `end` that the set does not contain, ascending. */
  *missingBelow(end: number): Generator<number> {
    let index = 0;
    for (const [first, last] of this.#spans) {
      for (; index < Math.min(first, end); index += 1) yield index;
      index = last + 1;
    }
    for (; index < end; index += 1) yield index;
  }

  toString(): string {
    return this.#spans.map(textOfSpan).join(',');
  }

  /** Returns the position of the first span that ends at or above `index`. */
  #firstEndingAt(index: number): number {
    let [low, high] = [0, this.#spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#spans[middle]?.[1] ?? 0) < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function textOfSpan([first, last]: Span): string {
  if (first === last) return String(first);
  // Upstream writes two neighbours as `3,4` and longer spans as `3-5`.
  return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
}

/** Returns the number of indexes, or what is wrong with the text (pkg/apis/batch/validation validateIndexesFormat). */
export function parseIndexes(text: string, completions: number): { total: number } | { problem: string } {
  if (text === '') return { total: 0 };
  let total = 0;
  let previous = -1;
  for (const span of text.split(',')) {
    const bounds = span.split('-');
    if (bounds.length > 2)
      return {
        problem: `the fragment "${span}" violates the requirement that an index interval can have at most two parts separated by '-'`,
      };
    const numbers = bounds.map((bound) => (/^[+-]?\d+$/.test(bound) ? Number(bound) : undefined));
    for (const [at, bound] of bounds.entries()) {
      const value = numbers[at];
      if (value === undefined) return { problem: `cannot convert string to integer for index: "${bound}"` };
      if (value >= completions) return { problem: `too large index: "${bound}"` };
    }
    const [first = 0, last = first] = numbers;
    if (previous >= first)
      return { problem: `non-increasing order, previous: ${previous}, current: ${first}` };
    if (bounds.length > 1 && first >= (last ?? first))
      return { problem: `non-increasing order, previous: ${first}, current: ${last}` };
    total += (last ?? first) - first + 1;
    previous = last ?? first;
  }
  return { total };
}
