/** A new version for all hosts at once. */

import { BenchDaemonSet } from '../bench-daemon-set.js';
import type { Bench } from '../section.js';
import type { FloorFleet } from './floor-fleet.js';
import type { HollowFleet } from './hollow-fleet.js';

/** Leaves the fleet with one Pod on each host, and answers the DaemonSet. */
export async function measureRollout(
  { report }: Bench,
  floor: FloorFleet,
  product: HollowFleet,
  rounds: number,
): Promise<BenchDaemonSet> {
  const { api, agents, cost } = product;
  const daemonSet = new BenchDaemonSet(api);
  await daemonSet.create();
  await daemonSet.untilReady(agents);
  await product.untilQuiet();
  const values = { floor: [] as number[], product: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    // An end and a beginning for each host.
    const twice = async () => {
      for (const kind of ['apply', 'apply'] as const) await floor.order({ kind });
    };
    values.floor.push(await floor.cost.during(twice));
    values.product.push(
      await cost.during(async () => {
        await daemonSet.update({
          template: { spec: { containers: [{ name: 'main', image: `app:${round + 2}` }] } },
        });
        await daemonSet.untilReady(agents);
      }),
    );
    await product.untilQuiet();
  }
  report({
    ...{ section: 'hollow', unit: 'CPU ms', ...values },
    name: `rolling update of ${agents} nodes, maxUnavailable 100 %`,
  });
  return daemonSet;
}
