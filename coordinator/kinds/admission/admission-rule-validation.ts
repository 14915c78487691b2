/** Rules and selectors that policies and webhooks share (pkg/apis/admissionregistration/validation/validation.go). */
import type {
  AdmissionRule,
  MatchCondition,
  MatchResources,
} from '../../../shared/kube/admission/admission-policy-types.js';
import { compileConditions } from '../../cel/policies/compile-policy.js';
import type { PolicyScope } from '../../cel/policies/policy-environment.js';
import type { FieldError } from '../kind.js';
import { duplicate, invalidValue, notSupported, required, tooMany } from '../validation/field-error.js';
import { validateLabelSelector } from '../validation/label-selector-validation.js';
import { pathSegmentProblems, qualifiedNameProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];
export const FAILURE_POLICIES = ['Fail', 'Ignore'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const MAX_CONDITIONS = 64;

/** A list that contains `*` must contain nothing else. */
function validateList(list: readonly string[] | undefined, field: string, what: string): FieldError[] {
  if (!list || list.length === 0) return [required(field)];
  if (list.length === 1 || !list.includes('*')) return [];
  return [invalidValue(field, list, `if '*' is present, must not specify other ${what}`)];
}

export function validateRule(rule: AdmissionRule, field: string): FieldError[] {
  const { operations, apiGroups, apiVersions, resources, scope } = rule;
  const emptyVersions = (apiVersions ?? []).flatMap((version, at) =>
    version === '' ? [required(`${field}.apiVersions[${at}]`)] : [],
  );
  return [
    ...validateList(operations, `${field}.operations`, 'operations'),
    ...(operations ?? []).flatMap((operation, at) =>
      OPERATIONS.includes(operation)
        ? []
        : [notSupported(`${field}.operations[${at}]`, operation, OPERATIONS)],
    ),
    ...validateList(apiGroups, `${field}.apiGroups`, 'API groups'),
    ...validateList(apiVersions, `${field}.apiVersions`, 'API versions'),
    ...emptyVersions,
    ...validateResources(resources ?? [], `${field}.resources`),
    ...(scope === undefined || SCOPES.includes(scope) ? [] : [notSupported(`${field}.scope`, scope, SCOPES)]),
  ];
}

/** `*` and `x/*` must not stand next to resources that they include. */
function validateResources(resources: readonly string[], field: string): FieldError[] {
  if (resources.length === 0) return [required(field)];
  const errors: FieldError[] = [];
  if (resources.includes('*/*') && resources.length > 1) {
    errors.push(invalidValue(field, resources, "if '*/*' is present, must not specify other resources"));
  }
  for (const [at, resource] of resources.entries()) {
    if (resource === '') errors.push(required(`${field}[${at}]`));
    const [name = '', subresource] = resource.split('/');
    if (subresource !== undefined && subresource !== '*' && resources.includes(`${name}/*`)) {
      const detail = `if '${name}/*' is present, must not specify ${resource}`;
      errors.push(invalidValue(`${field}[${at}]`, resource, detail));
    }
    if (subresource === undefined && name !== '*' && name !== '' && resources.includes('*')) {
      const detail = "if '*' is present, must not specify other resources without subresources";
      errors.push(invalidValue(field, resources, detail));
    }
  }
  return errors;
}

function validateNamedRule(rule: AdmissionRule, field: string): FieldError[] {
  const names = rule.resourceNames ?? [];
  return [
    ...names.flatMap((name, at) => [
      ...invalidFor(`${field}.resourceNames[${at}]`, name, pathSegmentProblems(name)),
      ...(names.indexOf(name) < at ? [duplicate(`${field}.resourceNames[${at}]`, name)] : []),
    ]),
    ...validateRule(rule, field),
  ];
}

export function validateMatchPolicy(policy: string | undefined, field: string): FieldError[] {
  if (policy === undefined) return [required(field)];
  return MATCH_POLICIES.includes(policy) ? [] : [notSupported(field, policy, MATCH_POLICIES)];
}

export function validateMatchResources(match: MatchResources | undefined, field: string): FieldError[] {
  if (!match) return [];
  const { namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = match;
  return [
    ...validateMatchPolicy(match.matchPolicy, `${field}.matchPolicy`),
    ...validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`),
    ...validateLabelSelector(objectSelector, `${field}.objectSelector`),
    ...resourceRules.flatMap((rule, at) => validateNamedRule(rule, `${field}.resourceRules[${at}]`)),
    ...excludeResourceRules.flatMap((rule, at) =>
      validateNamedRule(rule, `${field}.excludeResourceRules[${at}]`),
    ),
  ];
}

export function validateMatchConditions(
  conditions: readonly MatchCondition[],
  scope: PolicyScope,
  field: string,
): FieldError[] {
  const names = conditions.map(({ name }) => name);
  const compiled = compileConditions(conditions, scope);
  return [
    ...(conditions.length > MAX_CONDITIONS ? [tooMany(field, conditions.length, MAX_CONDITIONS)] : []),
    ...conditions.flatMap(({ name = '', expression = '' }, at) => {
      const program = compiled[at]?.expression;
      const failed = program && 'compileError' in program ? program.compileError : undefined;
      const empty = expression.trim() === '';
      return [
        ...(empty ? [required(`${field}[${at}].expression`)] : []),
        ...(!empty && failed ? [invalidValue(`${field}[${at}].expression`, expression, failed)] : []),
        ...(name === ''
          ? [required(`${field}[${at}].name`)]
          : invalidFor(`${field}[${at}].name`, name, qualifiedNameProblems(name))),
        ...(name !== '' && names.indexOf(name) < at ? [duplicate(`${field}[${at}].name`, name)] : []),
      ];
    }),
  ];
}

/** Sets the defaults of rules and selectors, in place. */
export function setMatchDefaults(match: MatchResources | undefined): void {
  if (!match) return;
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) {
    rule.scope ??= '*';
  }
}
