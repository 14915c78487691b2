/** Validation of fields that a CronJob and a CronDaemonJob have (`pkg/apis/batch/validation/validation.go`). */

import { scheduleProblems } from '../../../shared/calendar/job-schedule.js';
import { timeZone } from '../../../shared/calendar/time-zone.js';
import { CONCURRENCY_POLICIES } from '../../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { FieldError } from '../kind.js';
import { validateNonNegative } from '../pods/spec-validation/value-validation.js';
import { invalidValue, notSupported, required } from '../validation/field-error.js';

const POLICIES: readonly string[] = CONCURRENCY_POLICIES;
/** The name of a Job is the name of its owner and 11 more characters. Labels have at most 63. */
const MAX_NAME = 52;

interface CronFields {
  schedule?: string;
  timeZone?: string;
  startingDeadlineSeconds?: number;
  concurrencyPolicy?: string;
  successfulJobsHistoryLimit?: number;
  failedJobsHistoryLimit?: number;
}

export function validateCronFields(spec: CronFields): FieldError[] {
  const { concurrencyPolicy: policy = '' } = spec;
  return [
    ...validateSchedule(spec.schedule, 'spec.schedule'),
    ...validateNonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'),
    ...validateTimeZone(spec.timeZone, 'spec.timeZone'),
    ...(POLICIES.includes(policy) ? [] : [notSupported('spec.concurrencyPolicy', policy, POLICIES)]),
    ...validateNonNegative(spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit'),
    ...validateNonNegative(spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit'),
  ];
}

function validateSchedule(schedule: string | undefined, field: string): FieldError[] {
  if (!schedule) return [required(field)];
  if (schedule.includes('TZ'))
    return [
      invalidValue(field, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'),
    ];
  return scheduleProblems(schedule).map((problem) => invalidValue(field, schedule, problem));
}

function validateTimeZone(name: string | undefined, field: string): FieldError[] {
  if (name === undefined) return [];
  if (name === '') return [invalidValue(field, name, 'timeZone must be nil or non-empty string')];
  if (name.toLowerCase() === 'local') {
    const detail = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    return [invalidValue(field, name, detail)];
  }
  return timeZone(name) ? [] : [invalidValue(field, name, `unknown time zone ${name}`)];
}

export function validateCronName({ metadata: { name } }: KubeObject): FieldError[] {
  if (name.length <= MAX_NAME) return [];
  return [invalidValue('metadata.name', name, `must be no more than ${MAX_NAME} characters`)];
}
