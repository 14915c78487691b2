/** Results of measurements and their verdicts: plain data and pure functions. */

/**
 * The allowed relation of the product to the floor. `ratio` and `difference` apply to pairs; `product` needs no floor.
 * Lower is better.
 */
export type Goal =
  | { kind: 'ratio'; most: number }
  | { kind: 'difference'; most: number }
  | { kind: 'product'; most: number };

export type Section = 'real' | 'hollow' | 'values' | 'jobs' | 'links' | 'parts' | 'failover' | 'stages';

/** Floor and product are measured alternately on the same machine: value n of one belongs to value n of the other. */
export interface Result {
  section: Section;
  /** Number in the list of goals; undefined: measured for information. */
  number?: string;
  name: string;
  /** Unit of all values: `ms`, `CPU ms`, `µs CPU`, `KB` … */
  unit: string;
  product: readonly number[];
  /** Empty if there is no minimum to compare with. */
  floor: readonly number[];
  /** Docker Swarm with the same work, if requested. */
  swarm?: readonly number[];
  goal?: Goal;
}

/** Medians; `ratio` and `difference` are medians over the pairs, so that a temporary slowdown of both cancels out. */
export interface Verdict {
  product: number;
  floor?: number;
  swarm?: number;
  ratio?: number;
  difference?: number;
  met?: boolean;
}

/** The middle value; NaN for an empty list. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value below which the share `share` of the values lies, interpolated linearly. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? Number.NaN, sorted[Math.ceil(at)] ?? Number.NaN];
  return low + (high - low) * (at - Math.floor(at));
}

/** `slack` multiplies the goal: 1.5 for a run that only needs to detect large regressions. */
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
