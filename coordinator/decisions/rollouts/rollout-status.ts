/** Converts a rollout's memory and verdict to and from the status of the Rollout object. */
import { type Timestamp, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { RolloutPolicy, RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import type { RolloutMemory, WaveCounts } from './rollout-memory.js';
import type { RolloutProgress } from './rollout-progress.js';
import type { RolloutVerdict } from './rollout-verdict.js';
import { waveNames } from './wave-plan.js';

/**
 * The wave is stored by name. If the policy no longer has that wave, no wave is open. `timeOf` converts a stored time
 * to ms and corrects for steps of the coordinator's clock; the default does not correct.
 */
export function memoryOf(
  rollout: Rollout | undefined,
  spec: RolloutPolicySpec,
  timeOf = Date.parse,
): RolloutMemory | undefined {
  const at = (time: Timestamp | undefined) => (time === undefined ? undefined : timeOf(time));
  const { status } = rollout ?? {};
  if (!status) return undefined;
  const soakingSince = at(status.soakingSince);
  const completedAt = at(status.completionTime);
  const retriedAt = at(status.retryTime);
  return {
    revision: status.revision,
    wave: waveNames(spec.waves ?? []).indexOf(status.wave),
    startedAt: at(status.startTime) ?? 0,
    ...(soakingSince === undefined ? {} : { soakingSince }),
    ...(completedAt === undefined ? {} : { completedAt }),
    ...(status.caughtUp ? { caughtUp: true } : {}),
    ...(status.failure === undefined ? {} : { failure: status.failure }),
    ...(status.aborted ? { aborted: true } : {}),
    ...(status.rolledBack ? { rolledBack: true } : {}),
    ...(retriedAt === undefined ? {} : { retriedAt }),
    ...stableOf(status),
    ...(status.steering === undefined ? {} : { steering: status.steering }),
  };
}

function stableOf({ revision, stableRevision }: RolloutStatus): Pick<RolloutMemory, 'stable' | 'wasStable'> {
  if (stableRevision === undefined) return {};
  return stableRevision === revision ? { wasStable: true } : { stable: stableRevision };
}

/** `nextWindowAt`: when the first host outside its window may be updated, in ms since the epoch. */
export function statusOf(
  { metadata, spec }: RolloutPolicy,
  verdict: RolloutVerdict,
  counted: readonly WaveCounts[],
  { codes, inProgress, estimatedEnd }: RolloutProgress,
  nextWindowAt?: number,
): RolloutStatus {
  const { memory, phase, message } = verdict;
  const counts = counted.map((wave, index) =>
    // Until its wave opens, a host waits for the wave and not for its window.
    index <= memory.wave ? wave : { ...wave, outsideWindow: 0 },
  );
  const stable = memory.wasStable ? memory.revision : memory.stable;
  const names = waveNames(spec.waves ?? []);
  const sum = (key: keyof WaveCounts) => counts.reduce((total, wave) => total + wave[key], 0);
  return {
    revision: memory.revision,
    policy: metadata.name,
    phase,
    wave: names[memory.wave] ?? '',
    message,
    nodes: sum('nodes'),
    updated: sum('updated'),
    failed: sum('failed'),
    deferred: sum('deferred'),
    outsideWindow: sum('outsideWindow'),
    skipped: sum('skipped'),
    waves: counts.map(({ nodes, updated, failed, deferred, outsideWindow, skipped }, index) => ({
      name: names[index] ?? '',
      ...{ nodes, updated, failed, deferred, outsideWindow, skipped, inProgress: inProgress[index] ?? 0 },
    })),
    codes,
    ...(estimatedEnd === undefined ? {} : { estimatedEndTime: toTimestamp(estimatedEnd) }),
    startTime: toTimestamp(memory.startedAt),
    ...(memory.soakingSince === undefined ? {} : { soakingSince: toTimestamp(memory.soakingSince) }),
    ...(memory.completedAt === undefined ? {} : { completionTime: toTimestamp(memory.completedAt) }),
    ...(memory.caughtUp ? { caughtUp: true } : {}),
    ...(nextWindowAt === undefined ? {} : { nextWindowTime: toTimestamp(nextWindowAt) }),
    ...(memory.failure === undefined ? {} : { failure: memory.failure }),
    ...(memory.aborted ? { aborted: true } : {}),
    ...(memory.rolledBack ? { rolledBack: true } : {}),
    ...(memory.retriedAt === undefined ? {} : { retryTime: toTimestamp(memory.retriedAt) }),
    ...(stable === undefined ? {} : { stableRevision: stable }),
    ...(memory.steering === undefined ? {} : { steering: memory.steering }),
  };
}

const TIMES = ['startTime', 'soakingSince', 'completionTime', 'retryTime'] as const;

/**
 * Keeps stored times that were only read differently because the clock was set back. Pods keep their stored times too,
 * so that the order of Pods and rollout stays the same. `timeOf` as for `memoryOf`.
 */
export function withStoredTimes(
  status: RolloutStatus,
  stored: RolloutStatus | undefined,
  timeOf = Date.parse,
): RolloutStatus {
  if (stored?.revision !== status.revision) return status;
  const kept = TIMES.flatMap((key) => {
    const time = stored[key];
    return time !== undefined && toTimestamp(timeOf(time)) === status[key] ? [[key, time]] : [];
  });
  return { ...status, ...Object.fromEntries(kept) };
}

/** Compares two statuses apart from the estimate, which changes all the time. */
export function isSameProgress(a: RolloutStatus | undefined, b: RolloutStatus): boolean {
  const { estimatedEndTime: _a, ...before } = a ?? {};
  const { estimatedEndTime: _b, ...after } = b;
  return JSON.stringify(before) === JSON.stringify(after);
}
