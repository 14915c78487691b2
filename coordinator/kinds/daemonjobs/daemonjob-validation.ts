/** Validation of DaemonJobs. Fields that a Job also has are checked with upstream's texts. */
import {
  type DaemonJob,
  ENDED_ANNOTATION,
  RETRY_RULES,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { isTimeText } from '../../../shared/kube/objects/meta.js';
import { validateAtMostAll, validateIntOrPercent } from '../daemonsets/daemonset-validation.js';
import type { FieldError } from '../kind.js';
import { validatePodTemplate } from '../pods/spec-validation/pod-spec-validation.js';
import { validateNonNegative, validatePositiveInt32 } from '../pods/spec-validation/value-validation.js';
import { FIELD_IMMUTABLE, forbidden, invalidValue, notSupported } from '../validation/field-error.js';
import { dnsSubdomainProblems } from '../validation/name-rules.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';

const NUMBERS = ['backoffLimit', 'activeDeadlineSeconds', 'ttlSecondsAfterFinished'] as const;
const AMOUNTS = ['parallelism', 'maxFailed'] as const;

export function validateDaemonJob({ spec }: DaemonJob): FieldError[] {
  return [
    ...NUMBERS.flatMap((key) => validateNonNegative(spec[key], `spec.${key}`)),
    ...AMOUNTS.flatMap((key) => [
      ...validateIntOrPercent(spec[key], `spec.${key}`),
      ...validateAtMostAll(spec[key], `spec.${key}`),
    ]),
    ...validatePositiveInt32(spec.run, 'spec.run'),
    ...validateRetry(spec),
    ...validateUntil(spec.until),
    ...validatePolicyName(spec.rolloutPolicyName),
    ...validatePodTemplate(spec.template, 'spec.template'),
    ...validateRestartPolicy(spec),
    ...validateAnnotations(spec),
  ];
}

/** The template never changes: one result must describe what one host ran. Only a later run may follow an earlier one. */
export function validateDaemonJobUpdate(next: DaemonJob, current: DaemonJob): FieldError[] {
  const errors: FieldError[] = [];
  if (!semanticallyEqual(next.spec.template, current.spec.template))
    errors.push(invalidValue('spec.template', 'object', FIELD_IMMUTABLE));
  if (next.spec.retry !== current.spec.retry)
    errors.push(invalidValue('spec.retry', next.spec.retry, FIELD_IMMUTABLE));
  const before = current.spec.run ?? 1;
  if ((next.spec.run ?? 1) < before)
    errors.push(invalidValue('spec.run', next.spec.run ?? 1, `must not be less than ${before}`));
  return errors;
}

function validateRetry({ retry, backoffLimit = 0 }: DaemonJob['spec']): FieldError[] {
  if (retry !== undefined && !RETRY_RULES.includes(retry))
    return [notSupported('spec.retry', retry, RETRY_RULES)];
  if (retry !== 'AtMostOnce' || backoffLimit === 0) return [];
  return [invalidValue('spec.backoffLimit', backoffLimit, 'must be 0 when retry is AtMostOnce')];
}

function validateUntil(until: string | undefined): FieldError[] {
  if (until === undefined || isTimeText(until)) return [];
  return [invalidValue('spec.until', until, 'must be a time such as 2026-12-24T18:00:00Z')];
}

function validatePolicyName(name: string | undefined): FieldError[] {
  if (name === undefined) return [];
  return dnsSubdomainProblems(name).map((problem) => invalidValue('spec.rolloutPolicyName', name, problem));
}

/** A container that the host restarts would run again without being counted. */
function validateRestartPolicy({ template }: DaemonJob['spec']): FieldError[] {
  const { restartPolicy } = template.spec;
  if (restartPolicy === 'Never') return [];
  return [notSupported('spec.template.spec.restartPolicy', restartPolicy ?? '', ['Never'])];
}

/** Hosts would report the Pods as ended and start nothing. */
function validateAnnotations({ template }: DaemonJob['spec']): FieldError[] {
  if (template.metadata?.annotations?.[ENDED_ANNOTATION] === undefined) return [];
  const field = `spec.template.metadata.annotations[${ENDED_ANNOTATION}]`;
  return [forbidden(field, 'is set by the DaemonJob controller: remove it from the template')];
}
