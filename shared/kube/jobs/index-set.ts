/** Sets of completion indexes in the text form of `status.completedIndexes`: `1,3-5,7`. */

/** Returns the text of these indexes, in any order. */
export function indexText(indexes: Iterable<number>): string {
  const sorted = [...new Set(indexes)].sort((a, b) => a - b);
  const spans: [first: number, last: number][] = [];
  for (const index of sorted) {
    const span = spans.at(-1);
    if (span && span[1] === index - 1) span[1] = index;
    else spans.push([index, index]);
  }
  return spans.map(textOfSpan).join(',');
}

function textOfSpan([first, last]: [number, number]): string {
  if (first === last) return String(first);
  // Upstream writes two neighbours as `3,4` and longer spans as `3-5`.
  return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
}

/** Returns the indexes of a text below `completions`. Ignores what is not an index. */
export function indexesOf(text: string | undefined, completions: number): Set<number> {
  const found = new Set<number>();
  for (const span of (text ?? '').split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(span);
    if (!match) continue;
    const last = Math.min(Number(match[2] ?? match[1]), completions - 1);
    for (let index = Number(match[1]); index <= last; index += 1) found.add(index);
  }
  return found;
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
