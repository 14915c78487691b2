/**
 * Validates a value against an OpenAPI v3 schema in upstream's wording (kube-openapi pkg/validation). An update ignores
 * the errors of an unchanged value (ratcheting, apiextensions-apiserver pkg/apiserver/validation/ratcheting.go).
 */
import type { JsonSchema } from '../../../../shared/kube/objects/custom-resource-definition.js';
import type { FieldError } from '../../kind.js';
import { invalidValue } from '../../validation/field-error.js';
import { isMap, memberOf, sameValue } from './json-values.js';
import { childSchema } from './prune-fields.js';
import { checkScalar } from './scalar-validation.js';
import { checkSize, checkType, isTypeMatch } from './type-validation.js';

/** The stored value that the new one replaces. Absent: none, or it cannot be correlated. */
type Old = { value: unknown } | undefined;

/** Returns the errors of `value`. `old` is the stored value of an update. */
export function validateValue(value: unknown, schema: JsonSchema, path: string, old: Old): FieldError[] {
  const errors = errorsOf(value, schema, path, old);
  return errors.length > 0 && old && sameValue(value, old.value) ? [] : errors;
}

function errorsOf(value: unknown, schema: JsonSchema, path: string, old: Old): FieldError[] {
  const typeErrors = checkType(value, schema, path);
  if (value === null || !isTypeMatch(value, schema)) return typeErrors;
  return [
    ...typeErrors,
    ...combinations(value, schema, path),
    ...checkScalar(value, schema, path),
    ...(Array.isArray(value) ? listErrors(value, schema, path, old) : []),
    ...(isMap(value) ? mapErrors(value, schema, path, old) : []),
  ];
}

function listErrors(list: readonly unknown[], schema: JsonSchema, path: string, old: Old): FieldError[] {
  const { items } = schema;
  const oldItem = oldItemFinder(schema, old);
  const inItems = items
    ? list.flatMap((item, index) => validateValue(item, items, `${path}[${index}]`, oldItem(item)))
    : [];
  return [...inItems, ...checkSize(list, schema, path)];
}

/**
 * Finds the old item of the same keys. Only items of a list with keys can be correlated (apiserver
 * pkg/cel/common/equality.go). The old items are indexed once: a search for each item takes quadratic time.
 */
function oldItemFinder(schema: JsonSchema, old: Old): (item: unknown) => Old {
  const isCorrelated = schema['x-kubernetes-list-type'] === 'map';
  if (!isCorrelated || !old || !Array.isArray(old.value)) return () => undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const keyOf = (item: Record<string, unknown>) =>
    JSON.stringify(keys.map((key) => memberOf(item, key) ?? null));
  const byKey = new Map<string, unknown>();
  for (const item of old.value as readonly unknown[]) {
    if (isMap(item) && !byKey.has(keyOf(item))) byKey.set(keyOf(item), item);
  }
  return (item) => {
    const key = isMap(item) ? keyOf(item) : undefined;
    return key !== undefined && byKey.has(key) ? { value: byKey.get(key) } : undefined;
  };
}

function mapErrors(map: Record<string, unknown>, schema: JsonSchema, path: string, old: Old): FieldError[] {
  const before =
    old && isMap(old.value) && schema['x-kubernetes-map-type'] !== 'atomic' ? old.value : undefined;
  const inFields = Object.entries(map).flatMap(([key, child]) => {
    const field = childSchema(schema, key);
    if (field === 'anything' || !field) return [];
    const previous = before && Object.hasOwn(before, key) ? { value: before[key] } : undefined;
    return validateValue(child, field, path === '' ? key : `${path}.${key}`, previous);
  });
  const absent = (schema.required ?? []).filter((name) => memberOf(map, name) === undefined);
  const missing = absent.map(
    (name): FieldError => ({
      reason: 'FieldValueRequired',
      field: path === '' ? name : `${path}.${name}`,
      message: 'Required value',
    }),
  );
  return [...checkSize(map, schema, path), ...inFields, ...missing];
}

/** Upstream reports a failed combination without a field. */
function combinationError(path: string, detail: string): FieldError {
  return { ...invalidValue('', '', `${JSON.stringify(path)} ${detail}`), field: '<nil>' };
}

/** Returns the errors of the alternative that fits best, or undefined if none fails. */
function fewest(failures: readonly FieldError[][]): FieldError[] {
  return failures.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

function combinations(value: unknown, schema: JsonSchema, path: string): FieldError[] {
  const outcomes = (alternatives: readonly JsonSchema[]) =>
    alternatives.map((alternative) => errorsOf(value, alternative, path, undefined));
  const isValid = (errors: readonly FieldError[]) => errors.length === 0;
  const errors: FieldError[] = [];
  const anyOf = outcomes(schema.anyOf ?? []);
  if (anyOf.length > 0 && !anyOf.some(isValid)) {
    errors.push(combinationError(path, 'must validate at least one schema (anyOf)'), ...fewest(anyOf));
  }
  const oneOf = outcomes(schema.oneOf ?? []);
  const valid = oneOf.filter(isValid).length;
  if (oneOf.length > 0 && valid !== 1) {
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
    errors.push(combinationError(path, `must validate one and only one schema (oneOf). ${found}`));
    if (valid === 0) errors.push(...fewest(oneOf));
  }
  const allOf = outcomes(schema.allOf ?? []);
  if (!allOf.every(isValid)) {
    const none = allOf.some(isValid) ? '' : '. None validated';
    errors.push(...allOf.flat(), combinationError(path, `must validate all the schemas (allOf)${none}`));
  }
  if (schema.not && isValid(errorsOf(value, schema.not, path, undefined))) {
    errors.push(combinationError(path, 'must not validate the schema (not)'));
  }
  return errors;
}
