/** v1 LimitRange: defaults and limits for the resources of the Pods of a namespace. */
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { parseQuantity, type Quantity } from '../../../shared/kube/objects/quantity.js';
import type { ResourceList } from '../../../shared/kube/pods/pod-types.js';
import type { LimitRange, LimitRangeItem } from '../../../shared/kube/policy/quota-types.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { column, NAME_COLUMN } from '../table-column.js';
import { duplicate, forbidden, invalidValue, required } from '../validation/field-error.js';
import { qualifiedNameProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';

const FIELDS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

/** SetDefaults_LimitRangeItem: only containers have defaults. */
function setDefaults({ spec }: LimitRange): void {
  for (const item of spec?.limits ?? []) {
    if (item.type !== 'Container') continue;
    item.default = { ...item.max, ...item.default };
    item.defaultRequest = { ...item.min, ...item.default, ...item.defaultRequest };
  }
}

/** `[a, b, text]`: `a` must not be greater than `b`. The error is at the field `at`. */
type Order = readonly [a: keyof LimitRangeItem, b: keyof LimitRangeItem, at: string, text: string];

const ORDERS: readonly Order[] = [
  ['min', 'max', 'min', 'min value A is greater than max value B'],
  ['min', 'defaultRequest', 'defaultRequest', 'min value A is greater than default request value B'],
  ['defaultRequest', 'max', 'defaultRequest', 'default request value A is greater than max value B'],
  [
    'defaultRequest',
    'default',
    'defaultRequest',
    'default request value A is greater than default limit value B',
  ],
  ['min', 'default', 'default', 'min value A is greater than default value B'],
  ['default', 'max', 'default', 'default value A is greater than max value B'],
];

function entryOf(item: LimitRangeItem, field: keyof LimitRangeItem, name: string): Quantity | undefined {
  return ownValue(item[field] as ResourceList | undefined, name);
}

function validateOrder(item: LimitRangeItem, name: string, field: string): FieldError[] {
  return ORDERS.flatMap(([a, b, at, text]) => {
    const [left, right] = [entryOf(item, a, name), entryOf(item, b, name)];
    if (left === undefined || right === undefined) return [];
    if ((parseQuantity(left) ?? 0) <= (parseQuantity(right) ?? 0)) return [];
    const shown = at === a ? left : right;
    const detail = text.replace(/\bA\b/, String(left)).replace(/\bB\b/, String(right));
    return [invalidValue(`${field}.${at}[${name}]`, String(shown), detail)];
  });
}

function validateRatio(item: LimitRangeItem, name: string, field: string): FieldError[] {
  const most = entryOf(item, 'maxLimitRequestRatio', name);
  if (most === undefined || (parseQuantity(most) ?? 0) >= 1) return [];
  return [
    invalidValue(`${field}.maxLimitRequestRatio[${name}]`, String(most), `ratio ${most} is less than 1`),
  ];
}

/** ValidateLimitRange. */
function validateItem(item: LimitRangeItem, field: string): FieldError[] {
  const names = new Set(FIELDS.flatMap((one) => Object.keys(item[one] ?? {})));
  const errors: FieldError[] = [];
  if (!item.type) errors.push(required(`${field}.type`));
  if (item.type === 'Pod') {
    for (const one of ['default', 'defaultRequest'] as const) {
      const detail = "may not be specified when `type` is 'Pod'";
      if (Object.keys(item[one] ?? {}).length > 0) errors.push(forbidden(`${field}.${one}`, detail));
    }
  }
  if (item.type === 'PersistentVolumeClaim' && !item.min?.storage && !item.max?.storage) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(required(`${field}.limits`, detail));
  }
  for (const name of names) {
    errors.push(...invalidFor(`${field}`, name, qualifiedNameProblems(name)));
    errors.push(...validateOrder(item, name, field), ...validateRatio(item, name, field));
  }
  return errors;
}

function validate({ spec }: LimitRange): FieldError[] {
  const limits = spec?.limits ?? [];
  return limits.flatMap((item, index) => {
    const isRepeated = limits.findIndex(({ type }) => type === item.type) < index;
    const repeated = isRepeated ? [duplicate(`spec.limits[${index}].type`, item.type)] : [];
    return [...validateItem(item, `spec.limits[${index}]`), ...repeated];
  });
}

export const limitRangeKind: Kind<LimitRange> = {
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  resource: 'limitranges',
  singular: 'limitrange',
  shortNames: ['limits'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.core.v1.LimitRange',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('Created At', 'string', 'Time of creation.', ({ metadata }) => metadata.creationTimestamp ?? ''),
  ],
  fields: {},
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults,
  prepareForCreate: () => undefined,
  prepareForUpdate: () => undefined,
  validate,
  validateUpdate: () => [],
  warnings: () => [],
};
