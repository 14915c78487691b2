/** What stays of a rollout for those who look back: when it was over, and why hosts failed. Pure. */
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { HostFailure, Rollout, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';

/** So many failed hosts are told of. */
export const MAX_FAILURES = 10;
/** So many names of failed hosts are stored: some 10 KB, whatever the size of the fleet. */
export const MAX_FAILED_NODES = 500;

export interface Outcome {
  /** The revision's number in the DaemonSet's history. */
  number: number | undefined;
  /** Hosts that have failed and are not told of yet. */
  failing: readonly Omit<HostFailure, 'time'>[];
  /** Names of hosts that have failed, also of those that have their earlier revision again. */
  failedNodes: readonly string[];
  /** ms since the epoch. */
  now: number;
}

/** Whether nothing more happens by itself. Hosts that go back are not there yet. */
export function isOver({ phase, codes }: RolloutStatus): boolean {
  if (phase === 'Completed' || phase === 'Superseded') return true;
  return (phase === 'Failed' || phase === 'RolledBack') && !codes?.RollingBack;
}

/** Whether `before`, the status as it is stored, is of the same attempt. */
function isSameAttempt(before: RolloutStatus | undefined, status: RolloutStatus): before is RolloutStatus {
  // The next attempt begins later; one that began later before was moved with a clock that was set back.
  return before?.revision === status.revision && Date.parse(status.startTime) <= Date.parse(before.startTime);
}

/** The failures that `before`, the status as it is stored, tells of this very attempt. */
export function knownFailures(before: RolloutStatus | undefined, status: RolloutStatus): HostFailure[] {
  return isSameAttempt(before, status) ? (before.failures ?? []) : [];
}

/** `status` with what is known of its end. */
export function withOutcome(
  status: RolloutStatus,
  before: RolloutStatus | undefined,
  { number, failing, failedNodes, now }: Outcome,
): RolloutStatus {
  const time = toTimestamp(now);
  const failures = [...knownFailures(before, status), ...failing.map((failure) => ({ ...failure, time }))];
  const isBarred = status.failure !== undefined;
  const isSameEnd = before?.revision === status.revision && before.phase === status.phase;
  // A host that comes later has its Pod of before to come, and does not begin it all again.
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

/** More have failed than names are stored, so after a restart the counts of before are nearer to the truth. */
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
 * Whether a revision is one that failed when it was on its way last, of the past rollouts that are kept. One that was completed is
 * none, whoever failed with it later: others have it to go back to.
 */
export function isBarred(past: readonly Rollout[], hash: string): boolean {
  const own = past.flatMap(({ status }) => (status?.revision === hash ? status : []));
  const last = own.reduce<RolloutStatus | undefined>(
    (latest, one) => (latest && Date.parse(latest.startTime) > Date.parse(one.startTime) ? latest : one),
    undefined,
  );
  if (last?.failure === undefined) return false;
  return last.completionTime === undefined && last.stableRevision !== hash;
}

/** What puts an end to a rollout, in words. */
export const SUPERSEDED_BY_REVISION = 'another revision came';
export const NO_POLICY = 'no policy governs the DaemonSet any more';
export const ON_DELETE = 'the update strategy is OnDelete now';

/** A rollout as it is kept; `why`: what has put an end to it, where it had not come to its own. */
export function pastStatus(status: RolloutStatus, why: string, now: number): RolloutStatus {
  const { estimatedEndTime: _, failedNodes: __, ...kept } = status;
  if (isOver(status) || status.phase === 'RolledBack') return kept;
  return {
    ...kept,
    phase: 'Superseded',
    message: `${why}: ${status.message}`,
    endTime: toTimestamp(now),
  };
}
