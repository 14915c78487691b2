/** Whose turn it is in a rollout by waves, once it is known how far it may go. */
import type { RolloutPolicy, RolloutWave } from '../../shared/kube/rollout.js';
import type { DaemonSet, DaemonSetUpdateStrategy } from '../../shared/kube/workload.js';
import { chooseReverts } from '../decisions/revert.js';
import { chooseReplacements, type Replacements } from '../decisions/rolling-update.js';
import { updateBudget } from '../decisions/update-strategy.js';
import type { RolloutWaves } from './rollout-waves.js';

/** Names of nodes by what is their turn. */
export interface Turns extends Replacements {
  /** Their Pod of the current revision goes. */
  revert?: string[];
}

export const NO_TURNS: Turns = { create: [], replace: [] };

/** The DaemonSet's own strategy, with what the wave says instead. */
function strategyIn(
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

/** Upstream's choice in each open wave. */
export function turnsOf(
  daemonSet: DaemonSet,
  { spec }: RolloutPolicy,
  waves: RolloutWaves,
  openUpTo: number,
): Turns {
  const turns: Turns = { create: [], replace: [] };
  for (let wave = 0; wave <= openUpTo; wave += 1) {
    const strategy = strategyIn(spec.waves?.[wave], daemonSet.spec.updateStrategy);
    const { create, replace } = chooseReplacements(waves.fleet(wave), strategy);
    turns.create.push(...create);
    turns.replace.push(...replace);
  }
  return turns;
}

/** The nodes that have the revision, wave by wave. */
export function revertsOf(daemonSet: DaemonSet, { spec }: RolloutPolicy, waves: RolloutWaves): Turns {
  const revert = waves.counts().flatMap((_, wave) => {
    const strategy = strategyIn(spec.waves?.[wave], daemonSet.spec.updateStrategy);
    return chooseReverts(waves.fleet(wave), waves.failed(wave), strategy);
  });
  return { create: [], replace: [], revert };
}
