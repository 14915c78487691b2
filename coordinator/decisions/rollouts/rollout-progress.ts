/** What a rollout tells of its hosts beyond its own counts: all codes of the fleet, and what is under way in each wave. */
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import {
  ROLLOUT_REASON_CODES,
  type RolloutReasonCode,
} from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import type { RolloutPhase } from '../../../shared/kube/rollouts/rollout-types.js';
import { outstanding, type WaveCounts } from './rollout-memory.js';

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

/** Hosts that wait for one window. */
export interface WindowOpening {
  /** ms since the epoch; undefined: it never opens. */
  at: number | undefined;
  hosts: number;
}

interface EstimateInput {
  spec: RolloutPolicySpec;
  phase: RolloutPhase;
  /** In the order of `waveNames`. */
  waves: readonly WaveCounts[];
  /** Index of the last open wave; -1 = none. */
  wave: number;
  /** Since when it is watched, ms. */
  soakingSince?: number | undefined;
  /** Hosts of a wave whose windows are closed, by when those open. */
  windowOpenings(wave: number): readonly WindowOpening[];
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

/**
 * Supposes that approvals still to come are given at once, and that a window that will have opened is open. Undefined where only a
 * person can go on, and at the end. ms since the epoch.
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

/** When the `left` hosts of a wave that begins at `from` are done: those in their windows first, then zone by zone as theirs open. */
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
