/** Validation of LabelSelectors (apimachinery pkg/apis/meta/v1/validation). */
import type { LabelSelector, LabelSelectorRequirement } from '../../../shared/kube/objects/selectors.js';
import type { FieldError } from '../kind.js';
import { forbidden, invalidValue, required } from './field-error.js';
import { labelValueProblems, qualifiedNameProblems } from './name-rules.js';
import { invalidFor, validateLabels } from './object-meta-validation.js';

/** Upstream's message for `In` without values. */
const VALUES_REQUIRED = "must be specified when `operator` is 'In' or 'NotIn'";
/** Upstream's message for `Exists` with values. */
const VALUES_FORBIDDEN = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
/** Upstream's message for an unknown operator. */
export const OPERATOR_INVALID = 'not a valid selector operator';

/** Validates an operator and its number of values. Errors are at the `field` of the requirement. */
export function validateSelectorOperator(
  requirement: Pick<LabelSelectorRequirement, 'operator' | 'values'>,
  field: string,
): FieldError[] {
  const count = requirement.values?.length ?? 0;
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      return count === 0 ? [required(`${field}.values`, VALUES_REQUIRED)] : [];
    case 'Exists':
    case 'DoesNotExist':
      return count > 0 ? [forbidden(`${field}.values`, VALUES_FORBIDDEN)] : [];
    default:
      return [invalidValue(`${field}.operator`, requirement.operator ?? '', OPERATOR_INVALID)];
  }
}

function validateRequirement(requirement: LabelSelectorRequirement, field: string): FieldError[] {
  const key = requirement.key ?? '';
  return [
    ...validateSelectorOperator(requirement, field),
    ...invalidFor(`${field}.key`, key, qualifiedNameProblems(key)),
    ...validateLabelValues(requirement.values, `${field}.values`),
  ];
}

/** Reports each invalid label value at its index. */
export function validateLabelValues(values: readonly string[] | undefined, field: string): FieldError[] {
  return (values ?? []).flatMap((value, index) =>
    invalidFor(`${field}[${index}]`, value, labelValueProblems(value)),
  );
}

/** Returns all errors of a selector. An absent selector is valid. */
export function validateLabelSelector(selector: LabelSelector | undefined, field: string): FieldError[] {
  return [
    ...validateLabels(selector?.matchLabels, `${field}.matchLabels`),
    ...(selector?.matchExpressions ?? []).flatMap((requirement, index) =>
      validateRequirement(requirement, `${field}.matchExpressions[${index}]`),
    ),
  ];
}

/** Validates label keys whose values come from the Pod. They need a selector. */
export function validateLabelKeys(
  keys: readonly string[] | undefined,
  selector: LabelSelector | undefined,
  field: string,
): FieldError[] {
  if (!keys?.length) return [];
  if (!selector) return [forbidden(field, 'must not be specified when labelSelector is not set')];
  return keys.flatMap((key, index) => invalidFor(`${field}[${index}]`, key, qualifiedNameProblems(key)));
}
