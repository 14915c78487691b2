/** Memory of an agent's link and its Pod in the coordinator. */
import type { Result } from '../bench-result.js';
import type { FloorFleet } from './floor-fleet.js';
import type { HollowFleet } from './hollow-fleet.js';

/** Kilobytes of both servers, after garbage collection. */
export interface Memory {
  floor: number;
  product: number;
}

export async function memoryOf(floor: FloorFleet, product: HollowFleet): Promise<Memory> {
  return { floor: await floor.cost.rssKilobytes(), product: await product.cost.rssKilobytes() };
}

/** `before` the first agent connected, and `after` all of them did, each with its Pod. */
export function memoryResult(agents: number, before: Memory, after: Memory): Result {
  return {
    ...{ section: 'hollow', number: '9', unit: 'KB', goal: { kind: 'ratio', most: 1.25 } },
    name: `memory of an agent and its Pod, of ${agents}`,
    floor: [(after.floor - before.floor) / agents],
    product: [(after.product - before.product) / agents],
  };
}
