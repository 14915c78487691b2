/** Validation of changes and of the status of Jobs (`pkg/apis/batch/validation/validation.go`). */
import { IndexSet, parseIndexes } from '../../../shared/kube/jobs/index-set.js';
import { finishedAs, isIndexed, type Job, type JobSpec } from '../../../shared/kube/jobs/job-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import type { FieldError } from '../kind.js';
import { validateNonNegative } from '../pods/spec-validation/value-validation.js';
import { duplicate, FIELD_IMMUTABLE, invalidValue, required } from '../validation/field-error.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';

const IMMUTABLE = [
  'selector',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const;

/** Returns the errors of a change of the spec. */
export function validateJobUpdate(next: Job, current: Job): FieldError[] {
  const errors: FieldError[] = IMMUTABLE.filter(
    (key) => !semanticallyEqual(next.spec[key], current.spec[key]),
  ).map((key) => invalidValue(`spec.${key}`, next.spec[key], FIELD_IMMUTABLE));
  const before = mayChangePlacement(current)
    ? withPlacementOf(current.spec.template, next.spec.template)
    : current.spec.template;
  if (!semanticallyEqual(next.spec.template, before))
    errors.push(invalidValue('spec.template', next.spec.template, FIELD_IMMUTABLE));
  return [...errors, ...validateCompletions(next.spec, current.spec)];
}

/** A suspended Job that never started may still be moved to other nodes. */
function mayChangePlacement({ spec, status }: Job): boolean {
  return spec.suspend === true && !status?.startTime;
}

function withPlacementOf(template: PodTemplateSpec, { metadata, spec }: PodTemplateSpec): PodTemplateSpec {
  const { nodeSelector, tolerations, schedulingGates } = spec;
  const { nodeAffinity: _old, ...others } = template.spec.affinity ?? {};
  const { nodeAffinity } = spec.affinity ?? {};
  const affinity = { ...others, ...(nodeAffinity && { nodeAffinity }) };
  return withoutUndefined({
    ...template,
    metadata: { ...template.metadata, annotations: metadata?.annotations, labels: metadata?.labels },
    spec: {
      ...template.spec,
      nodeSelector,
      tolerations,
      schedulingGates,
      affinity: spec.affinity || Object.keys(affinity).length > 0 ? affinity : undefined,
    },
  });
}

/** Absent fields and fields without a value are the same in JSON. */
function withoutUndefined(value: object): PodTemplateSpec {
  return JSON.parse(JSON.stringify(value)) as PodTemplateSpec;
}

/** Completions of an indexed Job change only together with its parallelism. */
function validateCompletions(next: JobSpec, current: JobSpec): FieldError[] {
  if (next.completions === current.completions) return [];
  if (!isIndexed(next)) return [invalidValue('spec.completions', next.completions, FIELD_IMMUTABLE)];
  if (next.completions === undefined || next.completions === next.parallelism) return [];
  const detail = 'can only be modified in tandem with spec.parallelism';
  return [invalidValue('spec.completions', next.completions, detail)];
}

function conditionsError(detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field: 'status.conditions', message: `Invalid value: ${detail}` };
}

const COUNTERS = ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const;

/** Returns the errors of a status write. */
export function validateJobStatus(next: Job, current: Job): FieldError[] {
  return [
    ...COUNTERS.flatMap((key) => validateNonNegative(next.status?.[key], `status.${key}`)),
    ...validateUncounted(next),
    ...validateConditions(next),
    ...validateTimes(next),
    ...validateFinished(next),
    ...validateIndexes(next),
    ...validateProgress(next, current),
  ];
}

function validateUncounted({ status }: Job): FieldError[] {
  const seen = new Set<string>();
  const check = (key: 'succeeded' | 'failed') =>
    (status?.uncountedTerminatedPods?.[key] ?? []).flatMap((uid, at) => {
      const field = `status.uncountedTerminatedPods.${key}[${at}]`;
      if (uid === '') return [invalidValue(field, uid, 'must not be empty')];
      if (seen.has(uid)) return [duplicate(field, uid)];
      seen.add(uid);
      return [];
    });
  return [...check('succeeded'), ...check('failed')];
}

function validateConditions({ status }: Job): FieldError[] {
  const is = (type: string) => isConditionTrue(status?.conditions, type);
  const errors: [boolean, string][] = [
    [is('Complete') && is('Failed'), 'cannot set Complete=True and Failed=true conditions'],
    [is('Complete') && is('FailureTarget'), 'cannot set Complete=True and FailureTarget=true conditions'],
    [
      is('Failed') && !is('FailureTarget'),
      'cannot set Failed=True condition without the FailureTarget=true condition',
    ],
    [
      is('Complete') && !is('SuccessCriteriaMet'),
      'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    ],
    [
      is('SuccessCriteriaMet') && is('Failed'),
      'cannot set SuccessCriteriaMet=True and Failed=true conditions',
    ],
    [
      is('SuccessCriteriaMet') && is('FailureTarget'),
      'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
    ],
  ];
  return errors.filter(([isWrong]) => isWrong).map(([, detail]) => conditionsError(detail));
}

function validateTimes(job: Job): FieldError[] {
  const { startTime, completionTime } = job.status ?? {};
  const isComplete = finishedAs(job) === 'Complete';
  const field = 'status.completionTime';
  if (!completionTime)
    return isComplete ? [required(field, 'completionTime is required for Complete jobs')] : [];
  const errors: FieldError[] = [];
  if (!isComplete)
    errors.push(
      invalidValue(
        field,
        completionTime,
        'cannot set completionTime when there is no Complete=True condition',
      ),
    );
  if (startTime && Date.parse(completionTime) < Date.parse(startTime))
    errors.push(invalidValue(field, completionTime, 'must be equal to or after `startTime`'));
  return errors;
}

function validateFinished(job: Job): FieldError[] {
  const {
    active = 0,
    ready = 0,
    terminating = 0,
    startTime,
    uncountedTerminatedPods: uncounted,
  } = job.status ?? {};
  const errors: FieldError[] = [];
  if (ready > active)
    errors.push(invalidValue('status.ready', ready, 'cannot set more ready pods than active'));
  if (!finishedAs(job)) return errors;
  if (active > 0) errors.push(invalidValue('status.active', active, 'active>0 is invalid for finished job'));
  if (!startTime) errors.push(required('status.startTime', 'startTime is required for finished job'));
  if ((uncounted?.succeeded?.length ?? 0) + (uncounted?.failed?.length ?? 0) > 0)
    errors.push(invalidValue('status.uncountedTerminatedPods', uncounted, 'must be empty for finished job'));
  if (terminating > 0)
    errors.push(invalidValue('status.terminating', terminating, 'terminating>0 is invalid for finished job'));
  return errors;
}

function validateIndexes({ spec, status }: Job): FieldError[] {
  const { completedIndexes = '', failedIndexes } = status ?? {};
  const errors: FieldError[] = [];
  const completed = 'status.completedIndexes';
  if (completedIndexes && !isIndexed(spec))
    errors.push(
      invalidValue(
        completed,
        completedIndexes,
        'cannot set non-empty completedIndexes when non-indexed completion mode',
      ),
    );
  if (failedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.push(
      invalidValue(
        'status.failedIndexes',
        failedIndexes,
        'cannot set non-null failedIndexes when backoffLimitPerIndex is null',
      ),
    );
  if (spec.completions === undefined) return errors;
  const check = (field: string, name: string, text: string) => {
    const parsed = parseIndexes(text, spec.completions ?? 0);
    if ('problem' in parsed)
      errors.push(invalidValue(field, text, `error parsing ${name}: ${parsed.problem}`));
  };
  check(completed, 'completedIndexes', completedIndexes);
  if (failedIndexes === undefined || spec.backoffLimitPerIndex === undefined) return errors;
  check('status.failedIndexes', 'failedIndexes', failedIndexes);
  const done = IndexSet.parse(completedIndexes, spec.completions);
  const [overlap] = IndexSet.parse(failedIndexes, spec.completions).intersection(done);
  if (overlap !== undefined) {
    const detail = `failedIndexes and completedIndexes overlap at index: ${overlap}`;
    errors.push(invalidValue('status.failedIndexes', failedIndexes, detail));
  }
  return errors;
}

function validateProgress(next: Job, current: Job): FieldError[] {
  const [before, after] = [current.status ?? {}, next.status ?? {}];
  const errors: FieldError[] = ['Failed', 'Complete', 'FailureTarget']
    .filter((type) => isConditionTrue(before.conditions, type) && !isConditionTrue(after.conditions, type))
    .map((type) => conditionsError(`cannot disable the terminal ${type}=True condition`));
  if (
    isConditionTrue(before.conditions, 'SuccessCriteriaMet') &&
    !isConditionTrue(after.conditions, 'SuccessCriteriaMet')
  )
    errors.push(conditionsError('cannot disable the SuccessCriteriaMet=True condition'));
  for (const key of ['failed', 'succeeded'] as const) {
    // The number of completed indexes decreases when an indexed Job is scaled down.
    if (key === 'succeeded' && isIndexed(next.spec)) continue;
    if ((after[key] ?? 0) < (before[key] ?? 0))
      errors.push(invalidValue(`status.${key}`, after[key] ?? 0, `cannot decrease the ${key} counter`));
  }
  if (after.completionTime && before.completionTime && after.completionTime !== before.completionTime)
    errors.push(invalidValue('status.completionTime', after.completionTime, FIELD_IMMUTABLE));
  const wasResumed =
    !isConditionTrue(after.conditions, 'Suspended') && isConditionTrue(before.conditions, 'Suspended');
  if (before.startTime && before.startTime !== after.startTime && !next.spec.suspend && !wasResumed)
    errors.push(required('status.startTime', 'startTime cannot be removed for unsuspended job'));
  return errors;
}
