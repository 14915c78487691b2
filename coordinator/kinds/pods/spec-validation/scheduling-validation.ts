/** Validation of further scheduling fields: gates, readiness gates, spreading. */

import type { TopologySpreadConstraint } from '../../../../shared/kube/pods/pod-placement-types.js';
import type { PodSpec } from '../../../../shared/kube/pods/pod-types.js';
import type { FieldError } from '../../kind.js';
import { duplicate, invalidValue, notSupported, required } from '../../validation/field-error.js';
import { validateLabelKeys, validateLabelSelector } from '../../validation/label-selector-validation.js';
import { qualifiedNameProblems } from '../../validation/name-rules.js';
import { invalidFor } from '../../validation/object-meta-validation.js';

const WHEN_UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway'];
const INCLUSION_POLICIES = ['Honor', 'Ignore'];

function validatePolicy(policy: string | undefined, field: string): FieldError[] {
  if (policy === undefined || INCLUSION_POLICIES.includes(policy)) return [];
  return [notSupported(field, policy, INCLUSION_POLICIES)];
}

function validateMinDomains(constraint: TopologySpreadConstraint, field: string): FieldError[] {
  const { minDomains, whenUnsatisfiable } = constraint;
  if (minDomains === undefined) return [];
  const errors = minDomains > 0 ? [] : [invalidValue(field, minDomains, 'must be greater than zero')];
  if (whenUnsatisfiable === 'DoNotSchedule') return errors;
  const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
  return [...errors, invalidValue(field, minDomains, detail)];
}

/** Upstream refuses a key that the selector also names. */
function validateMatchLabelKeys(constraint: TopologySpreadConstraint, field: string): FieldError[] {
  const { matchLabelKeys, labelSelector } = constraint;
  const named = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  for (const { key } of labelSelector?.matchExpressions ?? []) named.add(key);
  const detail = 'exists in both matchLabelKeys and labelSelector';
  return [
    ...validateLabelKeys(matchLabelKeys, labelSelector, field),
    ...(matchLabelKeys ?? []).flatMap((key, index) =>
      named.has(key) ? [invalidValue(`${field}[${index}]`, key, detail)] : [],
    ),
  ];
}

function validateConstraint(constraint: TopologySpreadConstraint, field: string): FieldError[] {
  const { maxSkew, topologyKey, whenUnsatisfiable } = constraint;
  return [
    ...(maxSkew > 0 ? [] : [invalidValue(`${field}.maxSkew`, maxSkew ?? 0, 'must be greater than zero')]),
    ...(topologyKey ? [] : [required(`${field}.topologyKey`, 'can not be empty')]),
    ...(WHEN_UNSATISFIABLE.includes(whenUnsatisfiable)
      ? []
      : [notSupported(`${field}.whenUnsatisfiable`, whenUnsatisfiable ?? '', WHEN_UNSATISFIABLE)]),
    ...validateMinDomains(constraint, `${field}.minDomains`),
    ...validatePolicy(constraint.nodeAffinityPolicy, `${field}.nodeAffinityPolicy`),
    ...validatePolicy(constraint.nodeTaintsPolicy, `${field}.nodeTaintsPolicy`),
    ...validateMatchLabelKeys(constraint, `${field}.matchLabelKeys`),
    ...validateLabelSelector(constraint.labelSelector, `${field}.labelSelector`),
  ];
}

/** Validates `topologySpreadConstraints` of a Pod, which must be unique. */
export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  field: string,
): FieldError[] {
  const pairs = new Set<string>();
  return (constraints ?? []).flatMap((constraint, index) => {
    const pair = `{${constraint.topologyKey}, ${constraint.whenUnsatisfiable}}`;
    const errors = validateConstraint(constraint, `${field}[${index}]`);
    if (pairs.has(pair)) errors.push(duplicate(`${field}[${index}].{topologyKey, whenUnsatisfiable}`, pair));
    pairs.add(pair);
    return errors;
  });
}

/** Validates the additional conditions for a ready Pod. */
export function validateReadinessGates(gates: PodSpec['readinessGates'], field: string): FieldError[] {
  return (gates ?? []).flatMap(({ conditionType }, index) => {
    const problems = qualifiedNameProblems(conditionType ?? '');
    return invalidFor(`${field}[${index}].conditionType`, conditionType ?? '', problems);
  });
}

/** Validates the gates that prevent a Pod from being bound. */
export function validateSchedulingGates(gates: PodSpec['schedulingGates'], field: string): FieldError[] {
  const names = new Set<string>();
  return (gates ?? []).flatMap(({ name }, index) => {
    const errors = invalidFor(`${field}[${index}]`, name ?? '', qualifiedNameProblems(name ?? ''));
    if (names.has(name)) errors.push(duplicate(`${field}[${index}]`, name));
    names.add(name);
    return errors;
  });
}
