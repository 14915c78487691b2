/** Counts the Pods of a Job without counting one twice (`pkg/controller/job/job_controller.go`). */

import { IndexSet } from '../../../shared/kube/jobs/index-set.js';
import {
  INDEX_FAILURE_COUNT,
  isIndexed,
  JOB_TRACKING,
  type Job,
  type UncountedPods,
} from '../../../shared/kube/jobs/job-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { completionIndexOf, failuresBefore } from './job-pod.js';
import { failureVerdict } from './pod-failure-policy.js';

/** Upstream's bound on the size of the status. */
const MAX_UNCOUNTED = 500;

/** The Pods of a Job, and its counters with what can be counted now. */
export interface JobPodCounts {
  active: Pod[];
  /** Pods that are ending and have not ended. */
  terminating: number;
  ready: number;
  /** Counters for the status. */
  succeeded: number;
  failed: number;
  uncounted: UncountedPods;
  /** Counters with the uncounted Pods: what the Job has reached. */
  totalSucceeded: number;
  totalFailed: number;
  succeededPods: Pod[];
  failedPods: Pod[];
  /** Pods whose finalizer can be removed once the status is stored. */
  counted: Pod[];
  /** Of an indexed Job. */
  completed: IndexSet;
  failedIndexes: IndexSet;
  /** Message of the podFailurePolicy that fails the Job. */
  failJob?: string;
}

/** True if the Pod ended without success, or is being deleted and will be replaced at once. */
function hasFailed(pod: Pod, { spec }: Job): boolean {
  const { phase } = pod.status ?? {};
  if (phase === 'Failed') return true;
  if (!pod.metadata.deletionTimestamp || phase === 'Succeeded') return false;
  // The Job has discarded this Pod, or has counted it. It must not delay the next Pod of a resumed Job.
  if (!isTracked(pod)) return false;
  // With a grace period of zero no container is left that could end later.
  return spec.podReplacementPolicy !== 'Failed' || pod.metadata.deletionGracePeriodSeconds === 0;
}

const isTracked = (pod: Pod) => pod.metadata.finalizers?.includes(JOB_TRACKING) === true;

/**
 * Moves a Pod from `uncounted` into the counters only when its finalizer is gone, in one write of the status. A crash
 * between any two writes then neither loses a Pod nor counts it twice.
 */
export function countPods(job: Job, pods: readonly Pod[]): JobPodCounts {
  const { spec, status = {} } = job;
  const completions = spec.completions ?? 0;
  const tracked = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ''));
  const { succeeded: before = [], failed: failedBefore = [] } = status.uncountedTerminatedPods ?? {};
  const keep = (uids: string[]) => uids.filter((uid) => tracked.has(uid));
  const uncounted = { succeeded: keep(before), failed: keep(failedBefore) };
  const active = pods.filter((pod) => !isPodTerminal(pod) && !pod.metadata.deletionTimestamp);
  const counts: JobPodCounts = {
    active,
    terminating: pods.filter((pod) => !isPodTerminal(pod) && isEnding(pod)).length,
    ready: active.filter(({ status: own }) => isConditionTrue(own?.conditions, 'Ready')).length,
    succeeded: (status.succeeded ?? 0) + before.length - uncounted.succeeded.length,
    failed: (status.failed ?? 0) + failedBefore.length - uncounted.failed.length,
    uncounted,
    totalSucceeded: 0,
    totalFailed: 0,
    succeededPods: pods.filter((pod) => pod.status?.phase === 'Succeeded'),
    failedPods: pods.filter((pod) => hasFailed(pod, job)),
    counted: [],
    completed: IndexSet.parse(status.completedIndexes, completions),
    failedIndexes: IndexSet.parse(status.failedIndexes, completions),
  };
  for (const pod of counts.succeededPods) if (isTracked(pod)) countSuccess(counts, job, pod);
  const held = newestFailures(counts, job);
  for (const pod of counts.failedPods) if (isTracked(pod)) countFailure(counts, job, pod, held);
  if (isIndexed(spec)) counts.succeeded = counts.completed.size;
  counts.totalSucceeded = isIndexed(spec)
    ? counts.completed.size
    : counts.succeeded + uncounted.succeeded.length;
  counts.totalFailed = counts.failed + uncounted.failed.length;
  return counts;
}

function isEnding({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds !== 0;
}

function addUncounted({ uncounted }: JobPodCounts, key: 'succeeded' | 'failed', { metadata }: Pod): boolean {
  const { uid = '' } = metadata;
  const list = uncounted[key] ?? [];
  if (list.includes(uid)) return true;
  if ((uncounted.succeeded?.length ?? 0) + (uncounted.failed?.length ?? 0) >= MAX_UNCOUNTED) return false;
  uncounted[key] = [...list, uid];
  return true;
}

/** The set of completed indexes cannot contain an index twice, so it needs no list of uncounted Pods. */
function countSuccess(counts: JobPodCounts, job: Job, pod: Pod): void {
  if (!isIndexed(job.spec)) {
    if (addUncounted(counts, 'succeeded', pod)) counts.counted.push(pod);
    return;
  }
  const index = completionIndexOf(pod);
  if (index !== undefined && index < (job.spec.completions ?? 0) && !counts.failedIndexes.has(index))
    counts.completed.add(index);
  counts.counted.push(pod);
}

/**
 * The newest failed Pod of an index holds the number of failures, so it stays tracked until it is replaced. Returns the
 * Pods that must stay, and adds the indexes that have failed.
 */
function newestFailures(counts: JobPodCounts, job: Job): ReadonlySet<Pod> {
  const limit = job.spec.backoffLimitPerIndex;
  const held = new Map<number, Pod>();
  if (limit === undefined) return new Set();
  for (const pod of counts.failedPods) {
    const index = completionIndexOf(pod);
    if (index === undefined || !isTracked(pod)) continue;
    const { action } = failureVerdict(job.spec.podFailurePolicy?.rules ?? [], pod);
    const isFinal =
      action === 'failIndex' || (action !== 'ignore' && failuresBefore(pod, INDEX_FAILURE_COUNT) >= limit);
    if (isFinal && !counts.completed.has(index) && index < (job.spec.completions ?? 0))
      counts.failedIndexes.add(index);
    const present = held.get(index);
    if (!present || created(pod) >= created(present)) held.set(index, pod);
  }
  for (const pod of counts.active) held.delete(completionIndexOf(pod) ?? -1);
  for (const index of [...held.keys()]) {
    if (counts.failedIndexes.has(index) || counts.completed.has(index)) held.delete(index);
  }
  return new Set(isConditionTrue(job.status?.conditions, 'FailureTarget') ? [] : held.values());
}

const created = ({ metadata }: Pod) => Date.parse(metadata.creationTimestamp ?? '') || 0;

function countFailure(counts: JobPodCounts, job: Job, pod: Pod, held: ReadonlySet<Pod>): void {
  const rules = job.spec.podFailurePolicy?.rules ?? [];
  const verdict = pod.status?.phase === 'Failed' ? failureVerdict(rules, pod) : { action: 'count' as const };
  if (verdict.action === 'failJob') counts.failJob ??= verdict.message;
  if (held.has(pod)) return;
  if (verdict.action === 'ignore' || addUncounted(counts, 'failed', pod)) counts.counted.push(pod);
}
