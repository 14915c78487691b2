/** fleet.everynode.dev/v1 DaemonJob. */
import {
  type DaemonJob,
  type DaemonJobSpec,
  daemonJobFinishedAs,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { setPodTemplateDefaults } from '../../../shared/kube/pods/pod-defaults.js';
import { durationText } from '../duration-text.js';
import { containerImages, containerNames } from '../jobs/job-kind.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { secretEnvironmentWarnings, unsupportedFields } from '../pods/pod-spec-warnings.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE, wideColumn } from '../table-column.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import {
  keepSteering,
  prepareSteering,
  validateLockOverride,
  validateNoSteering,
} from './daemonjob-steering.js';
import { validateDaemonJob, validateDaemonJobUpdate } from './daemonjob-validation.js';

function setDefaults(job: DaemonJob): void {
  job.spec ??= { template: { spec: { containers: [] } } };
  setDaemonJobSpecDefaults(job.spec);
}

/** Sets defaults of a DaemonJob or of a CronDaemonJob's template in place. */
export function setDaemonJobSpecDefaults(spec: DaemonJobSpec): void {
  spec.template ??= { spec: { containers: [] } };
  spec.template.spec ??= { containers: [] };
  spec.template.spec.restartPolicy ??= 'Never';
  // The result shows the end of the output only with this policy.
  for (const container of spec.template.spec.containers ?? [])
    container.terminationMessagePolicy ??= 'FallbackToLogsOnError';
  setPodTemplateDefaults(spec.template);
  spec.retry ??= 'AtLeastOnce';
  spec.backoffLimit ??= spec.retry === 'AtMostOnce' ? 0 : 6;
  spec.parallelism ??= '100%';
  spec.suspend ??= false;
  spec.run ??= 1;
}

/** `path` names the Pod's spec in the object that the client sent. */
export function daemonJobWarnings({ template }: DaemonJobSpec, path: string): string[] {
  return [...unsupportedFields(template.spec, path), ...secretEnvironmentWarnings(template.spec, path)];
}

function durationOf({ status }: DaemonJob, now: number): string {
  if (!status?.startTime) return '';
  const end = status.completionTime ? Date.parse(status.completionTime) : now;
  return durationText(end - Date.parse(status.startTime));
}

function statusText(job: DaemonJob): string {
  const finished = daemonJobFinishedAs(job);
  if (finished) return finished;
  if (job.metadata.deletionTimestamp) return 'Terminating';
  if (job.spec.suspend) return 'Suspended';
  return isConditionTrue(job.status?.conditions, 'FailureTarget') ? 'Stopping' : 'Running';
}

export const daemonJobKind: Kind<DaemonJob> = {
  group: FLEET_GROUP,
  version: 'v1',
  kind: 'DaemonJob',
  resource: 'daemonjobs',
  singular: 'daemonjob',
  shortNames: ['dj'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'dev.everynode.fleet.v1.DaemonJob',
  subresources: {
    hosts: { group: FLEET_GROUP, version: 'v1', kind: 'DaemonJobHosts', verbs: ['get'] },
    status: { group: FLEET_GROUP, version: 'v1', kind: 'DaemonJob', verbs: STATUS_VERBS },
  },
  columns: [
    NAME_COLUMN,
    column('Status', 'string', 'State of the job.', statusText),
    column('Succeeded', 'string', 'Hosts that succeeded, and all hosts.', ({ status }) => {
      return `${status?.succeeded ?? 0}/${status?.hosts ?? 0}`;
    }),
    column('Active', 'integer', 'Hosts that run the Pod.', ({ status }) => status?.active ?? 0),
    column('Failed', 'integer', 'Hosts that failed.', ({ status }) => status?.failed ?? 0),
    column('Missed', 'integer', 'Hosts that did not start in time.', ({ status }) => status?.missed ?? 0),
    column('Offline', 'integer', 'Hosts without a result that are offline.', ({ status }) => {
      return status?.offline ?? 0;
    }),
    column('Duration', 'string', 'Time from its start to its end.', durationOf),
    AGE_COLUMN,
    wideColumn('Waiting', 'integer', 'Hosts that have not started.', ({ status }) => status?.waiting ?? 0),
    wideColumn('Start At', 'string', 'When hosts start.', ({ spec }) => spec.startAt ?? NONE),
    wideColumn('Until', 'string', 'When hosts may start at the latest.', ({ spec }) => spec.until ?? NONE),
    wideColumn('Run', 'integer', 'Number of the run.', ({ spec }) => spec.run ?? 1),
    wideColumn('Containers', 'string', 'Names of the containers.', ({ spec }) =>
      containerNames(spec.template),
    ),
    wideColumn('Images', 'string', 'Images of the containers.', ({ spec }) => containerImages(spec.template)),
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsLabel',
  setDefaults,
  prepareForCreate: (job) => {
    job.status = {};
    job.metadata.generation = 1;
  },
  prepareForUpdate: (next, current, context) => {
    next.status = current.status ?? {};
    prepareSteering(next, current, context);
    const isChanged = !semanticallyEqual(next.spec, current.spec);
    next.metadata.generation = (current.metadata.generation ?? 0) + (isChanged ? 1 : 0);
  },
  prepareForStatusUpdate: (next, current) => {
    next.spec = current.spec;
    keepSteering(next, current);
  },
  validate: validateDaemonJob,
  validateCreate: ({ metadata }) => validateNoSteering(metadata, 'metadata'),
  validateUpdate: (next, current) => [
    ...validateDaemonJobUpdate(next, current),
    ...validateLockOverride(next, current),
  ],
  validateStatusUpdate: () => [],
  warnings: ({ spec }) => daemonJobWarnings(spec, 'spec.template.spec'),
};
