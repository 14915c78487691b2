/** What a rollout tells of its hosts beyond its own counts: all codes of the fleet, and what is under way in each wave. */
import {
  ROLLOUT_REASON_CODES,
  type RolloutReasonCode,
} from '../../../shared/kube/rollouts/rollout-reason-codes.js';

export interface RolloutProgress {
  /** In the order of `ROLLOUT_CODES`; they add up to the fleet. Codes that no host has are left out. */
  codes: Partial<Record<RolloutReasonCode, number>>;
  /** By wave: hosts whose Pod is being replaced, or that go back. */
  inProgress: number[];
  /** ms since the epoch; undefined where only a person can go on, and at the end. */
  estimatedEnd?: number;
}

const UNDER_WAY: readonly RolloutReasonCode[] = ['Updating', 'RollingBack'];

/** `notEligible`: nodes that have no part in the rollout. */
export function progressOf(
  waves: readonly ReadonlyMap<RolloutReasonCode, number>[],
  notEligible: number,
  estimatedEnd: number | undefined,
): RolloutProgress {
  const counts = new Map<RolloutReasonCode, number>(ROLLOUT_REASON_CODES.map((code) => [code, 0]));
  counts.set('NotEligible', notEligible);
  for (const wave of waves)
    for (const [code, count] of wave) counts.set(code, (counts.get(code) ?? 0) + count);
  const present = [...counts].filter(([, count]) => count > 0);
  return {
    codes: Object.fromEntries(present),
    inProgress: waves.map((wave) => UNDER_WAY.reduce((sum, code) => sum + (wave.get(code) ?? 0), 0)),
    ...(estimatedEnd === undefined ? {} : { estimatedEnd }),
  };
}
