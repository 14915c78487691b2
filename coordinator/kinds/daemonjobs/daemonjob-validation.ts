/** Validation of DaemonJobs. Fields that a Job also has are checked with upstream's texts. */
import { parseDateInput } from '../../../shared/calendar/date-text.js';
import { START_ANNOTATION } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  type DaemonJob,
  type DaemonJobSpec,
  ENDED_ANNOTATION,
  RETRY_RULES,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { isTimeText } from '../../../shared/kube/objects/meta.js';
import { validateAtMostAll, validateIntOrPercent } from '../daemonsets/daemonset-validation.js';
import type { FieldError } from '../kind.js';
import { validatePodTemplate } from '../pods/spec-validation/pod-spec-validation.js';
import {
  validateAtMostInt32,
  validateNonNegative,
  validatePositiveInt32,
} from '../pods/spec-validation/value-validation.js';
import { FIELD_IMMUTABLE, forbidden, invalidValue, notSupported } from '../validation/field-error.js';
import { dnsSubdomainProblems } from '../validation/name-rules.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';

const NUMBERS = [
  'backoffLimit',
  'activeDeadlineSeconds',
  'ttlSecondsAfterFinished',
  'startingDeadlineSeconds',
] as const;
const AMOUNTS = ['parallelism', 'maxFailed'] as const;

export function validateDaemonJob({ spec }: DaemonJob): FieldError[] {
  return validateDaemonJobSpec(spec, 'spec');
}

/** `path`: of the spec in the object that the client sent. */
export function validateDaemonJobSpec(spec: DaemonJobSpec, path: string): FieldError[] {
  return [
    ...NUMBERS.flatMap((key) => validateNonNegative(spec[key], `${path}.${key}`)),
    ...AMOUNTS.flatMap((key) => [
      ...validateIntOrPercent(spec[key], `${path}.${key}`),
      ...validateAtMostAll(spec[key], `${path}.${key}`),
    ]),
    ...validateAtMostInt32(spec.startingDeadlineSeconds, `${path}.startingDeadlineSeconds`),
    ...validatePositiveInt32(spec.run, `${path}.run`),
    ...validateRetry(spec, path),
    ...validateStart(spec, path),
    ...validateUntil(spec.until, `${path}.until`),
    ...validatePolicyName(spec.rolloutPolicyName, `${path}.rolloutPolicyName`),
    ...validatePodTemplate(spec.template, `${path}.template`),
    ...validateRestartPolicy(spec, path),
    ...validateAnnotations(spec, path),
  ];
}

/** The template never changes: one result must describe what one host ran. Only a later run may follow an earlier one. */
export function validateDaemonJobUpdate(next: DaemonJob, current: DaemonJob): FieldError[] {
  const errors: FieldError[] = [];
  if (!semanticallyEqual(next.spec.template, current.spec.template))
    errors.push(invalidValue('spec.template', 'object', FIELD_IMMUTABLE));
  if (next.spec.retry !== current.spec.retry)
    errors.push(invalidValue('spec.retry', next.spec.retry, FIELD_IMMUTABLE));
  if (next.spec.startAt !== current.spec.startAt)
    errors.push(invalidValue('spec.startAt', next.spec.startAt, FIELD_IMMUTABLE));
  const before = current.spec.run ?? 1;
  if ((next.spec.run ?? 1) < before)
    errors.push(invalidValue('spec.run', next.spec.run ?? 1, `must not be less than ${before}`));
  return errors;
}

function validateRetry({ retry, backoffLimit = 0 }: DaemonJobSpec, path: string): FieldError[] {
  if (retry !== undefined && !RETRY_RULES.includes(retry))
    return [notSupported(`${path}.retry`, retry, RETRY_RULES)];
  if (retry !== 'AtMostOnce' || backoffLimit === 0) return [];
  return [invalidValue(`${path}.backoffLimit`, backoffLimit, 'must be 0 when retry is AtMostOnce')];
}

const START_FORMAT =
  'must be a time like 2026-12-24T03:00:00 (local to each host) or 2026-12-24T03:00:00Z (the same moment everywhere)';

function validateStart({ startAt, startingDeadlineSeconds }: DaemonJobSpec, path: string): FieldError[] {
  if (startAt === undefined) {
    if (startingDeadlineSeconds === undefined) return [];
    return [forbidden(`${path}.startingDeadlineSeconds`, 'needs startAt: set it, or use until')];
  }
  return parseDateInput(startAt) ? [] : [invalidValue(`${path}.startAt`, startAt, START_FORMAT)];
}

function validateUntil(until: string | undefined, field: string): FieldError[] {
  if (until === undefined || isTimeText(until)) return [];
  return [invalidValue(field, until, 'must be a time such as 2026-12-24T18:00:00Z')];
}

function validatePolicyName(name: string | undefined, field: string): FieldError[] {
  if (name === undefined) return [];
  return dnsSubdomainProblems(name).map((problem) => invalidValue(field, name, problem));
}

/** A container that the host restarts would run again without being counted. */
function validateRestartPolicy({ template }: DaemonJobSpec, path: string): FieldError[] {
  const { restartPolicy } = template.spec;
  if (restartPolicy === 'Never') return [];
  return [notSupported(`${path}.template.spec.restartPolicy`, restartPolicy ?? '', ['Never'])];
}

/** Hosts would report the Pods as ended and start nothing, or start them at another time. */
function validateAnnotations({ template }: DaemonJobSpec, path: string): FieldError[] {
  return [ENDED_ANNOTATION, START_ANNOTATION].flatMap((annotation) => {
    if (template.metadata?.annotations?.[annotation] === undefined) return [];
    const field = `${path}.template.metadata.annotations[${annotation}]`;
    return [forbidden(field, 'is set by the DaemonJob controller: remove it from the template')];
  });
}
