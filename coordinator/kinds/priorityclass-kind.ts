/** scheduling.k8s.io/v1 PriorityClass. */
import {
  HIGHEST_USER_PRIORITY,
  PREEMPT_LOWER_PRIORITY,
  PREEMPTION_POLICIES,
  type PriorityClass,
  SCHEDULING_GROUP,
  SYSTEM_CLASS_PREFIX,
  SYSTEM_CLASSES,
} from '../../shared/kube/pods/priority-class.js';
import type { FieldError, Kind } from './kind.js';
import { STANDARD_VERBS } from './kind.js';
import { AGE_COLUMN, column, NAME_COLUMN } from './table-column.js';
import { FIELD_IMMUTABLE, forbidden, invalidValue, notSupported } from './validation/field-error.js';

/** Returns why the class is no system class, or undefined (pkg/apis/scheduling/v1 IsKnownSystemPriorityClass). */
function systemClassProblem({ metadata: { name }, value, globalDefault }: PriorityClass): string | undefined {
  const known = SYSTEM_CLASSES.get(name);
  if (!known) return `${name} is not a known system priority class`;
  if (known.value !== value) return `value of ${name} PriorityClass must be ${known.value}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

/** pkg/apis/scheduling/validation ValidatePriorityClass. */
function validate(priorityClass: PriorityClass): FieldError[] {
  const { metadata, value, preemptionPolicy } = priorityClass;
  const errors: FieldError[] = [];
  if (metadata.name?.startsWith(SYSTEM_CLASS_PREFIX)) {
    const problem = systemClassProblem(priorityClass);
    const reserved = `priority class names with '${SYSTEM_CLASS_PREFIX}' prefix are reserved for system use only. error: `;
    if (problem) errors.push(forbidden('metadata.name', reserved + problem));
  } else if (value > HIGHEST_USER_PRIORITY) {
    const most = `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`;
    errors.push(forbidden('value', most));
  }
  if (preemptionPolicy !== undefined && !PREEMPTION_POLICIES.includes(preemptionPolicy)) {
    errors.push(notSupported('preemptionPolicy', preemptionPolicy, PREEMPTION_POLICIES));
  }
  return errors;
}

/** Value and policy cannot change, because they are copied into Pods (ValidatePriorityClassUpdate). */
function validateUpdate(next: PriorityClass, current: PriorityClass): FieldError[] {
  return [
    ...(next.value === current.value ? [] : [forbidden('value', 'may not be changed in an update.')]),
    ...(next.preemptionPolicy === current.preemptionPolicy
      ? []
      : [invalidValue('preemptionPolicy', next.preemptionPolicy, FIELD_IMMUTABLE)]),
  ];
}

function setDefaults(priorityClass: PriorityClass): void {
  priorityClass.value ??= 0;
  priorityClass.preemptionPolicy ??= PREEMPT_LOWER_PRIORITY;
}

export const priorityClassKind: Kind<PriorityClass> = {
  group: SCHEDULING_GROUP,
  version: 'v1',
  kind: 'PriorityClass',
  resource: 'priorityclasses',
  singular: 'priorityclass',
  shortNames: ['pc'],
  categories: [],
  namespaced: false,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.scheduling.v1.PriorityClass',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('Value', 'integer', 'The priority of its Pods.', ({ value }) => value),
    column(
      'Global-Default',
      'boolean',
      'Whether Pods without a class get it.',
      ({ globalDefault }) => globalDefault ?? false,
    ),
    AGE_COLUMN,
    column(
      'PreemptionPolicy',
      'string',
      'Whether its Pods may end Pods of lower priority.',
      ({ preemptionPolicy }) => preemptionPolicy ?? PREEMPT_LOWER_PRIORITY,
    ),
  ],
  fields: {},
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults,
  prepareForCreate: ({ metadata }) => {
    metadata.generation = 1;
  },
  prepareForUpdate: () => undefined,
  validate,
  validateUpdate,
  warnings: () => [],
};
