/** The progress of a rollout: hosts by reason code, nodes in progress, and the estimated end. */
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import {
  ROLLOUT_REASON_CODES,
  type RolloutReasonCode,
} from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import type { RolloutPhase } from '../../../shared/kube/rollouts/rollout-types.js';
import { outstanding, type WaveCounts } from './rollout-memory.js';

export interface RolloutProgress {
  /** In the order of `ROLLOUT_REASON_CODES`. The counts add up to the fleet. Codes without hosts are omitted. */
  codes: Partial<Record<RolloutReasonCode, number>>;
  /** By wave: hosts whose Pod is being replaced, or that roll back. */
  inProgress: number[];
  /** In ms since the epoch. Absent if only an operator can continue the rollout, or if it has ended. */
  estimatedEnd?: number;
}

const UNDER_WAY: readonly RolloutReasonCode[] = ['Updating', 'RollingBack'];

/** `notEligible`: nodes that are not part of the rollout. */
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

/** Hosts that wait for the same window. */
export interface WindowOpening {
  /** In ms since the epoch. Undefined: the window never opens. */
  at: number | undefined;
  hosts: number;
}

interface EstimateInput {
  spec: RolloutPolicySpec;
  phase: RolloutPhase;
  /** In the order of `waveNames`. */
  waves: readonly WaveCounts[];
  /** Index of the last open wave. -1: none. */
  wave: number;
  /** Since when the wave soaks, in ms since the epoch. */
  soakingSince?: number | undefined;
  /** Hosts of a wave whose windows are closed, by opening time. */
  windowOpenings(wave: number): readonly WindowOpening[];
  /** Number of hosts of a wave that may lack their Pod at once. */
  budgetOf(wave: number): number;
  /** Duration of one host's update, in ms. */
  cycleMs: number;
  /** In ms since the epoch. */
  now: number;
}

/** Phases that end only by a request or a returning host, or not at all. */
const WITHOUT_END: ReadonlySet<RolloutPhase> = new Set([
  'AwaitingApproval',
  'AwaitingHosts',
  'Paused',
  'Frozen',
  'Failed',
  'RolledBack',
  'Completed',
]);

/**
 * Returns when the rollout will be completed if nothing fails, in ms since the epoch. Assumes that approvals are given
 * at once and that an opened window stays open. Undefined in phases of `WITHOUT_END`.
 */
export function estimatedEnd(input: EstimateInput): number | undefined {
  const { spec, phase, waves, wave, soakingSince, now } = input;
  if (WITHOUT_END.has(phase)) return undefined;
  let at: number | undefined = now;
  for (const [index, counts] of waves.entries()) {
    const left = outstanding(counts);
    const soakMs = (spec.waves?.[index]?.soakSeconds ?? 0) * 1000;
    if (left > 0) at = endOfWave(input, index, left, at);
    if (at === undefined) return undefined;
    if (index > wave || (index === wave && left > 0)) at += soakMs;
    else if (index === wave && soakingSince !== undefined) at = Math.max(at, soakingSince + soakMs);
  }
  return at;
}

/** Returns when `left` hosts of a wave that starts at `from` are updated: open windows first, then zone by zone. */
function endOfWave(
  { budgetOf, windowOpenings, cycleMs }: EstimateInput,
  wave: number,
  left: number,
  from: number,
): number | undefined {
  const openings = windowOpenings(wave);
  if (openings.some(({ at }) => at === undefined)) return undefined;
  const outside = openings.reduce((sum, { hosts }) => sum + hosts, 0);
  const groups = [{ at: from, hosts: Math.max(0, left - outside) }, ...openings];
  groups.sort((a, b) => (a.at ?? from) - (b.at ?? from));
  const budget = Math.max(1, budgetOf(wave));
  return groups.reduce(
    (end, { at = from, hosts }) =>
      hosts === 0 ? end : Math.max(end, at) + Math.ceil(hosts / budget) * cycleMs,
    from,
  );
}
