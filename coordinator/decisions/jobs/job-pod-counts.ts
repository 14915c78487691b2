/** Counts the Pods of a Job (`pkg/controller/job/{job_controller,indexed_job_utils}.go`). */

import { IndexSet } from '../../../shared/kube/jobs/index-set.js';
import {
  INDEX_FAILURE_COUNT,
  INDEX_IGNORED_FAILURES,
  isIndexed,
  JOB_TRACKING,
  type Job,
} from '../../../shared/kube/jobs/job-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { endedAt } from './job-limits.js';
import { completionIndexOf, failuresBefore } from './job-pod.js';
import { failureVerdict } from './pod-failure-policy.js';

/** The Pods of a Job, and what the Job has reached. */
export interface JobPodCounts {
  active: Pod[];
  /** Pods that are ending and have not ended. */
  ending: Pod[];
  ready: number;
  /** Counters of the status and all Pods that they do not contain yet. */
  totalSucceeded: number;
  totalFailed: number;
  succeededPods: Pod[];
  failedPods: Pod[];
  /** Of an indexed Job. */
  completed: IndexSet;
  failedIndexes: IndexSet;
  /** By index: the failed Pod that a new one replaces. Only with backoffLimitPerIndex. */
  replaced: ReadonlyMap<number, Pod>;
  /** Message of the podFailurePolicy that fails the Job. */
  failJob?: string;
}

/** True if the Pod ended without success, or is being deleted and will be replaced at once. */
export function hasFailed(pod: Pod, { spec }: Job): boolean {
  const { phase } = pod.status ?? {};
  if (phase === 'Failed') return true;
  if (!pod.metadata.deletionTimestamp || phase === 'Succeeded') return false;
  // The Job has discarded this Pod, or has counted it. It must not delay the next Pod of a resumed Job.
  if (!isTracked(pod)) return false;
  // With a grace period of zero no container is left that could end later.
  return spec.podReplacementPolicy !== 'Failed' || pod.metadata.deletionGracePeriodSeconds === 0;
}

/** True until the Job has counted or discarded the Pod. */
export function isTracked({ metadata }: Pick<Pod, 'metadata'>): boolean {
  return metadata.finalizers?.includes(JOB_TRACKING) === true;
}

/** True if the Pod counts: in an indexed Job only a Pod with an index below the completions does. */
export function hasValidIndex(pod: Pod, { spec }: Job): boolean {
  if (!isIndexed(spec)) return true;
  const index = completionIndexOf(pod);
  return index !== undefined && index < (spec.completions ?? 0);
}

/** Returns the verdict of the podFailurePolicy about a failed Pod. */
export function policyOf(pod: Pod, { spec }: Job): ReturnType<typeof failureVerdict> {
  return failureVerdict(spec.podFailurePolicy?.rules ?? [], pod);
}

/** Counts all Pods, also those above the limit of `status.uncountedTerminatedPods`. */
export function countPods(job: Job, pods: readonly Pod[]): JobPodCounts {
  const { spec, status = {} } = job;
  const completions = spec.completions ?? 0;
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const listed = new Set([...succeeded, ...failed]);
  const isNew = (pod: Pod) =>
    isTracked(pod) && !listed.has(pod.metadata.uid ?? '') && hasValidIndex(pod, job);
  const active = pods.filter((pod) => !isPodTerminal(pod) && !pod.metadata.deletionTimestamp);
  const succeededPods = pods.filter((pod) => pod.status?.phase === 'Succeeded');
  const failedPods = pods.filter((pod) => hasFailed(pod, job));
  const counts: JobPodCounts = {
    ...{ active, succeededPods, failedPods },
    ending: pods.filter((pod) => !isPodTerminal(pod) && isEnding(pod)),
    ready: active.filter(({ status: own }) => isConditionTrue(own?.conditions, 'Ready')).length,
    totalSucceeded: (status.succeeded ?? 0) + succeeded.length + succeededPods.filter(isNew).length,
    totalFailed: (status.failed ?? 0) + failed.length,
    completed: IndexSet.parse(status.completedIndexes, completions),
    failedIndexes: IndexSet.parse(status.failedIndexes, completions),
    replaced: new Map(),
  };
  for (const pod of failedPods) {
    const verdict = policyOf(pod, job);
    if (verdict.action === 'failJob') counts.failJob ??= verdict.message;
    if (isNew(pod) && verdict.action !== 'ignore') counts.totalFailed += 1;
  }
  if (isIndexed(spec)) countIndexes(counts, job);
  return counts;
}

function isEnding({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds !== 0;
}

/** An index that has failed or succeeded keeps its first result. */
function countIndexes(counts: JobPodCounts, job: Job): void {
  const { completed, failedIndexes } = counts;
  const tracked = (pod: Pod) => isTracked(pod) && hasValidIndex(pod, job);
  for (const pod of counts.succeededPods.filter(tracked)) {
    const index = completionIndexOf(pod) ?? 0;
    if (!failedIndexes.has(index)) completed.add(index);
  }
  counts.totalSucceeded = completed.size;
  if (job.spec.backoffLimitPerIndex === undefined) return;
  const failed = counts.failedPods.filter(tracked);
  for (const pod of failed) {
    const index = completionIndexOf(pod) ?? 0;
    if (isFinalFailure(pod, job) && !completed.has(index)) failedIndexes.add(index);
  }
  const ended = IndexSet.union(completed, failedIndexes);
  const running = new Set(counts.active.map(completionIndexOf));
  const replaced = new Map<number, Pod>();
  for (const pod of failed) {
    const index = completionIndexOf(pod) ?? 0;
    if (ended.has(index) || running.has(index)) continue;
    const present = replaced.get(index);
    if (!present || isLaterFailure(pod, present)) replaced.set(index, pod);
  }
  counts.replaced = replaced;
}

function isFinalFailure(pod: Pod, job: Job): boolean {
  const { action } = policyOf(pod, job);
  if (action === 'failIndex') return true;
  const limit = job.spec.backoffLimitPerIndex ?? 0;
  return action !== 'ignore' && failuresBefore(pod, INDEX_FAILURE_COUNT) >= limit;
}

function isLaterFailure(pod: Pod, present: Pod): boolean {
  return allFailuresBefore(pod) >= allFailuresBefore(present) && endedAt(pod) >= endedAt(present);
}

/** Returns the failures of the index before this Pod, also those that the policy ignores. */
export function allFailuresBefore(pod: Pod): number {
  return failuresBefore(pod, INDEX_FAILURE_COUNT) + failuresBefore(pod, INDEX_IGNORED_FAILURES);
}
