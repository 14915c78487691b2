/** Which waves of a DaemonJob are open: the decision about a DaemonSet's rollout, with hosts that end instead of update. */
import {
  type DaemonJob,
  type DaemonJobRollout,
  runOf,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { type SteeringVerb, steeringAnnotation } from '../../../shared/kube/rollouts/steering-requests.js';
import type { RolloutMemory, WaveCounts } from '../rollouts/rollout-memory.js';
import { judgeRollout } from '../rollouts/rollout-verdict.js';
import { NO_STEERING } from '../rollouts/steering-state.js';
import { waveNames } from '../rollouts/wave-plan.js';
import type { HostCounts } from './daemonjob-host.js';

export interface WaveVerdict {
  rollout: DaemonJobRollout;
  /** Index of the last wave whose hosts may start. -1: none. */
  openUpTo: number;
  /** When the verdict changes without an event, in ms since the epoch. */
  requeueAt?: number;
}

/** `waves`: counts of each wave of the policy, and of the rest. */
export function judgeWaves(
  job: DaemonJob,
  policy: RolloutPolicySpec,
  waves: readonly HostCounts[],
  now: number,
): WaveVerdict {
  const names = waveNames(policy.waves ?? []);
  const { memory, ...verdict } = judgeRollout({
    spec: withoutPeriod(policy),
    revision: String(runOf(job)),
    memory: memoryOf(job, names, now),
    waves: waves.map(waveCounts),
    now,
  });
  const { soakingSince, completedAt, failure } = memory;
  const wave = names[memory.wave] ?? '';
  return {
    rollout: {
      phase: verdict.phase,
      message: verdict.phase === 'AwaitingHosts' ? untriedText(wave, waves[memory.wave]) : verdict.message,
      wave,
      startTime: toTimestamp(memory.startedAt),
      ...(soakingSince !== undefined && { soakingSince: toTimestamp(soakingSince) }),
      ...(completedAt !== undefined && { completionTime: toTimestamp(completedAt) }),
      ...(failure !== undefined && { failure }),
      waves: waves.map((counts, index) => waveStatus(names[index] ?? '', counts)),
    },
    openUpTo: verdict.openUpTo,
    ...(verdict.requeueAt !== undefined && { requeueAt: verdict.requeueAt }),
  };
}

/** A host that failed or missed the run has ended it. Only a host that returns can still open the next wave. */
function untriedText(wave: string, counts: HostCounts | undefined): string {
  const { Offline = 0, Failed = 0, Missed = 0 } = counts ?? {};
  const amounts = [`${Offline} offline`, `${Failed} failed`, `${Missed} missed`];
  const left = amounts.filter((text) => !text.startsWith('0 ')).join(', ');
  const why = `no host of wave ${wave} has succeeded: ${left}`;
  if (Offline === 0) return `${why}; promote the wave, or delete the job`;
  return `${why}; the next wave opens when an offline host returns and succeeds, or the wave is promoted`;
}

/** A host of a job ends once. When it failed does not matter, and nothing can be rolled back. */
function withoutPeriod({ failureBudget, ...policy }: RolloutPolicySpec): RolloutPolicySpec {
  if (!failureBudget) return policy;
  const { maxFailed } = failureBudget;
  return { ...policy, failureBudget: { ...(maxFailed !== undefined && { maxFailed }) } };
}

/** A new run starts with the first wave. */
function memoryOf(job: DaemonJob, names: readonly string[], now: number): RolloutMemory {
  const run = runOf(job);
  const stored = job.status?.run === run ? job.status.rollout : undefined;
  const steering = { ...NO_STEERING, approved: listed(job, 'approve'), promoted: listed(job, 'promote') };
  if (!stored) return { revision: String(run), wave: -1, startedAt: now, steering };
  const { soakingSince, completionTime, failure } = stored;
  return {
    revision: String(run),
    wave: names.indexOf(stored.wave),
    startedAt: Date.parse(stored.startTime),
    ...(soakingSince && { soakingSince: Date.parse(soakingSince) }),
    ...(completionTime && { completedAt: Date.parse(completionTime) }),
    ...(failure !== undefined && { failure }),
    steering,
  };
}

/** Waves that an operator named in an annotation of the job. */
function listed({ metadata }: DaemonJob, verb: SteeringVerb): string[] {
  return (metadata.annotations?.[steeringAnnotation(verb)] ?? '').split(',').map((name) => name.trim());
}

/** Offline hosts start when they return, also after the later waves. */
function waveCounts(counts: HostCounts): WaveCounts {
  const { Succeeded, Failed, Missed, Offline } = counts;
  const nodes = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return {
    nodes,
    updated: Succeeded,
    failed: Failed + Missed,
    deferred: Offline,
    failures: Failed,
    old: nodes - Succeeded,
    ...{ outsideWindow: 0, skipped: 0, onRevision: 0 },
    ...{ awaitingResync: 0, awaitingResyncUpdated: 0, lateFailures: 0 },
  };
}

function waveStatus(name: string, counts: HostCounts): DaemonJobRollout['waves'][number] {
  const { Succeeded, Failed, Missed, Offline } = counts;
  const hosts = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { name, hosts, succeeded: Succeeded, failed: Failed, missed: Missed, offline: Offline };
}
