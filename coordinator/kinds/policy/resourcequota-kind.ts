/** v1 ResourceQuota: limits what the objects of a namespace may use together. */

import { canonicalQuantity } from '../../../shared/kube/objects/canonical-quantity.js';
import { parseQuantity, type Quantity } from '../../../shared/kube/objects/quantity.js';
import type { ResourceList } from '../../../shared/kube/pods/pod-types.js';
import type { ResourceQuota, ResourceQuotaSpec } from '../../../shared/kube/policy/quota-types.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { NOT_NEGATIVE } from '../pods/spec-validation/value-validation.js';
import { AGE_COLUMN, column, NAME_COLUMN } from '../table-column.js';
import { FIELD_IMMUTABLE, invalidValue, notSupported } from '../validation/field-error.js';
import { qualifiedNameProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';

/** Object counts that have a name of their own (pkg/apis/core/helper standardQuotaResources). */
const COUNTS = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
];
const AMOUNTS = ['cpu', 'memory', 'ephemeral-storage'];
const STANDARD: ReadonlySet<string> = new Set([
  ...AMOUNTS,
  ...AMOUNTS.map((name) => `requests.${name}`),
  ...AMOUNTS.map((name) => `limits.${name}`),
  'requests.storage',
  ...COUNTS,
]);
const SCOPES = [
  'BestEffort',
  'CrossNamespacePodAffinity',
  'NotBestEffort',
  'NotTerminating',
  'PriorityClass',
  'Terminating',
];
const CONFLICTS = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
const OPERATORS = ['DoesNotExist', 'Exists', 'In', 'NotIn'];

const isHugePages = (name: string): boolean => /^(requests\.)?hugepages-/.test(name);

function validateHard(name: string, value: Quantity, field: string): FieldError[] {
  const problems = qualifiedNameProblems(name);
  if (problems.length > 0) return invalidFor(field, name, problems);
  if (!name.includes('/') && !STANDARD.has(name) && !isHugePages(name))
    return [invalidValue(field, name, 'must be a standard resource for quota')];
  const amount = parseQuantity(value) ?? 0;
  const isWhole = !COUNTS.includes(name) || Number.isInteger(amount);
  return [
    ...(amount < 0 ? [invalidValue(field, String(value), NOT_NEGATIVE)] : []),
    ...(isWhole ? [] : [invalidValue(field, String(value), 'must be an integer')]),
  ];
}

const COMPUTE = ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]);

/** True if the scope can select what the resource counts (IsResourceQuotaScopeValidForResource). */
function isScopeFor(scope: string, name: string): boolean {
  return name === 'pods' || (scope !== 'BestEffort' && COMPUTE.includes(name));
}

/** The scopes of a quota, of both fields. */
function scopesOf({ scopes = [], scopeSelector }: ResourceQuotaSpec): string[] {
  return [...scopes, ...(scopeSelector?.matchExpressions ?? []).map(({ scopeName }) => scopeName)];
}

function validateScopes(spec: ResourceQuotaSpec): FieldError[] {
  const { scopes = [], scopeSelector } = spec;
  const unknown = scopes.filter((scope) => !SCOPES.includes(scope));
  const isConflicting = CONFLICTS.some((pair) => pair.every((scope) => scopes.includes(scope)));
  const selector = 'spec.scopeSelector.matchExpressions';
  const standard = Object.keys(spec.hard ?? {}).filter((name) => STANDARD.has(name));
  const isMisplaced = (scope: string) => standard.some((name) => !isScopeFor(scope, name));
  const misplaced = 'unsupported scope applied to resource';
  return [
    ...unknown.map((scope) => invalidValue('spec.scopes', scope, 'unsupported scope')),
    ...(scopes.some((scope) => SCOPES.includes(scope) && isMisplaced(scope))
      ? [invalidValue('spec.scopes', scopes, misplaced)]
      : []),
    ...(isConflicting ? [invalidValue('spec.scopes', scopes, 'conflicting scopes')] : []),
    ...(scopeSelector?.matchExpressions ?? []).flatMap(({ scopeName, operator }) => [
      ...(SCOPES.includes(scopeName)
        ? isMisplaced(scopeName)
          ? [invalidValue(selector, scopeSelector, misplaced)]
          : []
        : [invalidValue(`${selector}.scopeName`, scopeName, 'unsupported scope')]),
      ...(OPERATORS.includes(operator) ? [] : [notSupported(`${selector}.operator`, operator, OPERATORS)]),
    ]),
  ];
}

/** ValidateResourceQuotaSpec. */
function validate({ spec = {} }: ResourceQuota): FieldError[] {
  const hard = Object.entries(spec.hard ?? {});
  return [
    ...hard.flatMap(([name, value]) => validateHard(name, value, `spec.hard[${name}]`)),
    ...validateScopes(spec),
  ];
}

function usageText({ status }: ResourceQuota, isShown: (name: string) => boolean): string {
  return Object.keys(status?.hard ?? {})
    .filter(isShown)
    .sort()
    .map((name) => {
      const [used, hard] = [status?.used?.[name] ?? 0, status?.hard?.[name] ?? 0];
      return `${name}: ${canonicalQuantity(used)}/${canonicalQuantity(hard)}`;
    })
    .join(', ');
}

const isLimit = (name: string): boolean => name.startsWith('limits');

/** Replaces quantities that were sent as JSON numbers by text, in which upstream returns them. */
function quantitiesAsText(list: ResourceList | undefined): void {
  for (const [name, value] of Object.entries(list ?? {}))
    Object.assign(list ?? {}, { [name]: String(value) });
}

export const resourceQuotaKind: Kind<ResourceQuota> = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  resource: 'resourcequotas',
  singular: 'resourcequota',
  shortNames: ['quota'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.core.v1.ResourceQuota',
  subresources: { status: { group: '', version: 'v1', kind: 'ResourceQuota', verbs: STATUS_VERBS } },
  columns: [
    NAME_COLUMN,
    column('Request', 'string', 'Used and allowed amounts, without limits.', (quota) =>
      usageText(quota, (name) => !isLimit(name)),
    ),
    column('Limit', 'string', 'Used and allowed limits.', (quota) => usageText(quota, isLimit)),
    AGE_COLUMN,
  ],
  fields: {},
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults: ({ spec }) => quantitiesAsText(spec?.hard),
  prepareForCreate: (quota) => {
    delete quota.status;
  },
  prepareForUpdate: (next, current) => {
    if (current.status) next.status = current.status;
    else delete next.status;
  },
  prepareForStatusUpdate: (next, current) => {
    if (current.spec) next.spec = current.spec;
    else delete next.spec;
  },
  validate,
  validateUpdate: (next, current) =>
    semanticallyEqual(scopesOf(next.spec ?? {}).sort(), scopesOf(current.spec ?? {}).sort())
      ? []
      : [invalidValue('spec.scopes', next.spec?.scopes ?? [], FIELD_IMMUTABLE)],
  validateStatusUpdate: () => [],
  warnings: () => [],
};
