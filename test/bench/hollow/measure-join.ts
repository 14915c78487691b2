/**
 * Hosts that join for the first time: each requests a certificate for its own key, like real hosts, and then connects.
 */
import type { BenchContext } from '../bench-section.js';
import type { FloorFleet } from './floor-fleet.js';
import type { HollowFleet } from './hollow-fleet.js';

/** Connects both fleets. */
export async function measureJoin(
  { report }: BenchContext,
  floor: FloorFleet,
  product: HollowFleet,
): Promise<void> {
  const { agents } = product;
  const bare = await floor.cost.during(() => floor.connect());
  const ours = await product.cost.during(() => product.join());
  report({
    ...{
      section: 'hollow',
      unit: 'µs CPU an agent',
      name: `${agents} hosts join, against bare TLS connections`,
    },
    ...{ floor: [(bare * 1000) / agents], product: [(ours * 1000) / agents] },
  });
}
