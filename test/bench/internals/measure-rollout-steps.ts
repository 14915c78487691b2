/** Cost of one Pod event and the rollout step that follows it: it must not grow with the fleet. */

import type { BenchContext } from '../bench-section.js';
import { cpuMs, pairs } from '../paired-runs.js';
import { SteppedRollout } from './stepped-rollout.js';

const FEW = 5_000;
const ROUNDS = 3;
/** Events a round. With the warm-up round they use up all Pods of the smaller fleet. */
const EVENTS = 2_500;

export async function measureRolloutSteps({ quick, report }: BenchContext): Promise<void> {
  const count = quick ? 20_000 : 50_000;
  const fleets = { few: new SteppedRollout(FEW), many: new SteppedRollout(count) };
  // Each round continues where the previous one ended.
  const microseconds = async (fleet: SteppedRollout) => {
    let seen = 0;
    const ms = await cpuMs(() => {
      seen = fleet.replace(EVENTS);
    });
    return (ms * 1000) / seen;
  };
  const values = await pairs(
    ROUNDS,
    () => microseconds(fleets.few),
    () => microseconds(fleets.many),
  );
  report({
    ...{ section: 'parts', unit: 'µs CPU', goal: { kind: 'ratio', most: 1.5 }, ...values },
    name: `rollout by waves: an event of a Pod with its step, ${count} nodes against ${FEW}`,
  });
}
