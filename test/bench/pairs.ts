/** Runs two things by turns. */

/**
 * `rounds` values of each. They take turns at being first, so that neither always has the other's leftovers to bear;
 * one more round before warms both up.
 */
export async function pairs(
  rounds: number,
  floor: () => Promise<number> | number,
  product: () => Promise<number> | number,
): Promise<{ floor: number[]; product: number[] }> {
  const values = { floor: [] as number[], product: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const floorFirst = round % 2 === 0;
    const early = floorFirst ? await floor() : undefined;
    const ours = await product();
    const bare = early ?? (await floor());
    if (round === 0) continue;
    values.floor.push(bare);
    values.product.push(ours);
  }
  return values;
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
