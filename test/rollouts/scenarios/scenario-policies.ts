/** Policies that several scenarios use. */
import { scaledAmount } from '../../../coordinator/decisions/rollouts/wave-plan.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { LAB_LABEL } from '../scenario-fleet.js';

type PolicySpec = Omit<RolloutPolicy['spec'], 'selector'>;

const LAB = { name: 'lab', nodeSelector: { matchLabels: { [LAB_LABEL]: 'yes' } }, soakSeconds: 2 };

/** A lab, a tenth of the fleet, the rest; one host in a thousand may fail. */
export const THREE_WAVES: PolicySpec = {
  waves: [LAB, { name: 'tenth', nodes: '10%', maxUnavailable: '30%', soakSeconds: 1 }],
  failureBudget: { maxFailed: 0, progressDeadlineSeconds: 60, action: 'RollBack' },
};

/** The same waves, with an approval between the tenth and the rest. */
export const WITH_APPROVAL: PolicySpec = {
  ...THREE_WAVES,
  waves: [LAB, { name: 'tenth', nodes: '10%', maxUnavailable: '30%', approval: 'Manual' }],
};

/** Number of nodes in the waves that were open at the end. No other node can have received the revision. */
export function nodesOfOpenWaves({ waves, wave }: RolloutStatus): number {
  const last = waves.findIndex(({ name }) => name === wave);
  return waves.slice(0, last + 1).reduce((sum, { nodes }) => sum + nodes, 0);
}

/** Number of nodes in one wave. */
export function nodesOfWave({ waves }: RolloutStatus, name: string): number {
  return waves.find((wave) => wave.name === name)?.nodes ?? 0;
}

/** Default of `ScenarioDaemonSet`, as a share of the hosts of a wave without its own value. */
export const MAX_UNAVAILABLE = '25%';

/**
 * The minimum duration of a release under its policy, ms: the soak times, plus for each batch of hosts the time until a
 * Pod becomes ready.
 */
export function floorOf(policy: PolicySpec, { waves }: RolloutStatus, readyMs: number): number {
  const turns = waves.map(({ nodes }, index) => {
    const most = policy.waves?.[index]?.maxUnavailable ?? MAX_UNAVAILABLE;
    return Math.ceil(nodes / Math.max(1, scaledAmount(most, nodes, Math.ceil)));
  });
  return soakMs(policy) + turns.reduce((sum, count) => sum + count, 0) * readyMs;
}

/** Total soak time of the policy's waves, ms. */
export function soakMs({ waves = [] }: PolicySpec): number {
  return waves.reduce((sum, { soakSeconds = 0 }) => sum + soakSeconds * 1000, 0);
}
