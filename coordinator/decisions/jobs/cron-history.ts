/** The Jobs that an owner with a schedule has started: which run, which succeeded, and which are kept. */
import type { KubeObject, Timestamp } from '../../../shared/kube/objects/meta.js';

export interface CronEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** A Job or a DaemonJob. */
interface StartedJob extends KubeObject {
  status?: { startTime?: Timestamp; completionTime?: Timestamp };
}

interface JobReference {
  name?: string;
  uid?: string;
}

/** Returns the terminal condition's type, or undefined while the Job is not finished. */
type FinishedAs<T> = (job: T) => 'Complete' | 'Failed' | undefined;

interface ActiveStep<R> {
  status: { active?: R[]; lastSuccessfulTime?: Timestamp };
  events: CronEvent[];
}

/** Removes Jobs that have finished or are gone from `status.active`. */
export function updateActive<T extends StartedJob, R extends JobReference>(
  { status, events }: ActiveStep<R>,
  jobs: readonly T[],
  finishedAs: FinishedAs<T>,
): void {
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const listed = status.active ?? [];
  const active = listed.filter(({ uid, name }) => {
    const job = byUid.get(uid);
    if (!job)
      events.push({ type: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${name}` });
    const end = job && finishedAs(job);
    if (end)
      events.push({
        type: 'Normal',
        reason: 'SawCompletedJob',
        message: `Saw completed job: ${name}, condition: ${end}`,
      });
    return job !== undefined && end === undefined;
  });
  for (const job of jobs) {
    const { name, uid } = job.metadata;
    if (!finishedAs(job) && !listed.some((one) => one.uid === uid))
      events.push({
        type: 'Warning',
        reason: 'UnexpectedJob',
        message: `Saw a job that the controller did not create or forgot: ${name}`,
      });
    const end = finishedAs(job) === 'Complete' ? job.status?.completionTime : undefined;
    if (end && Date.parse(end) > (Date.parse(status.lastSuccessfulTime ?? '') || 0))
      status.lastSuccessfulTime = end;
  }
  if (active.length > 0) status.active = active;
  else delete status.active;
}

interface Limits {
  spec: { successfulJobsHistoryLimit?: number; failedJobsHistoryLimit?: number };
}

/** Returns the oldest finished Jobs above the limits. */
export function surplusHistory<T extends StartedJob>(
  { spec }: Limits,
  jobs: readonly T[],
  finishedAs: FinishedAs<T>,
): T[] {
  const limits = { Complete: spec.successfulJobsHistoryLimit, Failed: spec.failedJobsHistoryLimit };
  return (['Complete', 'Failed'] as const).flatMap((end) => {
    const limit = limits[end];
    const finished = jobs.filter((job) => finishedAs(job) === end && !job.metadata.deletionTimestamp);
    if (limit === undefined || finished.length <= limit) return [];
    return finished.sort(oldestFirst).slice(0, finished.length - limit);
  });
}

/** A Job that never started is the newest (`byJobStartTime`). */
function oldestFirst(a: StartedJob, b: StartedJob): number {
  const start = ({ status }: StartedJob) => Date.parse(status?.startTime ?? '') || Number.MAX_SAFE_INTEGER;
  return start(a) - start(b) || (a.metadata.name < b.metadata.name ? -1 : 1);
}
