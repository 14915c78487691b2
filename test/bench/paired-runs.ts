/** Runs things by turns. */

/**
 * `rounds` values of each. They take turns at being first, so that none always has the others' leftovers to bear.
 * `onRound` hears of each round as it begins, the first being 1.
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

/** `rounds` values of both, after a round that warms them up. */
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

/** CPU milliseconds that this process spends, all threads together, while `work` runs. */
export async function cpuMs(work: () => Promise<unknown> | unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Milliseconds that pass while `work` runs. */
export async function wallMs(work: () => Promise<unknown> | unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
