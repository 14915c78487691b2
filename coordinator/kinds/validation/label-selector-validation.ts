/** Validation of LabelSelectors (apimachinery pkg/apis/meta/v1/validation). */
import type { LabelSelector, LabelSelectorRequirement } from '../../../shared/kube/objects/selectors.js';
import type { FieldError } from '../kind.js';
import { forbidden, invalidValue, required } from './field-error.js';
import { labelValueProblems, qualifiedNameProblems } from './name-rules.js';
import { invalidFor, validateLabels } from './object-meta-validation.js';

/** What every selector says of `In` without values. */
const VALUES_REQUIRED = "must be specified when `operator` is 'In' or 'NotIn'";
/** What every selector says of `Exists` with values. */
const VALUES_FORBIDDEN = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
/** What every selector says of an operator that it doesn't know. */
export const OPERATOR_INVALID = 'not a valid selector operator';

/** An operator that a selector has, with as many values as it takes; at the `field` of the requirement. */
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

/** Each value that is no label value, at its index. */
export function validateLabelValues(values: readonly string[] | undefined, field: string): FieldError[] {
  return (values ?? []).flatMap((value, index) =>
    invalidFor(`${field}[${index}]`, value, labelValueProblems(value)),
  );
}

/** Everything wrong with a selector; an absent one is fine. */
export function validateLabelSelector(selector: LabelSelector | undefined, field: string): FieldError[] {
  return [
    ...validateLabels(selector?.matchLabels, `${field}.matchLabels`),
    ...(selector?.matchExpressions ?? []).flatMap((requirement, index) =>
      validateRequirement(requirement, `${field}.matchExpressions[${index}]`),
    ),
  ];
}

/** Keys whose values are taken from the Pod itself: label names, and only beside a selector. */
export function validateLabelKeys(
  keys: readonly string[] | undefined,
  selector: LabelSelector | undefined,
  field: string,
): FieldError[] {
  if (!keys?.length) return [];
  if (!selector) return [forbidden(field, 'must not be specified when labelSelector is not set')];
  return keys.flatMap((key, index) => invalidFor(`${field}[${index}]`, key, qualifiedNameProblems(key)));
}
