/** What a measure yields, and how it is judged: plain data and pure functions. */

/** How the product may stand to the floor. `ratio` and `difference` are of pairs; `product` needs no floor. Lower is better. */
export type Goal =
  | { kind: 'ratio'; most: number }
  | { kind: 'difference'; most: number }
  | { kind: 'product'; most: number };

export type Section = 'real' | 'hollow' | 'links' | 'parts';

/** Floor and product by turns on the same machine at the same time: the nth of one belongs to the nth of the other. */
export interface Result {
  section: Section;
  /** Of the list of goals; absent: measured to be seen. */
  number?: string;
  name: string;
  /** Of all values: `ms`, `CPU ms`, `µs CPU`, `KB` … */
  unit: string;
  product: readonly number[];
  /** Empty where there is nothing that must be done. */
  floor: readonly number[];
  /** Docker Swarm at the same work, where it was asked for. */
  swarm?: readonly number[];
  goal?: Goal;
}

/** Medians; `ratio` and `difference` are medians over the pairs, so what slows both for a while cancels out. */
export interface Verdict {
  product: number;
  floor?: number;
  swarm?: number;
  ratio?: number;
  difference?: number;
  met?: boolean;
}

/** The middle value; NaN of none. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value below which a part `share` of the others lies; between two, their mean by distance. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? Number.NaN, sorted[Math.ceil(at)] ?? Number.NaN];
  return low + (high - low) * (at - Math.floor(at));
}

/** `slack` multiplies what the goal allows: 1.5 for a run that is only to see a slip by a factor. */
export function judge({ product, floor, swarm, goal }: Result, slack = 1): Verdict {
  const pairs = floor.flatMap((below, index) => {
    const above = product[index];
    return above === undefined ? [] : [{ above, below }];
  });
  const verdict: Verdict = {
    product: median(product),
    ...(swarm && { swarm: median(swarm) }),
    ...(pairs.length > 0 && {
      floor: median(floor),
      ratio: median(pairs.map(({ above, below }) => above / below)),
      difference: median(pairs.map(({ above, below }) => above - below)),
    }),
  };
  const reached = goal && verdict[goal.kind];
  return goal ? { ...verdict, met: reached !== undefined && reached <= goal.most * slack } : verdict;
}
