/** When a rollout by waves will have ended, if nothing goes wrong: arithmetic over its waves, no look at any host. */
import type { RolloutPhase } from '../../shared/kube/rollout.js';
import type { RolloutPolicySpec } from '../../shared/kube/rollout-policy.js';
import type { WaveCounts } from './rollout-memory.js';

export interface EstimateInput {
  spec: RolloutPolicySpec;
  phase: RolloutPhase;
  /** In the order of `waveNames`. */
  waves: readonly WaveCounts[];
  /** Index of the last open wave; -1 = none. */
  wave: number;
  /** Since when it is watched, ms. */
  soakingSince?: number | undefined;
  /** When the next window opens, ms, where that is what is waited for. */
  nextWindowAt?: number | undefined;
  /** Hosts of a wave that may be without their Pod at once. */
  budgetOf(wave: number): number;
  /** How long a host takes from its turn until it is available, ms. */
  cycleMs: number;
  /** ms since the epoch. */
  now: number;
}

/** In these phases somebody must act, or hosts come back, or all is over. */
const WITHOUT_END: ReadonlySet<RolloutPhase> = new Set([
  'AwaitingApproval',
  'AwaitingHosts',
  'Paused',
  'Frozen',
  'Failed',
  'RolledBack',
  'Completed',
]);

/** Supposes that approvals still to come are given at once. Undefined where only a person can go on, and at the end. ms since the epoch. */
export function estimatedEnd(input: EstimateInput): number | undefined {
  const { spec, phase, waves, wave, soakingSince, nextWindowAt, now } = input;
  if (WITHOUT_END.has(phase)) return undefined;
  let at = phase === 'AwaitingWindow' ? Math.max(now, nextWindowAt ?? now) : now;
  for (const [index, counts] of waves.entries()) {
    const left = counts.nodes - counts.updated - counts.failed - counts.deferred - counts.skipped;
    const soakMs = (spec.waves?.[index]?.soakSeconds ?? 0) * 1000;
    if (left > 0) at += Math.ceil(left / Math.max(1, input.budgetOf(index))) * input.cycleMs;
    if (index > wave || (index === wave && left > 0)) at += soakMs;
    else if (index === wave && soakingSince !== undefined) at = Math.max(at, soakingSince + soakMs);
  }
  return at;
}
