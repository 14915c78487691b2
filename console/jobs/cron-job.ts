/** fleet.everynode.dev/v1 CronDaemonJob, as far as the console shows it. */
import type { DaemonJobSpec } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import type { KubeObject, Timestamp } from '../../shared/kube/objects/meta.js';

export const CRON_JOBS = 'crondaemonjobs';

export interface CronDaemonJob extends KubeObject {
  spec: {
    schedule: string;
    /** Absent: the time zone of each host. */
    timeZone?: string;
    suspend?: boolean;
    concurrencyPolicy?: string;
    jobTemplate: { spec: DaemonJobSpec };
  };
  status?: {
    active?: readonly { name?: string }[];
    lastScheduleTime?: Timestamp;
    nextScheduleTime?: Timestamp;
  };
}
