/** batch/v1 CronJob. */
import type { CronJob } from '../../../shared/kube/jobs/job-types.js';
import { ageText } from '../duration-text.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { AGE_COLUMN, column, labelsText, NAME_COLUMN, NONE, wideColumn } from '../table-column.js';
import { invalidValue, notSupported } from '../validation/field-error.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import { validateCronFields, validateCronName } from './cron-validation.js';
import { containerImages, containerNames, jobWarnings, setJobSpecDefaults } from './job-kind.js';
import { validateJobSpec } from './job-validation.js';

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
    ...validateCronFields(spec),
    ...validateJobSpec(spec.jobTemplate.spec, 'spec.jobTemplate.spec'),
  ];
  if (selector !== undefined)
    errors.push(
      invalidValue('spec.jobTemplate.spec.selector', selector, '`selector` will be auto-generated'),
    );
  if (manualSelector)
    errors.push(notSupported('spec.jobTemplate.spec.manualSelector', manualSelector, ['nil', 'false']));
  return errors;
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
  validateCreate: validateCronName,
  validateUpdate: () => [],
  validateStatusUpdate: () => [],
  warnings: ({ spec }) => jobWarnings(spec.jobTemplate.spec, 'spec.jobTemplate.spec.template.spec'),
};
