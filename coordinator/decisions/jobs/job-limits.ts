/**
 * Limits of a run of Pods: back-off, deadline and time to live. They depend on Pods and times alone, so that other kinds
 * can run Pods to completion by the same rules (`pkg/controller/job/backoff_utils.go`, `pkg/controller/ttlafterfinished`).
 */
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

const FIRST_DELAY_MS = 10_000;
const MAX_DELAY_MS = 600_000;

/** Returns the delay after this many failures in a row, in ms. */
export function retryDelayMs(failures: number): number {
  return failures <= 0 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 20), MAX_DELAY_MS);
}

/**
 * Returns when the Pod ended, in ms since the epoch: its last container's end, its loss of readiness, or the request of
 * its deletion. Without all of them: its creation (`getFinishedTime`).
 */
export function endedAt({ metadata, status }: Pod): number {
  const ends = (status?.containerStatuses ?? []).map(({ state }) => timeOf(state?.terminated?.finishedAt));
  const known = ends.filter((at) => at !== undefined);
  if (known.length > 0 && known.length === ends.length) return Math.max(...known);
  const ready = findCondition(status?.conditions, 'Ready');
  const lost = ready?.status === 'False' ? timeOf(ready.lastTransitionTime) : undefined;
  const deleted = timeOf(metadata.deletionTimestamp);
  const asked =
    deleted === undefined ? undefined : deleted - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  return lost ?? asked ?? timeOf(metadata.creationTimestamp) ?? 0;
}

function timeOf(text: string | null | undefined): number | undefined {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/**
 * Returns how long the next Pod must wait, in ms: failures after the last success double the delay. A failure in the
 * future was recorded before the clock was set back; the delay is then the whole delay and no more.
 */
export function backoffRemainingMs(failed: readonly Pod[], succeeded: readonly Pod[], now: number): number {
  const lastSuccess = Math.max(0, ...succeeded.map(endedAt));
  const failures = failed.map(endedAt).filter((at) => at > lastSuccess);
  return remainingMs(failures.length, Math.max(0, ...failures), now);
}

/**
 * Returns the rest of the delay after `failures` failures, of which the last was at `lastAt`. `waitedMs`: the part of the
 * delay that has passed in any case, by a clock that is never set back.
 */
export function remainingMs(failures: number, lastAt: number, now: number, waitedMs = 0): number {
  const delay = retryDelayMs(failures);
  return Math.max(0, Math.min(delay - waitedMs, lastAt + delay - now));
}

/** With restartPolicy OnFailure the restarts of containers count as failures (`pastBackoffLimitOnFailure`). */
export function exceedsRestarts(pods: readonly Pod[], limit: number): boolean {
  const restarts = pods
    .filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending')
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Returns the ms until a period of `seconds` since `start` ends. Zero or less: it has ended. Undefined: it never ends. */
export function untilEndMs(
  start: string | undefined,
  seconds: number | undefined,
  now: number,
): number | undefined {
  if (start === undefined || seconds === undefined) return undefined;
  return Date.parse(start) + seconds * 1000 - now;
}
