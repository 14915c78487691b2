/** batch/v1 CronJob. */
import { scheduleProblems } from '../../../shared/calendar/job-schedule.js';
import { timeZone } from '../../../shared/calendar/time-zone.js';
import type { CronJob } from '../../../shared/kube/jobs/job-types.js';
import { ageText } from '../duration-text.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { validateNonNegative } from '../pods/spec-validation/value-validation.js';
import { AGE_COLUMN, column, labelsText, NAME_COLUMN, NONE, wideColumn } from '../table-column.js';
import { invalidValue, notSupported, required } from '../validation/field-error.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import { containerImages, containerNames, jobWarnings, setJobSpecDefaults } from './job-kind.js';
import { validateJobSpec } from './job-validation.js';

const POLICIES = ['Allow', 'Forbid', 'Replace'];
/** A Job's name is the CronJob's name and 11 more characters. Labels have at most 63. */
const MAX_NAME = 52;

function setDefaults(cronJob: CronJob): void {
  cronJob.spec ??= { schedule: '', jobTemplate: { spec: { template: { spec: { containers: [] } } } } };
  const { spec } = cronJob;
  spec.jobTemplate ??= { spec: { template: { spec: { containers: [] } } } };
  spec.jobTemplate.spec ??= { template: { spec: { containers: [] } } };
  setJobTemplateDefaults(cronJob);
  spec.concurrencyPolicy ||= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
}

/** Upstream sets only the defaults of the Pods in the template. Those of the Job are set when it is created. */
function setJobTemplateDefaults({ spec }: CronJob): void {
  const { template } = spec.jobTemplate.spec;
  const whole = { template };
  setJobSpecDefaults(whole);
  spec.jobTemplate.spec.template = whole.template;
}

function prepareForCreate(cronJob: CronJob): void {
  cronJob.status = {};
  cronJob.metadata.generation = 1;
}

function prepareForUpdate(next: CronJob, current: CronJob): void {
  next.status = current.status ?? {};
  const changed = !semanticallyEqual(next.spec, current.spec);
  next.metadata.generation = (current.metadata.generation ?? 0) + (changed ? 1 : 0);
}

/** `pkg/apis/batch/validation/validation.go` validateCronJobSpec. */
function validateCronJob({ spec }: CronJob): FieldError[] {
  const { selector, manualSelector } = spec.jobTemplate.spec;
  const errors = [
    ...validateSchedule(spec.schedule, 'spec.schedule'),
    ...validateNonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'),
    ...validateTimeZone(spec.timeZone, 'spec.timeZone'),
    ...(POLICIES.includes(spec.concurrencyPolicy ?? '')
      ? []
      : [notSupported('spec.concurrencyPolicy', spec.concurrencyPolicy, POLICIES)]),
    ...validateJobSpec(spec.jobTemplate.spec, 'spec.jobTemplate.spec'),
    ...validateNonNegative(spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit'),
    ...validateNonNegative(spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit'),
  ];
  if (selector !== undefined)
    errors.push(
      invalidValue('spec.jobTemplate.spec.selector', selector, '`selector` will be auto-generated'),
    );
  if (manualSelector)
    errors.push(notSupported('spec.jobTemplate.spec.manualSelector', manualSelector, ['nil', 'false']));
  return errors;
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

function validateName({ metadata: { name } }: CronJob): FieldError[] {
  if (name.length <= MAX_NAME) return [];
  return [invalidValue('metadata.name', name, `must be no more than ${MAX_NAME} characters`)];
}

export const cronJobKind: Kind<CronJob> = {
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  resource: 'cronjobs',
  singular: 'cronjob',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.batch.v1.CronJob',
  subresources: { status: { group: 'batch', version: 'v1', kind: 'CronJob', verbs: STATUS_VERBS } },
  columns: [
    NAME_COLUMN,
    column('Schedule', 'string', 'When its Jobs start.', ({ spec }) => spec.schedule),
    column('Timezone', 'string', 'Time zone of the schedule.', ({ spec }) => spec.timeZone ?? NONE),
    column('Suspend', 'string', 'Whether it starts no more Jobs.', ({ spec }) =>
      spec.suspend ? 'True' : 'False',
    ),
    column('Active', 'integer', 'Jobs that are running.', ({ status }) => status?.active?.length ?? 0),
    column('Last Schedule', 'string', 'Time since its last Job was due.', ({ status }, now) =>
      status?.lastScheduleTime ? ageText(status.lastScheduleTime, now) : NONE,
    ),
    AGE_COLUMN,
    wideColumn('Containers', 'string', 'Names of the containers.', ({ spec }) =>
      containerNames(spec.jobTemplate.spec.template),
    ),
    wideColumn('Images', 'string', 'Images of the containers.', ({ spec }) =>
      containerImages(spec.jobTemplate.spec.template),
    ),
    wideColumn('Selector', 'string', 'Which Pods are its own.', ({ spec }) =>
      labelsText(spec.jobTemplate.spec.selector?.matchLabels),
    ),
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults,
  prepareForCreate,
  prepareForUpdate,
  prepareForStatusUpdate: (next, current) => {
    next.spec = current.spec;
  },
  validate: validateCronJob,
  validateCreate: validateName,
  validateUpdate: () => [],
  validateStatusUpdate: () => [],
  warnings: ({ spec }) => jobWarnings(spec.jobTemplate.spec, 'spec.jobTemplate.spec.template.spec'),
};
