/** A rollout's memory and verdict as the Rollout object holds them. */
import { type Timestamp, toTimestamp } from '../../shared/kube/meta.js';
import {
  APPROVE_ANNOTATION,
  type Rollout,
  type RolloutPolicy,
  type RolloutPolicySpec,
  type RolloutStatus,
} from '../../shared/kube/rollout.js';
import type { RolloutMemory, RolloutVerdict, WaveCounts } from './rollout-step.js';
import { waveNames } from './wave-plan.js';

/** Names of the waves that somebody has approved. */
export function approvedIn(rollout: Rollout | undefined): ReadonlySet<string> {
  const text = rollout?.metadata.annotations?.[APPROVE_ANNOTATION] ?? '';
  return new Set(text.split(',').map((name) => name.trim()));
}

function at(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

/** What a Rollout remembers. Its wave is stored by name: where the policy has lost it, none is open. */
export function memoryOf(rollout: Rollout | undefined, spec: RolloutPolicySpec): RolloutMemory | undefined {
  const { status } = rollout ?? {};
  if (!status) return undefined;
  const soakingSince = at(status.soakingSince);
  const completedAt = at(status.completionTime);
  return {
    revision: status.revision,
    wave: waveNames(spec.waves ?? []).indexOf(status.wave),
    startedAt: at(status.startTime) ?? 0,
    ...(soakingSince === undefined ? {} : { soakingSince }),
    ...(completedAt === undefined ? {} : { completedAt }),
    ...(status.failure === undefined ? {} : { failure: status.failure }),
    ...(status.stableRevision === undefined ? {} : { stable: status.stableRevision }),
  };
}

/** What is stored of a verdict. */
export function statusOf(
  { metadata, spec }: RolloutPolicy,
  verdict: RolloutVerdict,
  counts: readonly WaveCounts[],
): RolloutStatus {
  const { memory, phase, message } = verdict;
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
    waves: counts.map(({ nodes, updated, failed, deferred }, index) => ({
      name: names[index] ?? '',
      ...{ nodes, updated, failed, deferred },
    })),
    startTime: toTimestamp(memory.startedAt),
    ...(memory.soakingSince === undefined ? {} : { soakingSince: toTimestamp(memory.soakingSince) }),
    ...(memory.completedAt === undefined ? {} : { completionTime: toTimestamp(memory.completedAt) }),
    ...(memory.failure === undefined ? {} : { failure: memory.failure }),
    ...(memory.stable === undefined ? {} : { stableRevision: memory.stable }),
  };
}
