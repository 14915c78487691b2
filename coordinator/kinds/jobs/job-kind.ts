/** batch/v1 Job. */
import {
  CONTROLLER_UID_LABEL,
  JOB_NAME_LABEL,
  type Job,
  type JobSpec,
  LEGACY_CONTROLLER_UID_LABEL,
  LEGACY_JOB_NAME_LABEL,
} from '../../../shared/kube/jobs/job-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { setPodTemplateDefaults } from '../../../shared/kube/pods/pod-defaults.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import { durationText } from '../duration-text.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { secretEnvironmentWarnings, unsupportedFields } from '../pods/pod-spec-warnings.js';
import { AGE_COLUMN, column, labelsText, NAME_COLUMN, wideColumn } from '../table-column.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import { validateJobStatus, validateJobUpdate } from './job-status-validation.js';
import { validateJob } from './job-validation.js';

/** Upstream's default for Jobs with backoffLimitPerIndex: only failed indexes end such a Job. */
const UNLIMITED = 2 ** 31 - 1;

/** Sets defaults of a Job or of a CronJob's template in place (`pkg/apis/batch/v1/defaults.go`). */
export function setJobSpecDefaults(spec: JobSpec): void {
  spec.template ??= { spec: { containers: [] } };
  setPodTemplateDefaults(spec.template);
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : UNLIMITED;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True';
  }
}

function setDefaults(job: Job): void {
  job.spec ??= { template: { spec: { containers: [] } } };
  setJobSpecDefaults(job.spec);
  const labels = job.spec.template.metadata?.labels;
  if (Object.keys(job.metadata.labels ?? {}).length === 0 && labels && !job.metadata.uid)
    job.metadata.labels = { ...labels };
  // A generated name may be replaced after a collision. The labels must follow it.
  if (
    !job.spec.manualSelector &&
    labels &&
    labels[CONTROLLER_UID_LABEL] === job.metadata.uid &&
    job.metadata.uid
  )
    setJobNameLabels(labels, job.metadata.name);
}

function setJobNameLabels(labels: Record<string, string>, name: string): void {
  labels[JOB_NAME_LABEL] = name;
  labels[LEGACY_JOB_NAME_LABEL] = name;
}

/** `pkg/registry/batch/job/strategy.go` generateSelector: labels that the user has set stay, and are refused later. */
function generateSelector({ metadata, spec }: Job): void {
  const uid = metadata.uid ?? '';
  const labels: Record<string, string> = {
    [CONTROLLER_UID_LABEL]: uid,
    [LEGACY_CONTROLLER_UID_LABEL]: uid,
  };
  setJobNameLabels(labels, metadata.name);
  spec.template.metadata = {
    ...spec.template.metadata,
    labels: { ...labels, ...spec.template.metadata?.labels },
  };
  spec.selector = { ...spec.selector };
  spec.selector.matchLabels = { [CONTROLLER_UID_LABEL]: uid, ...spec.selector.matchLabels };
}

function prepareForCreate(job: Job): void {
  job.status = {};
  job.metadata.generation = 1;
  if (!job.spec.manualSelector) generateSelector(job);
}

function prepareForUpdate(next: Job, current: Job): void {
  next.status = current.status ?? {};
  const specChanged = !semanticallyEqual(next.spec, current.spec);
  next.metadata.generation = (current.metadata.generation ?? 0) + (specChanged ? 1 : 0);
}

function prepareForStatusUpdate(next: Job, current: Job): void {
  next.spec = current.spec;
}

function completionsText({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationOf({ status }: Job, now: number): string {
  if (!status?.startTime) return '';
  const end = status.completionTime ? Date.parse(status.completionTime) : now;
  return durationText(end - Date.parse(status.startTime));
}

function statusText({ metadata, status }: Job): string {
  const is = (type: string) => isConditionTrue(status?.conditions, type);
  if (is('Complete')) return 'Complete';
  if (is('Failed')) return 'Failed';
  if (metadata.deletionTimestamp) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(is) ?? 'Running';
}

/** Names of the template's containers, for the wide columns. */
export function containerNames({ spec }: PodTemplateSpec): string {
  return spec.containers.map(({ name }) => name).join(',');
}

export function containerImages({ spec }: PodTemplateSpec): string {
  return spec.containers.map(({ image }) => image).join(',');
}

export const jobKind: Kind<Job> = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  resource: 'jobs',
  singular: 'job',
  shortNames: [],
  categories: ['all'],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.batch.v1.Job',
  subresources: { status: { group: 'batch', version: 'v1', kind: 'Job', verbs: STATUS_VERBS } },
  columns: [
    NAME_COLUMN,
    column('Status', 'string', 'State of the Job.', statusText),
    column('Completions', 'string', 'Succeeded Pods, and how many must succeed.', completionsText),
    column('Duration', 'string', 'Time from its start to its completion.', durationOf),
    AGE_COLUMN,
    wideColumn('Containers', 'string', 'Names of the containers.', ({ spec }) =>
      containerNames(spec.template),
    ),
    wideColumn('Images', 'string', 'Images of the containers.', ({ spec }) => containerImages(spec.template)),
    wideColumn('Selector', 'string', 'Which Pods are its own.', ({ spec }) =>
      labelsText(spec.selector?.matchLabels),
    ),
  ],
  fields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
  hasGeneration: true,
  orphansByDefault: true,
  nameRule: 'dnsSubdomain',
  setDefaults,
  prepareForCreate,
  disownsGenerated: true,
  prepareForUpdate,
  prepareForStatusUpdate,
  validate: validateJob,
  validateUpdate: validateJobUpdate,
  validateStatusUpdate: validateJobStatus,
  warnings: ({ spec }) => jobWarnings(spec, 'spec.template.spec'),
};

/** Texts for `Warning:` headers about the template. */
export function jobWarnings({ template }: JobSpec, field: string): string[] {
  return [...unsupportedFields(template.spec, field), ...secretEnvironmentWarnings(template.spec, field)];
}
