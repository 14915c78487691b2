/** When a CronJob starts its next Job (`pkg/controller/cronjob/{cronjob_controllerv2,utils}.go`). */
import { lastMatch, matchesMoreThan, nextMatch } from '../../../shared/calendar/cron-matches.js';
import { parseSchedule, scheduleProblems } from '../../../shared/calendar/job-schedule.js';
import { timeZone } from '../../../shared/calendar/time-zone.js';
import { type CronJob, finishedAs, type Job } from '../../../shared/kube/jobs/job-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { type CronEvent, surplusHistory, updateActive } from './cron-history.js';

/** Above this many missed times, upstream reports a probable clock error. */
const MANY_MISSED = 100;

export interface CronStep {
  status: NonNullable<CronJob['status']>;
  events: CronEvent[];
  /** Time in ms for which a Job is started now. */
  due?: number;
  /** Active Jobs that the new one replaces, and finished Jobs above the history limits. */
  remove: Job[];
  /** Delay until the next time of the schedule. Undefined: there is none. */
  requeueAfterMs?: number;
}

/** Decides from the CronJob and the Jobs that it owns. `now` in ms since the epoch. */
export function cronStep(cronJob: CronJob, jobs: readonly Job[], now: number): CronStep {
  const step: CronStep = {
    status: { ...cronJob.status },
    events: [],
    remove: surplusHistory(cronJob, jobs, finishedAs),
  };
  updateActive(step, jobs, finishedAs);
  const { spec, metadata } = cronJob;
  if (metadata.deletionTimestamp) return step;
  const zone = timeZone(spec.timeZone ?? 'UTC');
  if (!zone)
    return warn(
      step,
      'UnknownTimeZone',
      `invalid timeZone: ${JSON.stringify(spec.timeZone)}: unknown time zone ${spec.timeZone}`,
    );
  if (spec.suspend) return step;
  const [problem] = scheduleProblems(spec.schedule);
  if (problem)
    return warn(
      step,
      'UnparseableSchedule',
      `unparseable schedule: ${JSON.stringify(spec.schedule)} : ${problem}`,
    );
  const pattern = parseSchedule(spec.schedule);
  const next = nextMatch(pattern, zone, now);
  if (next !== undefined) step.requeueAfterMs = next - now;
  const since = searchedSince(step, cronJob, now);
  const due = lastMatch(pattern, zone, now, Math.max(0, now - since));
  if (due === undefined || due <= since) return step;
  if (matchesMoreThan(MANY_MISSED, pattern, zone, since, now)) {
    const text =
      'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
    warn(step, 'TooManyMissedTimes', text);
  }
  startAt(step, cronJob, jobs, due);
  return step;
}

function warn(step: CronStep, reason: string, message: string): CronStep {
  step.events.push({ type: 'Warning', reason, message });
  return step;
}

/**
 * Returns the time after which due times count. A last time in the future was stored before the clock was set back: it
 * is moved to now, or the CronJob would start nothing until the clock reaches it again.
 */
function searchedSince(step: CronStep, { metadata, spec, status }: CronJob, now: number): number {
  const last = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '') || now;
  if (last > now + 1_000) step.status.lastScheduleTime = toTimestamp(now);
  const deadline = spec.startingDeadlineSeconds;
  return Math.max(Math.min(last, now), deadline === undefined ? 0 : now - deadline * 1000 - 1);
}

function startAt(step: CronStep, { spec }: CronJob, jobs: readonly Job[], due: number): void {
  const active = new Set((step.status.active ?? []).map(({ uid }) => uid));
  if (active.size > 0 && spec.concurrencyPolicy === 'Forbid') {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    step.events.push({ type: 'Normal', reason: 'JobAlreadyActive', message });
    return;
  }
  if (spec.concurrencyPolicy === 'Replace')
    step.remove.push(...jobs.filter(({ metadata }) => active.has(metadata.uid)));
  step.due = due;
}

/** Returns the Job for a due time. Its name is the same after a restart, so it is created only once. */
export function jobOfSchedule(cronJob: CronJob, due: number): Job {
  const { metadata, spec } = cronJob;
  const { name, namespace, uid = '' } = metadata;
  const template = spec.jobTemplate;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${name}-${Math.floor(due / 60_000)}`,
      ...(namespace && { namespace }),
      ...(template.metadata?.labels && { labels: { ...template.metadata.labels } }),
      annotations: {
        ...template.metadata?.annotations,
        'batch.kubernetes.io/cronjob-scheduled-timestamp': localTimestamp(due, spec.timeZone),
      },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: template.spec,
  };
}

/** Returns the time with the offset of the CronJob's zone. Jobs derive the day for which they run from it. */
function localTimestamp(at: number, zoneName: string | undefined): string {
  const minutes = Math.round(((timeZone(zoneName ?? 'UTC')?.wallAt(at) ?? at) - at) / 60_000);
  if (minutes === 0) return toTimestamp(at);
  const text = (value: number) => String(value).padStart(2, '0');
  const size = Math.abs(minutes);
  const offset = `${minutes < 0 ? '-' : '+'}${text(Math.floor(size / 60))}:${text(size % 60)}`;
  return toTimestamp(at + minutes * 60_000).replace('Z', offset);
}
