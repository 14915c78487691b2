/** fleet.everynode.dev/v1 CronDaemonJob. */
import type { CronDaemonJob } from '../../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { ageText } from '../duration-text.js';
import { validateCronFields, validateCronName } from '../jobs/cron-validation.js';
import { containerImages, containerNames } from '../jobs/job-kind.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { validateAtMostInt32 } from '../pods/spec-validation/value-validation.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE, wideColumn } from '../table-column.js';
import { forbidden } from '../validation/field-error.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import { daemonJobWarnings, setDaemonJobSpecDefaults } from './daemonjob-kind.js';
import { validateNoSteering } from './daemonjob-steering.js';
import { validateDaemonJobSpec } from './daemonjob-validation.js';

const JOB_SPEC = 'spec.jobTemplate.spec';

function setDefaults(cron: CronDaemonJob): void {
  cron.spec ??= { schedule: '', jobTemplate: { spec: { template: { spec: { containers: [] } } } } };
  const { spec } = cron;
  spec.jobTemplate ??= { spec: { template: { spec: { containers: [] } } } };
  spec.jobTemplate.spec ??= { template: { spec: { containers: [] } } };
  setDaemonJobSpecDefaults(spec.jobTemplate.spec);
  spec.concurrencyPolicy ||= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
}

/** The schedule decides when a DaemonJob starts and until when. A run of a schedule is never repeated as a whole. */
const OF_THE_SCHEDULE = ['startAt', 'startingDeadlineSeconds', 'until'] as const;

function validateCronDaemonJob({ spec }: CronDaemonJob): FieldError[] {
  const { spec: jobSpec } = spec.jobTemplate;
  const foreign = OF_THE_SCHEDULE.filter((key) => jobSpec[key] !== undefined);
  return [
    ...validateCronFields(spec),
    ...validateAtMostInt32(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'),
    ...validateNoSteering(spec.jobTemplate.metadata, 'spec.jobTemplate.metadata'),
    ...validateDaemonJobSpec(jobSpec, JOB_SPEC),
    ...foreign.map((key) => forbidden(`${JOB_SPEC}.${key}`, 'is set by the schedule: remove it')),
    ...(jobSpec.run === 1 ? [] : [forbidden(`${JOB_SPEC}.run`, 'is set on a DaemonJob: remove it')]),
  ];
}

export const cronDaemonJobKind: Kind<CronDaemonJob> = {
  group: FLEET_GROUP,
  version: 'v1',
  kind: 'CronDaemonJob',
  resource: 'crondaemonjobs',
  singular: 'crondaemonjob',
  shortNames: ['cdj'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'dev.everynode.fleet.v1.CronDaemonJob',
  subresources: {
    status: { group: FLEET_GROUP, version: 'v1', kind: 'CronDaemonJob', verbs: STATUS_VERBS },
  },
  columns: [
    NAME_COLUMN,
    column('Schedule', 'string', 'When its DaemonJobs start.', ({ spec }) => spec.schedule),
    column('Timezone', 'string', 'Time zone of the schedule, or that of each host.', ({ spec }) => {
      return spec.timeZone ?? '<host>';
    }),
    column('Suspend', 'string', 'Whether it starts no more runs.', ({ spec }) =>
      spec.suspend ? 'True' : 'False',
    ),
    column('Active', 'integer', 'DaemonJobs that are running.', ({ status }) => status?.active?.length ?? 0),
    column('Last Schedule', 'string', 'Time since its last run was due.', ({ status }, now) =>
      status?.lastScheduleTime ? ageText(status.lastScheduleTime, now) : NONE,
    ),
    column('Next Schedule', 'string', 'When its next run is due.', ({ status }) => {
      return status?.nextScheduleTime ?? NONE;
    }),
    AGE_COLUMN,
    wideColumn('Concurrency', 'string', 'What a host does if its last run has not ended.', ({ spec }) => {
      return spec.concurrencyPolicy ?? '';
    }),
    wideColumn('Containers', 'string', 'Names of the containers.', ({ spec }) =>
      containerNames(spec.jobTemplate.spec.template),
    ),
    wideColumn('Images', 'string', 'Images of the containers.', ({ spec }) =>
      containerImages(spec.jobTemplate.spec.template),
    ),
  ],
  fields: {},
  hasGeneration: true,
  // Names of its DaemonJobs must have no dots, because they are parts of names of Pods.
  nameRule: 'dnsLabel',
  setDefaults,
  prepareForCreate: (cron) => {
    cron.status = {};
    cron.metadata.generation = 1;
  },
  prepareForUpdate: (next, current) => {
    next.status = current.status ?? {};
    const isChanged = !semanticallyEqual(next.spec, current.spec);
    next.metadata.generation = (current.metadata.generation ?? 0) + (isChanged ? 1 : 0);
  },
  prepareForStatusUpdate: (next, current) => {
    next.spec = current.spec;
  },
  validate: validateCronDaemonJob,
  validateCreate: validateCronName,
  validateUpdate: () => [],
  validateStatusUpdate: () => [],
  warnings: ({ spec }) => daemonJobWarnings(spec.jobTemplate.spec, `${JOB_SPEC}.template.spec`),
};
