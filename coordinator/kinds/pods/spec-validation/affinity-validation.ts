/** Validation of node affinity and affinity between Pods. */
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from '../../../../shared/kube/pods/pod-placement-types.js';
import type { FieldError } from '../../kind.js';
import { invalidValue, required } from '../../validation/field-error.js';
import {
  OPERATOR_INVALID,
  validateLabelKeys,
  validateLabelSelector,
  validateLabelValues,
  validateSelectorOperator,
} from '../../validation/label-selector-validation.js';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  qualifiedNameProblems,
} from '../../validation/name-rules.js';
import { invalidFor } from '../../validation/object-meta-validation.js';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const SINGLE_VALUE = "must be specified single value when `operator` is 'Lt' or 'Gt'";
const ONE_FIELD_VALUE = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";

function validateExpressionValues(requirement: NodeSelectorRequirement, field: string): FieldError[] {
  const { operator, values } = requirement;
  if (operator !== 'Gt' && operator !== 'Lt') return validateSelectorOperator(requirement, field);
  return values?.length === 1 ? [] : [required(`${field}.values`, SINGLE_VALUE)];
}

function validateExpression(
  requirement: NodeSelectorRequirement,
  strictValues: boolean,
  field: string,
): FieldError[] {
  const key = requirement.key ?? '';
  return [
    ...validateExpressionValues(requirement, field),
    ...invalidFor(`${field}.key`, key, qualifiedNameProblems(key)),
    ...(strictValues ? validateLabelValues(requirement.values, `${field}.values`) : []),
  ];
}

/** Only the field metadata.name can be matched. */
function validateField(requirement: NodeSelectorRequirement, field: string): FieldError[] {
  const values = requirement.values ?? [];
  const errors: FieldError[] = [];
  if (requirement.operator === 'In' || requirement.operator === 'NotIn') {
    if (values.length !== 1) errors.push(required(`${field}.values`, ONE_FIELD_VALUE));
  } else errors.push(invalidValue(`${field}.operator`, requirement.operator ?? '', OPERATOR_INVALID));
  if (requirement.key !== 'metadata.name') {
    return [...errors, invalidValue(`${field}.key`, requirement.key ?? '', 'not a valid field selector key')];
  }
  const names = values.flatMap((value, index) =>
    invalidFor(`${field}.values[${index}]`, value, dnsSubdomainProblems(value)),
  );
  return [...errors, ...names];
}

function validateTerm(term: NodeSelectorTerm, strictValues: boolean, field: string): FieldError[] {
  return [
    ...(term.matchExpressions ?? []).flatMap((requirement, index) =>
      validateExpression(requirement, strictValues, `${field}.matchExpressions[${index}]`),
    ),
    ...(term.matchFields ?? []).flatMap((requirement, index) =>
      validateField(requirement, `${field}.matchFields[${index}]`),
    ),
  ];
}

function validateNodeSelector(selector: NodeSelector, field: string): FieldError[] {
  const terms = selector.nodeSelectorTerms ?? [];
  const path = `${field}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(path, 'must have at least one node selector term')];
  return terms.flatMap((term, index) => validateTerm(term, true, `${path}[${index}]`));
}

function validateWeight(weight: number | undefined, field: string): FieldError[] {
  if (weight !== undefined && weight >= 1 && weight <= 100) return [];
  return [invalidValue(`${field}.weight`, weight ?? 0, 'must be in the range 1-100')];
}

function validateNodeAffinity(affinity: NodeAffinity, field: string): FieldError[] {
  const selector = affinity[REQUIRED];
  const preferences = affinity[PREFERRED] ?? [];
  return [
    ...(selector ? validateNodeSelector(selector, `${field}.${REQUIRED}`) : []),
    ...preferences.flatMap(({ weight, preference }, index) => {
      const path = `${field}.${PREFERRED}[${index}]`;
      return [
        ...validateWeight(weight, path),
        ...validateTerm(preference ?? {}, false, `${path}.preference`),
      ];
    }),
  ];
}

function validateTopologyKey(key: string | undefined, field: string): FieldError[] {
  const errors = key ? [] : [required(field, 'can not be empty')];
  return [...errors, ...invalidFor(field, key ?? '', qualifiedNameProblems(key ?? ''))];
}

function validatePodTerm(term: PodAffinityTerm, field: string): FieldError[] {
  return [
    ...validateLabelSelector(term.labelSelector, `${field}.labelSelector`),
    ...validateLabelSelector(term.namespaceSelector, `${field}.namespaceSelector`),
    ...(term.namespaces ?? []).flatMap((name) =>
      invalidFor(`${field}.namespace`, name, dnsLabelProblems(name)),
    ),
    ...validateLabelKeys(term.matchLabelKeys, term.labelSelector, `${field}.matchLabelKeys`),
    ...validateLabelKeys(term.mismatchLabelKeys, term.labelSelector, `${field}.mismatchLabelKeys`),
    ...validateTopologyKey(term.topologyKey, `${field}.topologyKey`),
  ];
}

function validatePodAffinity(affinity: PodAffinity, field: string): FieldError[] {
  return [
    ...(affinity[REQUIRED] ?? []).flatMap((term, index) =>
      validatePodTerm(term, `${field}.${REQUIRED}[${index}]`),
    ),
    ...(affinity[PREFERRED] ?? []).flatMap(({ weight, podAffinityTerm }, index) => {
      const path = `${field}.${PREFERRED}[${index}]`;
      const term = podAffinityTerm ?? { topologyKey: '' };
      return [...validateWeight(weight, path), ...validatePodTerm(term, `${path}.podAffinityTerm`)];
    }),
  ];
}

export function validateAffinity(affinity: Affinity | undefined, field: string): FieldError[] {
  if (!affinity) return [];
  return [
    ...(affinity.nodeAffinity ? validateNodeAffinity(affinity.nodeAffinity, `${field}.nodeAffinity`) : []),
    ...(affinity.podAffinity ? validatePodAffinity(affinity.podAffinity, `${field}.podAffinity`) : []),
    ...(affinity.podAntiAffinity
      ? validatePodAffinity(affinity.podAntiAffinity, `${field}.podAntiAffinity`)
      : []),
  ];
}
