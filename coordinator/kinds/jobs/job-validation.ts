/** Validation of Jobs (`pkg/apis/batch/validation/validation.go`). */
import { parseIndexes } from '../../../shared/kube/jobs/index-set.js';
import {
  CONTROLLER_UID_LABEL,
  isIndexed,
  JOB_NAME_LABEL,
  type Job,
  type JobSpec,
  LEGACY_CONTROLLER_UID_LABEL,
  LEGACY_JOB_NAME_LABEL,
  type SuccessPolicyRule,
} from '../../../shared/kube/jobs/job-types.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { FieldError } from '../kind.js';
import { validatePodTemplate } from '../pods/spec-validation/pod-spec-validation.js';
import { validateNonNegative } from '../pods/spec-validation/value-validation.js';
import { invalidValue, notSupported, required, tooLong, tooMany } from '../validation/field-error.js';
import { validateLabelSelector } from '../validation/label-selector-validation.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../validation/name-rules.js';
import { validatePodFailurePolicy } from './pod-failure-policy-validation.js';

const MODES = ['Indexed', 'NonIndexed'];
const MAX_PARALLELISM = 100_000;
/** Above this many completions, limits per index need the limits below. */
const MANY_COMPLETIONS = 100_000;
const MAX_INDEX_TEXT = 64 * 1024;
const LIMITS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;

/** Returns all errors of a Job with defaults and a selector. */
export function validateJob(job: Job): FieldError[] {
  const { metadata, spec } = job;
  return [
    ...validateGeneratedSelector(job),
    ...validateJobSpec(spec, 'spec'),
    ...validateSelector(spec),
    ...validateHostname(metadata.name, spec),
  ];
}

/** The generated labels must be on the template; otherwise the Job would never find its Pods. */
function validateGeneratedSelector({ metadata, spec }: Job): FieldError[] {
  if (spec.manualSelector || !spec.selector) return [];
  const labels: Record<string, string> = {
    [LEGACY_CONTROLLER_UID_LABEL]: metadata.uid ?? '',
    [LEGACY_JOB_NAME_LABEL]: metadata.name,
    [CONTROLLER_UID_LABEL]: metadata.uid ?? '',
    [JOB_NAME_LABEL]: metadata.name,
  };
  const present = spec.template.metadata?.labels ?? {};
  const field = 'spec.template.metadata.labels';
  const errors = Object.entries(labels).flatMap(([key, value]) => {
    if (present[key] === undefined) return [required(field, `must be '${value}'`)];
    return present[key] === value ? [] : [invalidValue(field, present, `must be '${value}'`)];
  });
  if (!compileLabelSelector(spec.selector).matches(labels))
    errors.push(invalidValue('spec.selector', spec.selector, '`selector` not auto-generated'));
  return errors;
}

function validateSelector({ selector, template }: JobSpec): FieldError[] {
  if (!selector) return [required('spec.selector')];
  const errors = validateLabelSelector(selector, 'spec.selector');
  const labels = template.metadata?.labels;
  if (errors.length === 0 && !compileLabelSelector(selector).matches(labels)) {
    const detail = '`selector` does not match template `labels`';
    errors.push(invalidValue('spec.template.metadata.labels', labels, detail));
  }
  return errors;
}

/** The hostname of an indexed Job's Pod is the Job's name and the index. */
function validateHostname(name: string, spec: JobSpec): FieldError[] {
  if (!isIndexed(spec) || !spec.completions) return [];
  const longest = `${name}-${spec.completions - 1}`;
  if (dnsLabelProblems(longest).length === 0) return [];
  return [
    invalidValue('metadata.name', name, `will not able to create pod with invalid DNS label: ${longest}`),
  ];
}

/** Returns the errors that Jobs and templates of Jobs share. */
export function validateJobSpec(spec: JobSpec, field: string): FieldError[] {
  const errors = LIMITS.flatMap((key) => validateNonNegative(spec[key], `${field}.${key}`));
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.push(required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  return [
    ...errors,
    ...validateManagedBy(spec.managedBy, `${field}.managedBy`),
    ...validateMode(spec, field),
    ...(spec.podFailurePolicy ? validatePodFailurePolicy(spec, `${field}.podFailurePolicy`) : []),
    ...validateSuccessPolicy(spec, `${field}.successPolicy`),
    ...validateReplacement(spec, `${field}.podReplacementPolicy`),
    ...validatePodTemplate(spec.template, `${field}.template`),
    ...validateRestartPolicy(spec, `${field}.template.spec.restartPolicy`),
  ];
}

function validateManagedBy(managedBy: string | undefined, field: string): FieldError[] {
  if (managedBy === undefined) return [];
  const [domain = '', ...path] = managedBy.split('/');
  const errors =
    path.join('/') === ''
      ? [invalidValue(field, managedBy, 'must be a domain-prefixed path (such as "acme.io/foo")')]
      : dnsSubdomainProblems(domain).map((problem) => invalidValue(field, domain, problem));
  return managedBy.length > 63 ? [...errors, tooLong(field, 63)] : errors;
}

function validateMode(spec: JobSpec, field: string): FieldError[] {
  const { completionMode, completions, parallelism = 1, backoffLimitPerIndex, maxFailedIndexes } = spec;
  const errors: FieldError[] = [];
  const limit = (name: string, value: number, max: number, why: string) => {
    if (value > max)
      errors.push(invalidValue(`${field}.${name}`, value, `must be less than or equal to ${max}${why}`));
  };
  if (completionMode !== undefined && !MODES.includes(completionMode))
    errors.push(notSupported(`${field}.completionMode`, completionMode, MODES));
  if (!isIndexed(spec)) {
    const why = 'requires indexed completion mode';
    if (backoffLimitPerIndex !== undefined)
      errors.push(invalidValue(`${field}.backoffLimitPerIndex`, backoffLimitPerIndex, why));
    if (maxFailedIndexes !== undefined)
      errors.push(invalidValue(`${field}.maxFailedIndexes`, maxFailedIndexes, why));
    return errors;
  }
  if (completions === undefined)
    errors.push(required(`${field}.completions`, 'when completion mode is Indexed'));
  limit('parallelism', parallelism, MAX_PARALLELISM, ' when completion mode is Indexed');
  if (completions !== undefined && (maxFailedIndexes ?? 0) > completions)
    errors.push(
      invalidValue(
        `${field}.maxFailedIndexes`,
        maxFailedIndexes,
        'must be less than or equal to completions',
      ),
    );
  limit('maxFailedIndexes', maxFailedIndexes ?? 0, 100_000, '');
  if ((completions ?? 0) > MANY_COMPLETIONS && backoffLimitPerIndex !== undefined) {
    const why = ` when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
    if (maxFailedIndexes === undefined)
      errors.push(
        required(
          `${field}.maxFailedIndexes`,
          `must be specified when completions is above ${MANY_COMPLETIONS}`,
        ),
      );
    limit('parallelism', parallelism, 10_000, why);
    limit('maxFailedIndexes', maxFailedIndexes ?? 0, 10_000, why);
  }
  return errors;
}

function validateReplacement(
  { podReplacementPolicy, podFailurePolicy }: JobSpec,
  field: string,
): FieldError[] {
  if (podReplacementPolicy === undefined) return [];
  const allowed = podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  return allowed.includes(podReplacementPolicy) ? [] : [notSupported(field, podReplacementPolicy, allowed)];
}

function validateRestartPolicy({ template, podFailurePolicy }: JobSpec, field: string): FieldError[] {
  const { restartPolicy = '' } = template.spec;
  if (restartPolicy === 'Always' || restartPolicy === '')
    return [required(field, 'valid values: "OnFailure", "Never"')];
  if (restartPolicy !== 'OnFailure' && restartPolicy !== 'Never')
    return [notSupported(field, restartPolicy, ['Never', 'OnFailure'])];
  if (podFailurePolicy && restartPolicy !== 'Never')
    return [
      invalidValue(field, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified'),
    ];
  return [];
}

function validateSuccessPolicy(spec: JobSpec, field: string): FieldError[] {
  if (!spec.successPolicy) return [];
  if (!isIndexed(spec)) return [invalidValue(field, spec.successPolicy, 'requires indexed completion mode')];
  const { rules = [] } = spec.successPolicy;
  const errors: FieldError[] = [];
  if (rules.length === 0)
    errors.push(
      required(`${field}.rules`, 'at least one rules must be specified when the successPolicy is specified'),
    );
  if (rules.length > 20) errors.push(tooMany(`${field}.rules`, rules.length, 20));
  const completions = spec.completions ?? 0;
  return [
    ...errors,
    ...rules.flatMap((rule, at) => validateSuccessRule(rule, completions, `${field}.rules[${at}]`)),
  ];
}

function validateSuccessRule(rule: SuccessPolicyRule, completions: number, field: string): FieldError[] {
  const { succeededCount: count, succeededIndexes: indexes } = rule;
  if (count === undefined && indexes === undefined)
    return [required(field, 'at least one of succeededCount or succeededIndexes must be specified')];
  const errors = validateNonNegative(count, `${field}.succeededCount`);
  let total = Number.POSITIVE_INFINITY;
  if (indexes !== undefined) {
    const at = `${field}.succeededIndexes`;
    if (indexes.length > MAX_INDEX_TEXT) errors.push(tooLong(at, MAX_INDEX_TEXT));
    const parsed = parseIndexes(indexes, completions);
    if ('problem' in parsed)
      errors.push(invalidValue(at, indexes, `error parsing succeededIndexes: ${parsed.problem}`));
    total = 'total' in parsed ? parsed.total : 0;
  }
  const limit = (max: number, what: string) => {
    if ((count ?? 0) > max)
      errors.push(
        invalidValue(`${field}.succeededCount`, count, `must be less than or equal to ${max} (${what})`),
      );
  };
  limit(completions, 'the number of specified completions');
  if (indexes !== undefined) limit(total, 'the number of indexes in the specified succeededIndexes field');
  return errors;
}
