/** An update by the waves of a policy, compared with the minimum time that the policy implies. */
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { BenchDaemonSet } from '../bench-daemonset.js';
import type { BenchContext } from '../bench-section.js';
import type { HollowFleet } from './hollow-fleet.js';

const POLICIES = '/apis/fleet.everynode.dev/v1/namespaces/default/rolloutpolicies';
/** Time until a simulated Pod becomes ready. */
const READY_MS = 500;
const SPEC: RolloutPolicySpec = {
  selector: {},
  waves: [
    { name: 'canary', nodes: 10, maxUnavailable: '50%', soakSeconds: 2 },
    { name: 'tenth', nodes: '10%', maxUnavailable: '50%', soakSeconds: 2 },
  ],
  failureBudget: { maxFailed: '1%', action: 'RollBack' },
};
/** Two waves in two halves each, and the remaining hosts at once. */
const TURNS = 5;
const SOAKS_MS = 4_000;

/** Requires a DaemonSet with one Pod on each host. Deletes its policy afterwards. */
export async function measureWaves(
  { report }: BenchContext,
  product: HollowFleet,
  daemonSet: BenchDaemonSet,
  rounds: number,
): Promise<void> {
  const { api, agents } = product;
  await api.request('POST', POLICIES, { metadata: { name: 'bench' }, spec: SPEC });
  const values = { floor: [] as number[], product: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    const startMs = performance.now();
    const annotations = { 'simulate.everynode.dev/ready-after': `${READY_MS}ms` };
    const spec = { containers: [{ name: 'main', image: `app:wave${round}` }] };
    await daemonSet.update({ template: { metadata: { annotations }, spec } });
    await daemonSet.untilReady(agents);
    values.product.push(performance.now() - startMs);
    values.floor.push(SOAKS_MS + TURNS * READY_MS);
    await product.untilQuiet();
  }
  report({
    ...{ section: 'hollow', unit: 'ms', ...values, goal: { kind: 'ratio', most: 1.2 } },
    name: `release to ${agents} nodes by three waves, over its soaks and Pods' own start times`,
  });
  await api.request('DELETE', `${POLICIES}/bench`);
}
