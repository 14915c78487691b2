/** The coordinator is killed and restarted: time until every agent has reconnected and reported. */
import type { BenchContext } from '../bench-section.js';
import type { FloorFleet } from './floor-fleet.js';
import type { HollowFleet } from './hollow-fleet.js';

export async function measureRestart(
  { report }: BenchContext,
  floor: FloorFleet,
  product: HollowFleet,
  rounds: number,
): Promise<void> {
  const { agents } = product;
  const cpu = { floor: [] as number[], product: [] as number[] };
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await floor.disconnect();
    cpu.floor.push(((await floor.cost.during(() => floor.connect())) * 1000) / agents);
    const startMs = performance.now();
    await product.killAndRestart();
    const serving = await product.cost.cpuMs();
    await product.untilAllLive();
    seconds.push((performance.now() - startMs) / 1000);
    await product.untilQuiet();
    cpu.product.push((((await product.cost.cpuMs()) - serving) * 1000) / agents);
  }
  report({
    ...{ section: 'hollow', number: '11', unit: 'µs CPU an agent', goal: { kind: 'ratio', most: 1.5 } },
    ...{ name: `coordinator killed → ${agents} agents back and reconciled`, ...cpu },
  });
  report({
    ...{ section: 'hollow', name: `coordinator killed → ${agents} agents live again`, unit: 's' },
    ...{ floor: [], product: seconds },
  });
}
