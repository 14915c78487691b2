/** The record of a rollout that ended: when it ended, and why hosts failed. */
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { HostFailure, Rollout, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { templateHashOf } from '../daemonsets/daemon-node.js';
import { withConditions } from './rollout-conditions.js';

/** Maximum number of failures in a status. */
export const MAX_FAILURES = 10;
/** Maximum number of names of failed hosts in a status: about 10 KB. */
export const MAX_FAILED_NODES = 500;

export interface Outcome {
  /** Number of the ControllerRevision. */
  number: number | undefined;
  /** Failed hosts that are not in the status yet. */
  failing: readonly Omit<HostFailure, 'time'>[];
  /** Names of failed hosts, also of hosts that got their earlier revision back. */
  failedNodes: readonly string[];
  /** In ms since the epoch. */
  now: number;
}

/** Returns true if nothing more happens without a request. Hosts that roll back are still active. */
export function isOver({ phase, codes }: RolloutStatus): boolean {
  if (phase === 'Completed' || phase === 'Superseded') return true;
  return (phase === 'Failed' || phase === 'RolledBack') && !codes?.RollingBack;
}

/** `before`: the stored status. */
function isSameAttempt(before: RolloutStatus | undefined, status: RolloutStatus): before is RolloutStatus {
  // A later attempt starts later. If the stored start is later, it was moved after the clock was set back.
  return before?.revision === status.revision && Date.parse(status.startTime) <= Date.parse(before.startTime);
}

/** Returns the stored failures of this attempt. `before`: the stored status. */
export function knownFailures(before: RolloutStatus | undefined, status: RolloutStatus): HostFailure[] {
  return isSameAttempt(before, status) ? (before.failures ?? []) : [];
}

/** Adds end time, failures and failed hosts to the status. `before`: the stored status. */
export function withOutcome(
  status: RolloutStatus,
  before: RolloutStatus | undefined,
  { number, failing, failedNodes, now }: Outcome,
): RolloutStatus {
  const time = toTimestamp(now);
  const failures = [...knownFailures(before, status), ...failing.map((failure) => ({ ...failure, time }))];
  const isBarred = status.failure !== undefined;
  const isSameEnd = before?.revision === status.revision && before.phase === status.phase;
  // A host that reconnects later and still has to roll back does not reopen the rollout.
  const known = status.completionTime ?? (isSameEnd ? before.endTime : undefined);
  const endTime = known ?? (isOver(status) ? time : undefined);
  const counted = isBarred && failedNodes.length >= MAX_FAILED_NODES ? withFailedOf(before, status) : status;
  return {
    ...counted,
    ...(number === undefined ? {} : { revisionNumber: number }),
    ...(endTime === undefined ? {} : { endTime }),
    ...(failures.length > 0 ? { failures: failures.slice(0, MAX_FAILURES) } : {}),
    ...(isBarred && failedNodes.length > 0 ? { failedNodes: [...failedNodes] } : {}),
  };
}

/** More hosts failed than names are stored. After a restart the stored counts are closer to the truth. */
function withFailedOf(before: RolloutStatus | undefined, status: RolloutStatus): RolloutStatus {
  if (!isSameAttempt(before, status)) return status;
  const waves = status.waves.map((wave) => {
    const { nodes, updated, deferred, outsideWindow, skipped } = wave;
    const known = before.waves.find(({ name }) => name === wave.name)?.failed ?? 0;
    const most = nodes - updated - deferred - outsideWindow - skipped;
    return { ...wave, failed: Math.max(wave.failed, Math.min(known, most)) };
  });
  return { ...status, waves, failed: waves.reduce((sum, { failed }) => sum + failed, 0) };
}

/**
 * Returns true if the last rollout of this revision failed. A completed revision is not barred, even if hosts failed
 * with it later: other hosts may have to roll back to it.
 */
export function isBarred(past: readonly Rollout[], hash: string): boolean {
  // Changed values of a template that was completed before are no failure of the template.
  const own = past.flatMap(({ status }) =>
    status && templateHashOf(status.revision) === hash ? status : [],
  );
  const last = own.reduce<RolloutStatus | undefined>(
    (latest, one) => (latest && Date.parse(latest.startTime) > Date.parse(one.startTime) ? latest : one),
    undefined,
  );
  if (last?.failure === undefined) return false;
  const stable = templateHashOf(last.stableRevision ?? '');
  return last.completionTime === undefined && stable !== hash;
}

/** Why a rollout ended. */
export const SUPERSEDED_BY_REVISION = 'another revision was applied';
export const NO_POLICY = 'no policy governs the DaemonSet any longer';
export const ON_DELETE = 'the update strategy is OnDelete now';

/** Returns the status of a past rollout. `why`: why it ended, if it had not ended by itself. */
export function pastStatus(status: RolloutStatus, why: string, now: number): RolloutStatus {
  const { estimatedEndTime: _, failedNodes: __, ...kept } = status;
  if (isOver(status) || status.phase === 'RolledBack') return kept;
  const superseded: RolloutStatus = {
    ...kept,
    phase: 'Superseded',
    message: `${why}: ${status.message}`,
    endTime: toTimestamp(now),
  };
  return withConditions(superseded, status, now);
}
