/** What the Job controller does next with a Job (`pkg/controller/job/job_controller.go` syncJob). */
import {
  finishedAs,
  isIndexed,
  JOB_TRACKING,
  type Job,
  type JobStatus,
} from '../../../shared/kube/jobs/job-types.js';
import { findCondition, withCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { untilEndMs } from './job-limits.js';
import type { NewJobPod } from './job-pod.js';
import { countPods, type JobPodCounts } from './job-pod-counts.js';
import { trackPods } from './job-pod-tracking.js';
import { scaleJob } from './job-scale.js';
import { jobVerdict } from './job-verdict.js';

interface JobEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** Steps in the order in which the controller performs them. */
export interface JobStep {
  status: JobStatus;
  events: JobEvent[];
  /** Pods that are counted or never will be. Their finalizer is removed after the status is stored. */
  release: readonly Pod[];
  /** Active Pods of a Job that has succeeded or failed. */
  remove: readonly Pod[];
  /**
   * Active Pods that the Job no longer wants. Their finalizer is removed before they are deleted. Otherwise they count
   * as failed, and a Job that is suspended often enough exceeds its backoffLimit.
   */
  discard: readonly Pod[];
  create: readonly NewJobPod[];
  /** Delay until the next reconcile, in ms. Undefined: a change causes it. */
  requeueAfterMs?: number;
  /** No Pod is created for this time, in ms: one has failed. */
  backoffMs?: number;
  /** The time to live has passed: delete the Job. */
  isExpired?: true;
}

/**
 * Decides from one consistent view of the Job and its Pods. `now` in ms since the epoch, `heldMs`: rest of the last
 * `backoffMs`.
 */
export function jobStep(job: Job, pods: readonly Pod[], now: number, heldMs = 0): JobStep {
  if (finishedAs(job)) return finishedStep(job, pods, now);
  const counts = countPods(job, pods);
  const startTime = job.status?.startTime ?? (job.spec.suspend ? undefined : toTimestamp(now));
  const verdict = jobVerdict(job, { counts, pods, startTime, now });
  const tracked = trackPods(job, pods, counts, verdict?.target);
  const step: JobStep = {
    status: { ...statusOf(job, counts, tracked), ...(startTime !== undefined && { startTime }) },
    events: [],
    release: tracked.release,
    remove: [],
    discard: [],
    create: [],
  };
  if (verdict) {
    setCondition(step.status, verdict.target, verdict.reason, verdict.message, now);
    step.remove = counts.active;
    finishIfPossible(step, job, counts, now);
    return step;
  }
  // The garbage collector deletes the Pods of a Job that is being deleted, unless they are orphaned.
  if (job.metadata.deletionTimestamp) return step;
  const scaled = scaleJob(job, counts, now, heldMs);
  step.discard = scaled.discard;
  step.create = scaled.create;
  if (scaled.retryAfterMs !== undefined) step.backoffMs = scaled.retryAfterMs;
  const isSuspended = job.spec.suspend === true;
  const deadline = isSuspended ? undefined : untilEndMs(startTime, job.spec.activeDeadlineSeconds, now);
  const delays = [deadline, scaled.retryAfterMs].filter((delay) => delay !== undefined);
  if (delays.length > 0) step.requeueAfterMs = Math.max(1, Math.min(...delays));
  suspendOrResume(step, isSuspended, now);
  return step;
}

/** A finished Job keeps its status. Pods that end later only lose their finalizer. */
function finishedStep(job: Job, pods: readonly Pod[], now: number): JobStep {
  const { conditions = [] } = job.status ?? {};
  const end = conditions.find(
    ({ type, status }) => ['Complete', 'Failed'].includes(type) && status === 'True',
  );
  const until = untilEndMs(end?.lastTransitionTime ?? undefined, job.spec.ttlSecondsAfterFinished, now);
  return {
    status: job.status ?? {},
    events: [],
    release: pods.filter((pod) => pod.metadata.finalizers?.includes(JOB_TRACKING)),
    remove: [],
    discard: [],
    create: [],
    ...(until !== undefined && until > 0 && { requeueAfterMs: until }),
    ...(until !== undefined && until <= 0 && !job.metadata.deletionTimestamp && { isExpired: true as const }),
  };
}

function statusOf(
  { spec, status = {} }: Job,
  counts: JobPodCounts,
  tracked: ReturnType<typeof trackPods>,
): JobStatus {
  const { uncountedTerminatedPods: _old, ...rest } = status;
  const { succeeded = [], failed = [] } = tracked.uncounted;
  const next: JobStatus = {
    ...rest,
    ready: counts.ready,
    terminating: counts.ending.length,
    uncountedTerminatedPods: {
      ...(succeeded.length > 0 && { succeeded }),
      ...(failed.length > 0 && { failed }),
    },
  };
  setCounter(next, 'active', counts.active.length);
  setCounter(next, 'succeeded', tracked.succeeded);
  setCounter(next, 'failed', tracked.failed);
  if (isIndexed(spec)) next.completedIndexes = counts.completed.toString();
  if (!next.completedIndexes) delete next.completedIndexes;
  if (spec.backoffLimitPerIndex !== undefined) next.failedIndexes = counts.failedIndexes.toString();
  return next;
}

/** Upstream omits counters that are zero. */
function setCounter(status: JobStatus, key: 'active' | 'succeeded' | 'failed', count: number): void {
  if (count > 0) status[key] = count;
  else delete status[key];
}

function setCondition(status: JobStatus, type: string, reason: string, message: string, now: number): void {
  if (findCondition(status.conditions, type)?.status === 'True') return;
  const at = toTimestamp(now);
  const next = { type, status: 'True' as const, reason, message, lastProbeTime: at };
  status.conditions = withCondition(status.conditions, next, at);
}

/**
 * The terminal condition waits until every Pod has ended and is counted, so that the counters are final. An indexed Job
 * does not list its successes as uncounted: `finishedStep` also releases Pods that still have the finalizer.
 */
function finishIfPossible(step: JobStep, { spec }: Job, counts: JobPodCounts, now: number): void {
  const { status } = step;
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const isRunning = counts.active.length > 0 || counts.ending.length > 0;
  if (isRunning || succeeded.length + failed.length > 0) return;
  status.startTime ??= toTimestamp(now);
  const failure = findCondition(status.conditions, 'FailureTarget');
  if (failure?.status === 'True') {
    setCondition(status, 'Failed', failure.reason ?? '', failure.message ?? '', now);
    step.events.push({ type: 'Warning', reason: failure.reason ?? '', message: failure.message ?? '' });
    return;
  }
  const success = findCondition(status.conditions, 'SuccessCriteriaMet');
  setCondition(status, 'Complete', success?.reason ?? '', success?.message ?? '', now);
  status.completionTime = toTimestamp(Math.max(now, Date.parse(status.startTime)));
  if (spec.completions !== undefined && (status.succeeded ?? 0) > spec.completions) {
    const message = 'Too many succeeded pods running after completion count reached';
    step.events.push({ type: 'Warning', reason: 'TooManySucceededPods', message });
  }
  step.events.push({ type: 'Normal', reason: 'Completed', message: 'Job completed' });
}

/** A resumed Job gets a new start, because its deadline does not count while it is suspended. */
function suspendOrResume(step: JobStep, isSuspended: boolean, now: number): void {
  const { status } = step;
  const present = findCondition(status.conditions, 'Suspended');
  const isMarked = present?.status === 'True';
  if (isSuspended === isMarked) return;
  const at = toTimestamp(now);
  const [reason, message] = isSuspended ? ['JobSuspended', 'Job suspended'] : ['JobResumed', 'Job resumed'];
  const next = {
    type: 'Suspended',
    status: isSuspended ? ('True' as const) : ('False' as const),
    reason,
    message,
  };
  status.conditions = withCondition(status.conditions, { ...next, lastProbeTime: at }, at);
  if (!isSuspended) status.startTime = at;
  step.events.push({ type: 'Normal', reason: isSuspended ? 'Suspended' : 'Resumed', message });
}
