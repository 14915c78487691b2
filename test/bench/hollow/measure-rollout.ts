/** An update of all hosts at once. */
import type { BenchDaemonSet } from '../bench-daemonset.js';
import type { BenchContext } from '../bench-section.js';
import type { FloorFleet } from './floor-fleet.js';
import type { HollowFleet } from './hollow-fleet.js';
import { applyBare } from './measure-apply.js';

/** Requires a DaemonSet with one Pod on each host. */
export async function measureRollout(
  { report }: BenchContext,
  floor: FloorFleet,
  product: HollowFleet,
  daemonSet: BenchDaemonSet,
  rounds: number,
): Promise<void> {
  const { agents, cost } = product;
  const values = { floor: [] as number[], product: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    // Each host stops one Pod and starts one.
    values.floor.push(2 * (await applyBare(floor)).cpuMs);
    values.product.push(
      await cost.during(async () => {
        await daemonSet.update({
          template: { spec: { containers: [{ name: 'main', image: `app:${round + 2}` }] } },
        });
        await daemonSet.untilReady(agents);
        await product.untilQuiet();
      }),
    );
  }
  report({
    ...{ section: 'hollow', unit: 'CPU ms', ...values },
    name: `rolling update of ${agents} nodes, maxUnavailable 100 %, until its last Event is written`,
  });
}
