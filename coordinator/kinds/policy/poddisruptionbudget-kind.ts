/** policy/v1 PodDisruptionBudget: limits how many Pods evictions may end at a time. */
import type { IntOrString } from '../../../shared/kube/objects/meta.js';
import {
  POLICY_GROUP,
  type PodDisruptionBudget,
} from '../../../shared/kube/policy/disruption-budget-types.js';
import { validateAtMostAll, validateIntOrPercent } from '../daemonsets/daemonset-validation.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { validateNonNegative } from '../pods/spec-validation/value-validation.js';
import { AGE_COLUMN, column, NAME_COLUMN } from '../table-column.js';
import { invalidValue, notSupported } from '../validation/field-error.js';
import { validateLabelSelector } from '../validation/label-selector-validation.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';

const POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

function validateAmount(value: IntOrString | undefined, field: string): FieldError[] {
  return value === undefined
    ? []
    : [...validateIntOrPercent(value, field), ...validateAtMostAll(value, field)];
}

/** pkg/apis/policy/validation ValidatePodDisruptionBudgetSpec. */
function validate({ spec = {} }: PodDisruptionBudget): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const isBoth = minAvailable !== undefined && maxUnavailable !== undefined;
  return [
    ...(isBoth ? [invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set')] : []),
    ...validateAmount(minAvailable, 'spec.minAvailable'),
    ...validateAmount(maxUnavailable, 'spec.maxUnavailable'),
    ...validateLabelSelector(selector, 'spec.selector'),
    ...(policy === undefined || POLICIES.includes(policy)
      ? []
      : [notSupported('spec.unhealthyPodEvictionPolicy', policy, POLICIES)]),
  ];
}

function validateStatusUpdate({ status }: PodDisruptionBudget): FieldError[] {
  const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = status ?? {};
  const counts = { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods };
  return Object.entries(counts).flatMap(([name, count]) => validateNonNegative(count, `status.${name}`));
}

const amountText = (value: IntOrString | undefined): string => (value === undefined ? 'N/A' : String(value));

export const podDisruptionBudgetKind: Kind<PodDisruptionBudget> = {
  group: POLICY_GROUP,
  version: 'v1',
  kind: 'PodDisruptionBudget',
  resource: 'poddisruptionbudgets',
  singular: 'poddisruptionbudget',
  shortNames: ['pdb'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.policy.v1.PodDisruptionBudget',
  subresources: {
    status: { group: POLICY_GROUP, version: 'v1', kind: 'PodDisruptionBudget', verbs: STATUS_VERBS },
  },
  columns: [
    NAME_COLUMN,
    column('Min Available', 'string', 'Pods that must stay available.', ({ spec }) =>
      amountText(spec?.minAvailable),
    ),
    column('Max Unavailable', 'string', 'Pods that may be unavailable.', ({ spec }) =>
      amountText(spec?.maxUnavailable),
    ),
    column(
      'Allowed Disruptions',
      'integer',
      'Evictions that are allowed at present.',
      ({ status }) => status?.disruptionsAllowed ?? 0,
    ),
    AGE_COLUMN,
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  prepareForCreate: (budget) => {
    delete budget.status;
    budget.metadata.generation = 1;
  },
  prepareForUpdate: (next, current) => {
    if (current.status) next.status = current.status;
    else delete next.status;
    const isChanged = !semanticallyEqual(next.spec, current.spec);
    next.metadata.generation = (current.metadata.generation ?? 0) + (isChanged ? 1 : 0);
  },
  prepareForStatusUpdate: (next, current) => {
    if (current.spec) next.spec = current.spec;
    else delete next.spec;
  },
  validate,
  validateUpdate: () => [],
  validateStatusUpdate,
  warnings: () => [],
};
