/** Validation of `podFailurePolicy` (`pkg/apis/batch/validation/validation.go`). */
import type {
  ExitCodeRequirement,
  JobSpec,
  PodConditionPattern,
  PodFailurePolicyRule,
} from '../../../shared/kube/jobs/job-types.js';
import type { FieldError } from '../kind.js';
import { duplicate, invalidValue, notSupported, required, tooMany } from '../validation/field-error.js';
import { qualifiedNameProblems } from '../validation/name-rules.js';

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];
const MAX_RULES = 20;
const MAX_PATTERNS = 20;
const MAX_VALUES = 255;

/** Returns all errors of a Job's podFailurePolicy, which must exist. */
export function validatePodFailurePolicy(spec: JobSpec, field: string): FieldError[] {
  const rules = spec.podFailurePolicy?.rules ?? [];
  const { containers = [], initContainers = [] } = spec.template.spec;
  const names = new Set([...containers, ...initContainers].map(({ name }) => name));
  const errors = rules.length > MAX_RULES ? [tooMany(`${field}.rules`, rules.length, MAX_RULES)] : [];
  return [
    ...errors,
    ...rules.flatMap((rule, at) => {
      const path = `${field}.rules[${at}]`;
      return [
        ...validateAction(rule.action, spec.backoffLimitPerIndex !== undefined, `${path}.action`),
        ...(rule.onExitCodes ? validateExitCodes(rule.onExitCodes, `${path}.onExitCodes`, names) : []),
        ...validateConditions(rule.onPodConditions ?? [], `${path}.onPodConditions`),
        ...validateOneOf(rule, path),
      ];
    }),
  ];
}

function choice(value: string, allowed: readonly string[], field: string): FieldError[] {
  const list = allowed.map((one) => JSON.stringify(one)).join(' ');
  if (!value) return [required(field, `valid values: [${list}]`)];
  return allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
}

function validateAction(action: string, hasLimitPerIndex: boolean, field: string): FieldError[] {
  if (action === 'FailIndex' && !hasLimitPerIndex)
    return [invalidValue(field, action, 'requires the backoffLimitPerIndex to be set')];
  return choice(action, ACTIONS, field);
}

/** Upstream omits the value of the rule in these messages. */
function validateOneOf(
  { onExitCodes, onPodConditions = [] }: PodFailurePolicyRule,
  field: string,
): FieldError[] {
  const isBoth = onExitCodes && onPodConditions.length > 0;
  if (isBoth || (!onExitCodes && onPodConditions.length === 0)) {
    const detail = isBoth
      ? 'specifying both OnExitCodes and OnPodConditions is not supported'
      : 'specifying one of OnExitCodes and OnPodConditions is required';
    return [{ reason: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` }];
  }
  return [];
}

function validateConditions(patterns: readonly PodConditionPattern[], field: string): FieldError[] {
  const errors = patterns.length > MAX_PATTERNS ? [tooMany(field, patterns.length, MAX_PATTERNS)] : [];
  return [
    ...errors,
    ...patterns.flatMap(({ type, status }, at) => [
      ...qualifiedNameProblems(type ?? '').map((problem) =>
        invalidValue(`${field}[${at}].type`, type, problem),
      ),
      ...choice(status, STATUSES, `${field}[${at}].status`),
    ]),
  ];
}

function validateExitCodes(
  { operator, containerName, values = [] }: ExitCodeRequirement,
  field: string,
  names: ReadonlySet<string>,
): FieldError[] {
  const errors = choice(operator, OPERATORS, `${field}.operator`);
  if (containerName !== undefined && !names.has(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalidValue(`${field}.containerName`, containerName, detail));
  }
  if (values.length === 0)
    errors.push(invalidValue(`${field}.values`, values, 'at least one value is required'));
  if (values.length > MAX_VALUES) errors.push(tooMany(`${field}.values`, values.length, MAX_VALUES));
  for (const [at, value] of values.entries()) {
    if (operator === 'In' && value === 0)
      errors.push(invalidValue(`${field}.values[${at}]`, value, 'must not be 0 for the In operator'));
    if (values.indexOf(value) < at) errors.push(duplicate(`${field}.values[${at}]`, value));
  }
  if (values.some((value, at) => value < (values[at - 1] ?? value)))
    errors.push(invalidValue(`${field}.values`, values, 'must be ordered'));
  return errors;
}
