/** Validation of tolerations, and of the effects that they share with taints. */
import type { Toleration } from '../../../../shared/kube/pods/pod-placement-types.js';
import type { FieldError } from '../../kind.js';
import { invalidValue, notSupported, required } from '../../validation/field-error.js';
import { labelValueProblems, qualifiedNameProblems } from '../../validation/name-rules.js';
import { invalidFor } from '../../validation/object-meta-validation.js';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const OPERATORS = ['Equal', 'Exists'];
const EMPTY_KEY = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';

/** Validates the effect of a taint. A toleration may omit it to match any effect. */
export function validateEffect(effect: string | undefined, mayBeEmpty: boolean, field: string): FieldError[] {
  if (!effect) return mayBeEmpty ? [] : [required(field)];
  return EFFECTS.includes(effect) ? [] : [notSupported(field, effect, EFFECTS)];
}

/** Upstream also reports errors of the value at the operator. */
function validateOperator(toleration: Toleration, field: string): FieldError[] {
  const value = toleration.value ?? '';
  switch (toleration.operator ?? '') {
    case '':
    case 'Equal': {
      const problems = labelValueProblems(value);
      return problems.length > 0 ? [invalidValue(field, value, problems.join(';'))] : [];
    }
    case 'Exists':
      return value === ''
        ? []
        : [invalidValue(field, value, "value must be empty when `operator` is 'Exists'")];
    default:
      return [notSupported(field, toleration.operator, OPERATORS)];
  }
}

function validateToleration(toleration: Toleration, field: string): FieldError[] {
  const { key, operator, effect, tolerationSeconds } = toleration;
  const errors = key ? invalidFor(`${field}.key`, key, qualifiedNameProblems(key)) : [];
  if (!key && operator !== 'Exists')
    errors.push(invalidValue(`${field}.operator`, operator ?? '', EMPTY_KEY));
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    errors.push(invalidValue(`${field}.effect`, effect ?? '', detail));
  }
  return [
    ...errors,
    ...validateOperator(toleration, `${field}.operator`),
    ...validateEffect(effect, true, `${field}.effect`),
  ];
}

export function validateTolerations(
  tolerations: readonly Toleration[] | undefined,
  field: string,
): FieldError[] {
  return (tolerations ?? []).flatMap((toleration, index) =>
    validateToleration(toleration, `${field}[${index}]`),
  );
}
