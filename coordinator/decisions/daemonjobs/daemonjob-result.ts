/** What the result of a host says after its Pods have ended. */
import { MISS_SCHEDULE, REPLACED } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  type DaemonJobResult,
  type DaemonJobStatus,
  MAX_RESULT_MESSAGE,
  type ResultPhase,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { ContainerStatus, Pod } from '../../../shared/kube/pods/pod-types.js';
import { endedAt } from '../jobs/job-limits.js';
import { attemptOf, runOfPod } from './daemonjob-pod.js';

/** The fields of a result without type and metadata. */
export type HostOutcome = Omit<DaemonJobResult, 'apiVersion' | 'kind' | 'metadata'>;

/** Returns the fields of a stored result. */
export function outcomeOf({
  apiVersion: _a,
  kind: _k,
  metadata: _m,
  ...outcome
}: DaemonJobResult): HostOutcome {
  return outcome;
}

/**
 * Counts the ended Pods that the outcome does not contain, in order. A Pod of an earlier run changes only the number of
 * attempts. Success is final: nothing is counted after it.
 */
export function withEndedPods(before: HostOutcome, ended: readonly Pod[], run: number): HostOutcome {
  let outcome = before;
  for (const pod of [...ended].sort((a, b) => attemptOf(a) - attemptOf(b))) {
    if (outcome.phase === 'Succeeded') return outcome;
    const isSuccess = pod.status?.phase === 'Succeeded';
    // A Pod that was deleted without grace is counted before its host has reported its end, which may be a success.
    if (attemptOf(pod) < outcome.attempts && !isSuccess) continue;
    const isOfThisRun = runOfPod(pod) === run;
    const isMissed = pod.status?.reason === MISS_SCHEDULE;
    if (!isSuccess && !isOfThisRun && outcome.phase !== 'Retrying') {
      outcome = { ...outcome, attempts: attemptOf(pod) + 1 };
      continue;
    }
    const { run: _run, phase: _phase, attempts, failures, nodeName } = outcome;
    outcome = {
      nodeName,
      phase: phaseAfter(pod, isOfThisRun),
      run,
      attempts: Math.max(attempts, attemptOf(pod) + 1),
      failures: failures + (isSuccess || isMissed || !isOfThisRun ? 0 : 1),
      ...endOf(pod),
    };
  }
  return outcome;
}

/** A host that came too late, or whose run was replaced by a later one, starts no other Pod of this run. */
function phaseAfter({ status }: Pod, isOfThisRun: boolean): ResultPhase {
  if (status?.phase === 'Succeeded') return 'Succeeded';
  if (!isOfThisRun) return 'Retrying';
  if (status?.reason === MISS_SCHEDULE) return 'Missed';
  return status?.reason === REPLACED ? 'Failed' : 'Retrying';
}

/** Returns the outcome with a final phase. `why` explains hosts that did not fail by their own Pod. */
export function concluded(
  { reason: before, message: text, ...outcome }: HostOutcome,
  phase: ResultPhase,
  why?: { reason: string; message: string },
): HostOutcome {
  const reason = why?.reason ?? before;
  const message = why?.message ?? text;
  return {
    ...outcome,
    phase,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message: lastBytes(message) }),
  };
}

type PodEnd = Pick<DaemonJobResult, 'exitCode' | 'reason' | 'startTime' | 'completionTime' | 'message'>;

function endOf(pod: Pod): PodEnd {
  const { status = {}, metadata } = pod;
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const failed = all.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  const shown = failed ?? status.containerStatuses?.find(({ state }) => state?.terminated);
  const { exitCode, startedAt, message: output } = shown?.state?.terminated ?? {};
  const reason = reasonOf(pod, failed);
  const message = output || status.message;
  const startTime = startedAt ?? status.startTime;
  const deleted = metadata.deletionTimestamp && !status.phase ? metadata.deletionTimestamp : undefined;
  return {
    ...(exitCode !== undefined && { exitCode }),
    ...(reason !== undefined && { reason }),
    ...(startTime && { startTime }),
    completionTime: deleted ?? toTimestamp(endedAt(pod)),
    ...(message && { message: lastBytes(message) }),
  };
}

/** A Pod that was deleted before it ended has no reason of its own. */
function reasonOf({ status, metadata }: Pod, failed: ContainerStatus | undefined): string | undefined {
  if (status?.phase === 'Succeeded') return undefined;
  if (status?.reason) return status.reason;
  if (failed) return failed.state?.terminated?.reason ?? 'Error';
  return metadata.deletionTimestamp ? 'PodDeleted' : 'Error';
}

/**
 * Returns true if the status of a finished job counts exactly these results of its run. It does not if the coordinator
 * was killed after a result was stored, changed or deleted, and before the status was.
 */
export function countsResults(
  { run, hosts = 0, succeeded = 0, failed = 0, missed = 0 }: DaemonJobStatus,
  results: readonly Pick<DaemonJobResult, 'phase' | 'run'>[],
): boolean {
  const counted = results.filter((result) => result.phase === 'Succeeded' || result.run === run);
  const of = (phase: ResultPhase) => counted.filter((result) => result.phase === phase).length;
  const isEqual = of('Succeeded') === succeeded && of('Failed') === failed && of('Missed') === missed;
  return counted.length === hosts && isEqual;
}

/** Returns the end of a text in at most `MAX_RESULT_MESSAGE` bytes of UTF-8, without a half character. */
export function lastBytes(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_RESULT_MESSAGE) return text;
  let from = bytes.length - MAX_RESULT_MESSAGE;
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return new TextDecoder().decode(bytes.subarray(from));
}
