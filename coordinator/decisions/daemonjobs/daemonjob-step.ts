/** What a DaemonJob does next as a whole, from the counts of its hosts. */
import {
  type DaemonJob,
  type DaemonJobRollout,
  type DaemonJobStatus,
  daemonJobFinishedAs,
  runOf,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { findCondition, isConditionTrue, withCondition } from '../../../shared/kube/objects/conditions.js';
import { countText, type Timestamp, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { untilEndMs } from '../jobs/job-limits.js';
import { scaledAmount } from '../rollouts/wave-plan.js';
import type { HostCounts, RunEnd } from './daemonjob-host.js';
import type { WaveVerdict } from './daemonjob-waves.js';
import { instantOnHost, startAtOf } from './host-start.js';

interface JobEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

export interface DaemonJobStep {
  status: DaemonJobStatus;
  events: readonly JobEvent[];
  /** Hosts that may start now. */
  slots: number;
  /** Delay until the next reconcile, in ms. Undefined: a change causes it. */
  requeueAfterMs?: number;
  /** The time to live has passed: delete the job. */
  isExpired: boolean;
}

const DEADLINE = 'DeadlineExceeded';
const BUDGET = 'MaxFailedHostsExceeded';

/** Returns how the current run ends early or has ended, or undefined while hosts may start. */
export function runEnd(job: DaemonJob, now: number): RunEnd | undefined {
  const { status, spec } = job;
  if ((status?.run ?? 1) === runOf(job)) {
    const target = findCondition(status?.conditions, 'FailureTarget');
    if (target?.status === 'True') {
      const { reason = '', message = '' } = target;
      return { kind: reason === DEADLINE ? 'Stopped' : 'Closed', reason, message };
    }
    if (daemonJobFinishedAs(job))
      return { kind: 'Closed', reason: 'JobFinished', message: 'The job had ended before the host started.' };
  }
  const at = spec.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(spec.until);
  if (now < at) return undefined;
  return { kind: 'Closed', reason: 'UntilPassed', message: `The host did not start before ${spec.until}.` };
}

/**
 * `counts` are complete: each host is counted. `granted`: hosts that got a slot and are not active yet. `waves`: the verdict
 * about waves, if the job has any.
 */
export function daemonJobStep(
  job: DaemonJob,
  counts: HostCounts,
  granted: number,
  now: number,
  waves?: WaveVerdict,
): DaemonJobStep {
  const status = statusOf(job, counts, now);
  const finished = daemonJobFinishedAs(job);
  if (waves && !finished) status.rollout = waves.rollout;
  const events: JobEvent[] = [];
  if (finished) return { status, events, slots: 0, ...expiry(job, now) };
  suspendOrResume(job, status, events, now);
  const end = runEnd({ ...job, status }, now) ?? failureTarget(job, status, counts, now);
  const isOpen = counts.Active + counts.Assigned + counts.Offline + counts.Ready + counts.Waiting > 0;
  const isDue = end !== undefined || mayEnd(job, counts, now);
  if (!isOpen && isDue) finish(status, counts, events, now);
  const mayStart = !end && !job.spec.suspend && !job.metadata.deletionTimestamp;
  const delay = isOpen || !isDue ? nextChangeMs(job, status, now, waves?.requeueAt) : undefined;
  return {
    status,
    events,
    slots: mayStart ? Math.max(0, slotsOf(job, counts) - counts.Active - counts.Assigned - granted) : 0,
    ...(delay !== undefined && { requeueAfterMs: delay }),
    isExpired: false,
  };
}

function slotsOf({ spec }: DaemonJob, counts: HostCounts): number {
  return scaledAmount(spec.parallelism ?? '100%', total(counts), Math.ceil);
}

function total(counts: HostCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Without hosts a job with a start time waits for it: hosts may join until then. */
function mayEnd(job: DaemonJob, counts: HostCounts, now: number): boolean {
  if (job.spec.until !== undefined) return false;
  const startAt = startAtOf(job);
  if (startAt === undefined) return !job.spec.suspend;
  return total(counts) > 0 || now >= instantOnHost(startAt, undefined);
}

function hasBegun(counts: HostCounts): boolean {
  return counts.Active + counts.Succeeded + counts.Failed + counts.Missed > 0;
}

/** The status of a new run keeps nothing of the last one. */
function statusOf(job: DaemonJob, counts: HostCounts, now: number): DaemonJobStatus {
  const run = runOf(job);
  const isSame = (job.status?.run ?? run) === run;
  const { startTime, completionTime, conditions, rollout } = isSame ? (job.status ?? {}) : {};
  const isIdle = job.spec.suspend || (startAtOf(job) !== undefined && !hasBegun(counts));
  const started = startTime ?? (isIdle ? undefined : toTimestamp(now));
  return {
    ...(job.metadata.generation !== undefined && { observedGeneration: job.metadata.generation }),
    run,
    ...(started && { startTime: started }),
    ...(completionTime && { completionTime }),
    ...(conditions && { conditions }),
    ...(rollout && { rollout }),
    hosts: total(counts),
    active: counts.Active,
    succeeded: counts.Succeeded,
    failed: counts.Failed,
    missed: counts.Missed,
    offline: counts.Offline,
    waiting: counts.Ready + counts.Waiting + counts.Assigned,
  };
}

/** Stores why the run stops, so that a clock that is set back does not restart it. */
function failureTarget(
  job: DaemonJob,
  status: DaemonJobStatus,
  counts: HostCounts,
  now: number,
): RunEnd | undefined {
  const { maxFailed, activeDeadlineSeconds, suspend } = job.spec;
  const left = suspend ? undefined : untilEndMs(status.startTime, activeDeadlineSeconds, now);
  const allowed = maxFailed === undefined ? undefined : scaledAmount(maxFailed, total(counts), Math.floor);
  let end: RunEnd | undefined;
  const budget = status.rollout?.failure;
  if (left !== undefined && left <= 0)
    end = { kind: 'Stopped', reason: DEADLINE, message: 'Job was active longer than specified deadline' };
  else if (budget !== undefined) end = { kind: 'Closed', reason: BUDGET, message: budget };
  else if (allowed !== undefined && counts.Failed > allowed) {
    const text = countText(counts.Failed, 'host has failed', 'hosts have failed');
    end = { kind: 'Closed', reason: BUDGET, message: `${text}, ${allowed} may` };
  }
  if (end) setCondition(status, 'FailureTarget', end.reason, end.message, now);
  return end;
}

function finish(status: DaemonJobStatus, counts: HostCounts, events: JobEvent[], now: number): void {
  const target = findCondition(status.conditions, 'FailureTarget');
  status.completionTime = toTimestamp(Math.max(now, Date.parse(status.startTime ?? '') || now));
  if (status.rollout) status.rollout = endedRollout(status.rollout, counts, status.completionTime);
  if (counts.Failed + counts.Missed === 0) {
    setCondition(status, 'Complete', 'HostsSucceeded', 'All hosts succeeded', now);
    events.push({ type: 'Normal', reason: 'Completed', message: 'Job completed' });
    return;
  }
  const sums = `${countText(counts.Failed, 'host')} failed, ${countText(counts.Missed, 'host')} missed it`;
  const reason = target?.status === 'True' ? (target.reason ?? '') : 'FailedHosts';
  const message = target?.status === 'True' ? `${target.message ?? ''}; ${sums}` : sums;
  setCondition(status, 'Failed', reason, message, now);
  events.push({ type: 'Warning', reason, message });
}

/** A job can end while a wave without hosts awaits an approval, or soaks. Nothing is left that an operator could open. */
function endedRollout(
  { soakingSince: _, ...rollout }: DaemonJobRollout,
  { Failed, Missed }: HostCounts,
  completionTime: Timestamp,
): DaemonJobRollout {
  if (rollout.failure !== undefined || rollout.phase === 'Completed') return rollout;
  if (Failed + Missed > 0) return { ...rollout, phase: 'Failed', message: 'the job has ended' };
  return { ...rollout, phase: 'Completed', message: 'the job is complete', completionTime };
}

function setCondition(status: DaemonJobStatus, type: string, reason: string, message: string, now: number) {
  const at = toTimestamp(now);
  status.conditions = withCondition(status.conditions, { type, status: 'True', reason, message }, at);
}

/** A resumed job gets a new start, because its deadline does not count while it is suspended. */
function suspendOrResume(
  { spec }: DaemonJob,
  status: DaemonJobStatus,
  events: JobEvent[],
  now: number,
): void {
  const isSuspended = spec.suspend === true;
  if (isSuspended === isConditionTrue(status.conditions, 'Suspended')) return;
  const at = toTimestamp(now);
  const [reason, message] = isSuspended ? ['JobSuspended', 'Job suspended'] : ['JobResumed', 'Job resumed'];
  const next = { type: 'Suspended', status: isSuspended ? 'True' : 'False', reason, message } as const;
  status.conditions = withCondition(status.conditions, next, at);
  if (!isSuspended && status.startTime !== undefined) status.startTime = at;
  events.push({ type: 'Normal', reason: isSuspended ? 'Suspended' : 'Resumed', message });
}

function nextChangeMs(
  job: DaemonJob,
  status: DaemonJobStatus,
  now: number,
  waveAt: number | undefined,
): number | undefined {
  const { spec } = job;
  const startAt = startAtOf(job);
  const delays = [
    waveAt === undefined ? undefined : waveAt - now,
    spec.suspend ? undefined : untilEndMs(status.startTime, spec.activeDeadlineSeconds, now),
    spec.until === undefined ? undefined : Date.parse(spec.until) - now,
    startAt === undefined ? undefined : instantOnHost(startAt, undefined) - now,
  ].filter((delay) => delay !== undefined && delay > 0);
  return delays.length > 0 ? Math.max(1, Math.min(...(delays as number[]))) : undefined;
}

function expiry({ spec, status, metadata }: DaemonJob, now: number) {
  const left = untilEndMs(status?.completionTime, spec.ttlSecondsAfterFinished, now);
  return {
    ...(left !== undefined && left > 0 && { requeueAfterMs: left }),
    isExpired: left !== undefined && left <= 0 && !metadata.deletionTimestamp,
  };
}
