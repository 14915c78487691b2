/** Moves ended Pods into the counters of a Job (`pkg/controller/job` trackJobStatusAndRemoveFinalizers). */

import { isIndexed, type Job, type UncountedPods } from '../../../shared/kube/jobs/job-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { completionIndexOf } from './job-pod.js';
import { hasFailed, hasValidIndex, isTracked, type JobPodCounts, policyOf } from './job-pod-counts.js';
import type { JobTarget } from './job-verdict.js';

/** Upstream's bound on the size of the status. */
const MAX_UNCOUNTED = 500;

/** Counters for the status. */
interface TrackedPods {
  succeeded: number;
  failed: number;
  uncounted: UncountedPods;
  /** Pods whose finalizer can be removed once the status is stored. */
  release: Pod[];
}

/**
 * Moves a Pod from `uncounted` into the counters only when its finalizer is gone, in one write of the status. A crash
 * between any two writes then neither loses a Pod nor counts it twice.
 *
 * With `target` the Job ends, and no Pod is waited for: a Pod of a failed Job that still runs counts as failed, one of a
 * Job that succeeded or is being deleted does not count.
 */
export function trackPods(
  job: Job,
  pods: readonly Pod[],
  counts: JobPodCounts,
  target: JobTarget | undefined,
): TrackedPods {
  const { spec, status = {}, metadata } = job;
  const tracked = new Set(pods.filter(isTracked).map(({ metadata: { uid = '' } }) => uid));
  const { succeeded: before = [], failed: failedBefore = [] } = status.uncountedTerminatedPods ?? {};
  const keep = (uids: string[]) => uids.filter((uid) => tracked.has(uid));
  const uncounted = { succeeded: keep(before), failed: keep(failedBefore) };
  const result: TrackedPods = {
    succeeded: isIndexed(spec)
      ? counts.completed.size
      : (status.succeeded ?? 0) + before.length - uncounted.succeeded.length,
    failed: (status.failed ?? 0) + failedBefore.length - uncounted.failed.length,
    uncounted,
    release: [],
  };
  const isOver = target !== undefined || metadata.deletionTimestamp !== undefined;
  for (const pod of pods) {
    if (!isTracked(pod)) continue;
    const list = listOf(pod, job, target);
    if (list === undefined && !isOver && pod.status?.phase !== 'Succeeded' && !hasFailed(pod, job)) continue;
    // The failed Pod of an index holds the number of failures, so it stays tracked until it is replaced.
    if (!isOver && counts.replaced.get(completionIndexOf(pod) ?? -1) === pod) continue;
    if (list === undefined || addUncounted(uncounted, list, pod)) result.release.push(pod);
  }
  return result;
}

/** Returns the counter of a Pod. Undefined: it is in none, or needs no list of uncounted Pods. */
function listOf(pod: Pod, job: Job, target: JobTarget | undefined): 'succeeded' | 'failed' | undefined {
  if (pod.status?.phase === 'Succeeded') {
    // The set of completed indexes cannot contain an index twice.
    return isIndexed(job.spec) ? undefined : 'succeeded';
  }
  const isFailure = hasFailed(pod, job) || target === 'FailureTarget';
  if (!isFailure || !hasValidIndex(pod, job) || policyOf(pod, job).action === 'ignore') return undefined;
  return 'failed';
}

/** A Pod stays in its list: a Pod that was counted as failed while it was ending can still succeed. */
function addUncounted(
  uncounted: { succeeded: string[]; failed: string[] },
  key: 'succeeded' | 'failed',
  { metadata: { uid = '' } }: Pod,
): boolean {
  if (uncounted.succeeded.includes(uid) || uncounted.failed.includes(uid)) return true;
  if (uncounted.succeeded.length + uncounted.failed.length >= MAX_UNCOUNTED) return false;
  uncounted[key].push(uid);
  return true;
}
