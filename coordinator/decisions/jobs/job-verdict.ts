/** Whether a Job has succeeded or failed (`pkg/controller/job/{job_controller,success_policy}.go`). */
import { IndexSet } from '../../../shared/kube/jobs/index-set.js';
import { isIndexed, type Job } from '../../../shared/kube/jobs/job-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { exceedsRestarts, untilEndMs } from './job-limits.js';
import type { JobPodCounts } from './job-pod-counts.js';

/** The interim condition of a Job that ends. */
export type JobTarget = 'FailureTarget' | 'SuccessCriteriaMet';

interface JobVerdict {
  target: JobTarget;
  reason: string;
  message: string;
}

/** What the verdict depends on, besides the Job. */
interface JobFacts {
  counts: JobPodCounts;
  pods: readonly Pod[];
  /** Undefined: the Job has not started. */
  startTime: string | undefined;
  now: number;
}

const fail = (reason: string, message: string): JobVerdict => ({ target: 'FailureTarget', reason, message });

/** Returns undefined while the Job goes on. A verdict that is stored stays. */
export function jobVerdict(job: Job, facts: JobFacts): JobVerdict | undefined {
  for (const target of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const { status: value, reason = '', message = '' } = findCondition(job.status?.conditions, target) ?? {};
    if (value === 'True') return { target, reason, message };
  }
  return failureOf(job, facts) ?? successOf(job, facts.counts);
}

function failureOf({ spec }: Job, { counts, pods, startTime, now }: JobFacts): JobVerdict | undefined {
  const { backoffLimit = 6, maxFailedIndexes, completions = 0 } = spec;
  if (counts.failJob !== undefined) return fail('PodFailurePolicy', counts.failJob);
  const restarts = spec.template.spec.restartPolicy === 'OnFailure' && exceedsRestarts(pods, backoffLimit);
  if (counts.totalFailed > backoffLimit || restarts)
    return fail('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  const left = spec.suspend ? undefined : untilEndMs(startTime, spec.activeDeadlineSeconds, now);
  if (left !== undefined && left <= 0)
    return fail('DeadlineExceeded', 'Job was active longer than specified deadline');
  const failedIndexes = counts.failedIndexes.size;
  if (spec.backoffLimitPerIndex === undefined || failedIndexes === 0) return undefined;
  if (maxFailedIndexes !== undefined && failedIndexes > maxFailedIndexes)
    return fail(
      'MaxFailedIndexesExceeded',
      'Job has exceeded the specified maximal number of failed indexes',
    );
  return failedIndexes + counts.completed.size >= completions
    ? fail('FailedIndexes', 'Job has failed indexes')
    : undefined;
}

function successOf({ spec }: Job, counts: JobPodCounts): JobVerdict | undefined {
  const target = 'SuccessCriteriaMet';
  const rule = isIndexed(spec) ? matchedRule(spec, counts.completed) : undefined;
  if (rule !== undefined)
    return { target, reason: 'SuccessPolicy', message: `Matched rules at index ${rule}` };
  // Without completions, the first success is enough.
  const reached = counts.totalSucceeded >= (spec.completions ?? 1) && counts.active.length === 0;
  if (!reached) return undefined;
  return { target, reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };
}

/** Returns the number of the first rule that the completed indexes meet. Without a completed index, none is met. */
function matchedRule(
  { successPolicy, completions = 0 }: Job['spec'],
  completed: IndexSet,
): number | undefined {
  if (completed.size === 0) return undefined;
  const found = (successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined)
      return succeededCount !== undefined && completed.size >= succeededCount;
    const wanted = IndexSet.parse(succeededIndexes, completions);
    // A rule with an empty list never matches; otherwise the Job would succeed with its first index.
    if (wanted.size === 0) return false;
    return wanted.intersection(completed).size >= Math.min(succeededCount ?? wanted.size, wanted.size);
  });
  return found < 0 ? undefined : found;
}
