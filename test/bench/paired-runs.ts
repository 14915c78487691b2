/** Runs measurements alternately. */

/**
 * Returns `rounds` values of each. The order rotates, so that none always runs after the same one. Calls `onRound` at
 * the start of each round, counted from 1.
 */
export async function alternate<T>(
  rounds: number,
  works: readonly (() => Promise<T> | T)[],
  onRound: (round: number) => void = () => undefined,
): Promise<T[][]> {
  const values: T[][] = works.map(() => []);
  for (let round = 1; round <= rounds; round += 1) {
    onRound(round);
    const order = round % 2 === 0 ? [...works.entries()] : [...works.entries()].reverse();
    for (const [index, work] of order) values[index]?.push(await work());
  }
  return values;
}

/** Returns `rounds` values of both, after a warm-up round. */
export async function pairs(
  rounds: number,
  floor: () => Promise<number> | number,
  product: () => Promise<number> | number,
): Promise<{ floor: number[]; product: number[] }> {
  await floor();
  await product();
  const [bare = [], ours = []] = await alternate(rounds, [floor, product]);
  return { floor: bare, product: ours };
}

/** CPU milliseconds of this process, all threads together, during `work`. */
export async function cpuMs(work: () => Promise<unknown> | unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Elapsed milliseconds during `work`. */
export async function wallMs(work: () => Promise<unknown> | unknown): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
