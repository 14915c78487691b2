/** fleet.everynode.dev/v1 CronDaemonJob: creates DaemonJobs at the times of a schedule, ahead of time. */
import type { ObjectReference } from '../objects/event-types.js';
import type { KubeObject, ObjectMeta, Timestamp } from '../objects/meta.js';
import type { DaemonJobSpec } from './daemonjob-types.js';

/** What a host does with a due run while an earlier run of the same CronDaemonJob has not ended on this host. */
export const CONCURRENCY_POLICIES = ['Allow', 'Forbid', 'Replace'] as const;

export interface CronDaemonJobSpec {
  /** Five fields, or a name such as `@daily`. */
  schedule: string;
  /** Absent: each host's own time zone. */
  timeZone?: string;
  /** How late a host may start, in seconds. Never later than the next time of the schedule. */
  startingDeadlineSeconds?: number;
  concurrencyPolicy?: (typeof CONCURRENCY_POLICIES)[number];
  suspend?: boolean;
  successfulJobsHistoryLimit?: number;
  failedJobsHistoryLimit?: number;
  jobTemplate: { metadata?: Partial<ObjectMeta>; spec: DaemonJobSpec };
}

/** Times are those of the first time zone in which the run is due. */
export interface CronDaemonJobStatus {
  /** DaemonJobs that have begun and have not finished. */
  active?: ObjectReference[];
  lastScheduleTime?: Timestamp;
  lastSuccessfulTime?: Timestamp;
  /** When the next run begins. Its DaemonJob exists already. */
  nextScheduleTime?: Timestamp;
}

export interface CronDaemonJob extends KubeObject {
  spec: CronDaemonJobSpec;
  status?: CronDaemonJobStatus;
}
