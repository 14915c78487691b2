/** Chooses the actions of a rollout by waves, once it is decided which waves are open. */

import type { DaemonSet, DaemonSetUpdateStrategy } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { RolloutPolicy, RolloutWave } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { chooseReplacements, type Replacements } from '../../decisions/daemonsets/rolling-update.js';
import { updateBudget } from '../../decisions/daemonsets/update-strategy.js';
import { chooseReverts } from '../../decisions/rollouts/revert-choice.js';
import { scaledAmount } from '../../decisions/rollouts/wave-plan.js';
import type { WaveIndex } from './wave-index.js';

/** Names of nodes by action. */
export interface NodeActions extends Replacements {
  /** Nodes on which to delete the Pod of the current revision. */
  revert?: string[];
  /** Nodes on which to withdraw the handover. */
  withdraw?: string[];
  /** Nodes that may get their first Pod. */
  createFirst?: string[];
}

export const NO_ACTIONS: NodeActions = { create: [], replace: [] };

/** Returns the DaemonSet's strategy with the wave's `maxUnavailable`. */
export function waveStrategy(
  wave: RolloutWave | undefined,
  strategy: DaemonSetUpdateStrategy | undefined,
): DaemonSetUpdateStrategy | undefined {
  if (wave?.maxUnavailable === undefined) return strategy;
  const surges = updateBudget(strategy, 1).maxSurge > 0;
  const rollingUpdate = surges
    ? { maxSurge: wave.maxUnavailable, maxUnavailable: 0 }
    : { maxUnavailable: wave.maxUnavailable };
  return { type: 'RollingUpdate', rollingUpdate };
}

/** Upstream's choice in each open wave. Pods that failed before a retry are replaced too. */
export function updateActions(
  daemonSet: DaemonSet,
  { spec }: RolloutPolicy,
  waves: WaveIndex,
  openUpTo: number,
): NodeActions {
  const actions = {
    create: [] as string[],
    replace: [] as string[],
    revert: [] as string[],
    withdraw: waves.handoversToWithdraw(openUpTo),
    createFirst: [] as string[],
  };
  for (let wave = 0; wave <= openUpTo; wave += 1) {
    const strategy = waveStrategy(spec.waves?.[wave], daemonSet.spec.updateStrategy);
    const { create, replace } = chooseReplacements(waves.fleet(wave), strategy);
    actions.create.push(...create);
    actions.replace.push(...replace);
    actions.revert.push(...waves.retryPending(wave));
    actions.createFirst.push(...waves.blocked(wave));
  }
  return actions;
}

/** Limits the concurrent updates of hosts that catch up after completion (`catchUp.maxParallel`). */
export function limitCatchUp(actions: NodeActions, { spec }: RolloutPolicy, waves: WaveIndex): NodeActions {
  const { maxParallel } = spec.catchUp ?? {};
  if (maxParallel === undefined) return actions;
  const nodes = waves.counts().reduce((total, wave) => total + wave.nodes, 0);
  const budget = Math.max(0, scaledAmount(maxParallel, nodes, Math.ceil) - waves.inProgress);
  const create = actions.create.slice(0, budget);
  const replace = actions.replace.slice(0, budget - create.length);
  return {
    ...actions,
    create,
    replace,
    createFirst: actions.createFirst?.slice(0, budget - create.length - replace.length) ?? [],
  };
}

/**
 * Rolls back all waves at once. Waves without a `maxUnavailable` of their own share the DaemonSet's budget; otherwise
 * it would count once for each wave.
 */
export function revertActions(daemonSet: DaemonSet, { spec }: RolloutPolicy, waves: WaveIndex): NodeActions {
  const { updateStrategy } = daemonSet.spec;
  const shares = waves.counts().map((_, wave) => {
    const staleFailed = waves.staleFailed(wave);
    return { own: spec.waves?.[wave], fleet: waves.fleet(wave), failed: waves.failed(wave), staleFailed };
  });
  const isShared = ({ own }: (typeof shares)[number]) => own?.maxUnavailable === undefined;
  const revert = [
    ...chooseReverts(shares.filter(isShared), updateStrategy),
    ...shares
      .filter((share) => !isShared(share))
      .flatMap((share) => chooseReverts([share], waveStrategy(share.own, updateStrategy))),
  ];
  return { create: [], replace: [], revert, withdraw: waves.handoversToWithdraw(-1) };
}

/** Orders no action, and withdraws all handovers. */
export function withdrawActions(waves: WaveIndex): NodeActions {
  return { create: [], replace: [], withdraw: waves.handoversToWithdraw(-1) };
}

/** Rolls back only nodes that received the revision after completion and failed. */
export function lateRevertActions(waves: WaveIndex): NodeActions {
  const revert = waves.counts().flatMap((_, wave) => waves.failedLate(wave));
  return { ...withdrawActions(waves), revert };
}
