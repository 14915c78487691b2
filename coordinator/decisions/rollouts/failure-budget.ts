/** Decides whether more hosts have failed than a policy allows. */
import { countText } from '../../../shared/kube/objects/meta.js';
import type { FailureBudget } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { type RolloutInput, type RolloutMemory, sum, type WaveCounts } from './rollout-memory.js';
import { scaledAmount } from './wave-plan.js';

/**
 * Returns why the rollout has failed, or undefined. After completion only hosts count that received the revision later.
 * When all have caught up no host counts any longer, because later failures must not roll back the fleet.
 */
export function exceededBudget(memory: RolloutMemory, { spec, waves }: RolloutInput): string | undefined {
  const { failureBudget } = spec;
  if (!failureBudget || memory.caughtUp) return undefined;
  const isLate = memory.completedAt !== undefined;
  const inAll = beyond(waves, failureBudget, failureBudget.maxFailed ?? 0, isLate);
  if (inAll) return isLate ? `among late nodes: ${inAll}` : inAll;
  if (isLate) return undefined;
  for (const [index, wave] of (spec.waves ?? []).entries()) {
    const counts = waves[index];
    const failed =
      counts && wave.maxFailed !== undefined && beyond([counts], failureBudget, wave.maxFailed, false);
    if (failed) return `wave ${wave.name}: ${failed}`;
  }
  return undefined;
}

function beyond(
  waves: readonly WaveCounts[],
  { withinSeconds }: FailureBudget,
  maxFailed: NonNullable<FailureBudget['maxFailed']>,
  isLate: boolean,
): string | undefined {
  const failed = sum(waves, isLate ? 'lateFailures' : 'failures');
  const allowed = scaledAmount(maxFailed, sum(waves, 'nodes'), Math.floor);
  if (failed <= allowed) return undefined;
  const within = withinSeconds === undefined ? '' : ` within ${withinSeconds} s`;
  return `${countText(failed, 'host')} failed${within}; the limit is ${allowed}`;
}
