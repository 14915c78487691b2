/** Which Pods of a Job are created and deleted (`pkg/controller/job/job_controller.go` manageJob). */
import { IndexSet } from '../../../shared/kube/jobs/index-set.js';
import {
  INDEX_FAILURE_COUNT,
  INDEX_IGNORED_FAILURES,
  isIndexed,
  type Job,
} from '../../../shared/kube/jobs/job-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { backoffRemainingMs, endedAt, remainingMs } from './job-limits.js';
import { completionIndexOf, failuresBefore, type NewJobPod } from './job-pod.js';
import { allFailuresBefore, type JobPodCounts, policyOf } from './job-pod-counts.js';

/** Upstream's bound for one reconcile. */
const MAX_WRITES = 500;

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
  const excess = Math.max(0, active.length - wanted - surplus.size);
  if (surplus.size + excess > 0) {
    return { create: [], discard: [...surplus, ...rest.slice(0, excess)].slice(0, MAX_WRITES) };
  }
  const waiting = job.spec.podReplacementPolicy === 'Failed' ? counts.ending.length : 0;
  const lacking = Math.min(wanted - waiting - active.length, MAX_WRITES);
  if (lacking <= 0) return { create: [], discard: [] };
  const indexes = isIndexed(job.spec) ? firstPending(job, counts, lacking) : [];
  if (job.spec.backoffLimitPerIndex !== undefined) return createPerIndex(job, counts, indexes, now);
  const delay = Math.max(heldMs, backoffRemainingMs(counts.failedPods, counts.succeededPods, now));
  if (delay > 0) return { create: [], discard: [], retryAfterMs: delay };
  const create = isIndexed(job.spec)
    ? indexes.map((index) => ({ index }))
    : Array.from({ length: lacking }, () => ({}));
  return { create, discard: [] };
}

/** Without completions, the first success stops the creation of Pods. */
function wantedActive({ spec }: Job, counts: JobPodCounts): number {
  const { parallelism = 1, completions } = spec;
  if (completions === undefined) return counts.totalSucceeded > 0 ? counts.active.length : parallelism;
  return Math.max(0, Math.min(completions - counts.totalSucceeded, parallelism));
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
  const [first, second] = [progressOf(a), progressOf(b)];
  for (const [at, value] of first.entries()) {
    const difference = value - (second[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/** An unknown time counts as the youngest. */
const youngestFirst = (text: string | null | undefined) =>
  -(Date.parse(text ?? '') || Number.MAX_SAFE_INTEGER);

function progressOf({ metadata, spec, status }: Pod): number[] {
  const ready = findCondition(status?.conditions, 'Ready');
  const isReady = ready?.status === 'True';
  const restarts = (status?.containerStatuses ?? []).map(({ restartCount }) => restartCount);
  return [
    spec.nodeName ? 1 : 0,
    PHASES[status?.phase ?? ''] ?? 0,
    isReady ? 1 : 0,
    isReady ? youngestFirst(ready.lastTransitionTime) : 0,
    -Math.max(0, ...restarts),
    youngestFirst(metadata.creationTimestamp),
  ];
}

/**
 * Returns the first indexes that have neither ended nor a Pod. It stops early: a list of the indexes of a Job with
 * 2,147,483,647 completions would fill the memory.
 */
function firstPending({ spec }: Job, counts: JobPodCounts, count: number): number[] {
  const { active, ending, completed, failedIndexes } = counts;
  // Otherwise the second Pod of an index would run next to the first one.
  const present = spec.podReplacementPolicy === 'Failed' ? [...active, ...ending] : active;
  const running = present.map(completionIndexOf).filter((index) => index !== undefined);
  const taken = IndexSet.union(completed, failedIndexes, IndexSet.of(running));
  const indexes: number[] = [];
  for (const index of taken.missingBelow(spec.completions ?? 0)) {
    if (indexes.length === count) break;
    indexes.push(index);
  }
  return indexes;
}

/**
 * Each index has its own back-off, and its Pod carries the number of failures before it. An index that waits keeps its
 * place in the parallelism.
 */
function createPerIndex(
  job: Job,
  { replaced }: JobPodCounts,
  indexes: readonly number[],
  now: number,
): JobScale {
  const create: NewJobPod[] = [];
  let retryAfterMs: number | undefined;
  for (const index of indexes) {
    const last = replaced.get(index);
    const delay = last ? remainingMs(allFailuresBefore(last) + 1, endedAt(last), now) : 0;
    if (delay > 0) retryAfterMs = Math.min(delay, retryAfterMs ?? delay);
    else create.push({ index, failures: last ? failuresWith(job, last) : { counted: 0, ignored: 0 } });
  }
  return { create, discard: [], ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function failuresWith(job: Job, pod: Pod): { counted: number; ignored: number } {
  const isIgnored = policyOf(pod, job).action === 'ignore';
  return {
    counted: failuresBefore(pod, INDEX_FAILURE_COUNT) + (isIgnored ? 0 : 1),
    ignored: failuresBefore(pod, INDEX_IGNORED_FAILURES) + (isIgnored ? 1 : 0),
  };
}
