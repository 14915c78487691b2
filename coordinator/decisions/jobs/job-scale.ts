/** Which Pods of a Job are created and deleted (`pkg/controller/job/job_controller.go` manageJob). */
import { IndexSet } from '../../../shared/kube/jobs/index-set.js';
import {
  INDEX_FAILURE_COUNT,
  INDEX_IGNORED_FAILURES,
  isIndexed,
  type Job,
} from '../../../shared/kube/jobs/job-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { backoffRemainingMs, endedAt, remainingMs } from './job-limits.js';
import { completionIndexOf, failuresBefore, type NewJobPod } from './job-pod.js';
import type { JobPodCounts } from './job-pod-counts.js';
import { failureVerdict } from './pod-failure-policy.js';

/** Upstream's bound for one reconcile. */
const MAX_CREATES = 500;

interface JobScale {
  create: NewJobPod[];
  /** Active Pods to delete without counting them (`deleteJobPods`). */
  discard: Pod[];
  /** When a delayed create is due, in ms. */
  retryAfterMs?: number;
}

/**
 * Decides for a Job that has neither succeeded nor failed. `heldMs` is the rest of the last back-off: the Pod that failed
 * may be deleted since.
 */
export function scaleJob(job: Job, counts: JobPodCounts, now: number, heldMs: number): JobScale {
  const { active } = counts;
  if (job.spec.suspend) return { create: [], discard: active };
  const wanted = wantedActive(job, counts);
  const surplus = new Set(isIndexed(job.spec) ? surplusOfIndexes(job, active) : []);
  const rest = active.filter((pod) => !surplus.has(pod)).sort(removedFirst);
  const excess = Math.max(0, rest.length - wanted);
  if (surplus.size + excess > 0) return { create: [], discard: [...surplus, ...rest.slice(0, excess)] };
  const waiting = job.spec.podReplacementPolicy === 'Failed' ? counts.terminating : 0;
  const lacking = Math.min(wanted - waiting - active.length, MAX_CREATES);
  if (lacking <= 0) return { create: [], discard: [] };
  if (job.spec.backoffLimitPerIndex !== undefined) return createPerIndex(job, counts, lacking, now);
  const delay = Math.max(heldMs, backoffRemainingMs(counts.failedPods, counts.succeededPods, now));
  if (delay > 0) return { create: [], discard: [], retryAfterMs: delay };
  if (!isIndexed(job.spec)) return { create: Array.from({ length: lacking }, () => ({})), discard: [] };
  const create: NewJobPod[] = [];
  for (const index of pendingIndexes(job, counts)) {
    if (create.length === lacking) break;
    create.push({ index });
  }
  return { create, discard: [] };
}

/** Without completions, the first success stops the creation of Pods. */
function wantedActive({ spec }: Job, counts: JobPodCounts): number {
  const { parallelism = 1, completions } = spec;
  if (completions === undefined) return counts.totalSucceeded > 0 ? counts.active.length : parallelism;
  const left = completions - counts.totalSucceeded - counts.failedIndexes.size;
  return Math.max(0, Math.min(left, parallelism));
}

/** Returns Pods without an index of the Job, and all but one Pod of an index. */
function surplusOfIndexes({ spec }: Job, active: readonly Pod[]): Pod[] {
  const seen = new Set<number>();
  return [...active]
    .sort((a, b) => removedFirst(b, a))
    .filter((pod) => {
      const index = completionIndexOf(pod);
      if (index === undefined || index >= (spec.completions ?? 0) || seen.has(index)) return true;
      seen.add(index);
      return false;
    });
}

/** Pods that have progressed least are deleted first (`controller.ActivePods`). */
function removedFirst(a: Pod, b: Pod): number {
  const rank = (pod: Pod) => [
    pod.spec.nodeName ? 1 : 0,
    pod.status?.phase === 'Running' ? 1 : 0,
    isConditionTrue(pod.status?.conditions, 'Ready') ? 1 : 0,
    -Date.parse(pod.metadata.creationTimestamp ?? '') || 0,
  ];
  const [first, second] = [rank(a), rank(b)];
  for (const [at, value] of first.entries()) {
    const difference = value - (second[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Iterates the indexes that have neither ended nor a Pod that runs. The caller stops early: a list of the indexes of a
 * Job with 2,147,483,647 completions would fill the memory.
 */
function pendingIndexes({ spec }: Job, counts: JobPodCounts): Iterable<number> {
  const running = counts.active.map(completionIndexOf).filter((index) => index !== undefined);
  const taken = IndexSet.union(counts.completed, counts.failedIndexes, IndexSet.of(running));
  return taken.missingBelow(spec.completions ?? 0);
}

/** Each index has its own back-off, and its Pod carries the number of failures before it. */
function createPerIndex(job: Job, counts: JobPodCounts, count: number, now: number): JobScale {
  const newest = new Map<number, Pod>();
  for (const pod of [...counts.failedPods].sort((a, b) => endedAt(a, now) - endedAt(b, now))) {
    const index = completionIndexOf(pod);
    if (index !== undefined) newest.set(index, pod);
  }
  const create: NewJobPod[] = [];
  let retryAfterMs: number | undefined;
  for (const index of pendingIndexes(job, counts)) {
    if (create.length === count) break;
    const last = newest.get(index);
    const failures = last ? failuresWith(job, last) : { counted: 0, ignored: 0 };
    const delay = last ? remainingMs(failures.counted + failures.ignored, endedAt(last, now), now) : 0;
    if (delay > 0) retryAfterMs = Math.min(delay, retryAfterMs ?? delay);
    else create.push({ index, failures });
  }
  return { create, discard: [], ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function failuresWith({ spec }: Job, pod: Pod): { counted: number; ignored: number } {
  const isIgnored = failureVerdict(spec.podFailurePolicy?.rules ?? [], pod).action === 'ignore';
  return {
    counted: failuresBefore(pod, INDEX_FAILURE_COUNT) + (isIgnored ? 0 : 1),
    ignored: failuresBefore(pod, INDEX_IGNORED_FAILURES) + (isIgnored ? 1 : 0),
  };
}
