/**
 * Strategic merge patch: a merge patch that merges lists by upstream's keys and has directives
 * (`k8s.io/apimachinery/pkg/util/strategicpatch/patch.go`). The generated schema contains the keys.
 */

import { setOwn } from '../../../shared/kube/objects/merge-patch.js';
import { fieldSchema, itemSchema, type Schema } from '../../kinds/schema/schema-definitions.js';
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';
import { identityBy, mergeByKey, mergeSets, orderList, PatchFormatError } from './strategic-merge-list.js';

export { PatchFormatError } from './strategic-merge-list.js';

const PATCH = '$patch';
const RETAIN_KEYS = '$retainKeys';
const ORDER_PREFIX = '$setElementOrder/';
const DELETE_PREFIX = '$deleteFromPrimitiveList/';

/** A patch map with its directives separated from its fields. */
interface ParsedMap {
  directive: 'merge' | 'replace' | 'delete';
  fields: Map<string, unknown>;
  retained: unknown[] | undefined;
  orders: Map<string, unknown[]>;
  deletions: Map<string, unknown[]>;
}

function listOf(value: unknown, key: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw new PatchFormatError(`${key} must be a list`);
}

function directiveOf(value: unknown): ParsedMap['directive'] {
  if (value === 'replace' || value === 'delete' || value === 'merge') return value;
  throw new PatchFormatError(`unknown patch type: ${JSON.stringify(value)} in a map`);
}

function parse(patch: JsonMap): ParsedMap {
  const parsed: ParsedMap = {
    directive: directiveOf(patch[PATCH] ?? 'merge'),
    fields: new Map(),
    retained: undefined,
    orders: new Map(),
    deletions: new Map(),
  };
  for (const [key, value] of Object.entries(patch)) {
    if (key === PATCH) continue;
    if (key === RETAIN_KEYS) parsed.retained = listOf(value, key);
    else if (key.startsWith(ORDER_PREFIX))
      parsed.orders.set(key.slice(ORDER_PREFIX.length), listOf(value, key));
    else if (key.startsWith(DELETE_PREFIX)) {
      parsed.deletions.set(key.slice(DELETE_PREFIX.length), listOf(value, key));
    } else parsed.fields.set(key, value);
  }
  return parsed;
}

/**
 * Returns `current` with `patch` merged in. It shares parts with both and changes neither. Without a `schema`, maps are
 * merged and lists are replaced. Throws `PatchFormatError` (400).
 */
export function applyStrategicMergePatch(
  current: JsonMap,
  patch: JsonMap,
  schema: Schema | undefined,
): JsonMap {
  const parsed = parse(patch);
  if (parsed.directive === 'delete') return {};
  if (parsed.directive === 'replace') return fresh(patch, schema);
  const merged: JsonMap = retain(current, parsed.retained);
  for (const [field, values] of parsed.deletions) deletePlainValues(merged, field, values);
  for (const [field, value] of parsed.fields) mergeField(merged, field, value, schema);
  for (const [field, order] of parsed.orders) reorder(merged, field, order, current[field], schema);
  return merged;
}

function retain(current: JsonMap, retained: unknown[] | undefined): JsonMap {
  if (!retained) return { ...current };
  return Object.fromEntries(Object.entries(current).filter(([key]) => retained.includes(key)));
}

function deletePlainValues(merged: JsonMap, field: string, values: readonly unknown[]): void {
  const list = merged[field];
  if (Array.isArray(list)) merged[field] = list.filter((item) => !values.includes(item));
}

function mergeField(merged: JsonMap, field: string, value: unknown, parent: Schema | undefined): void {
  if (value === null) {
    delete merged[field];
    return;
  }
  const schema = parent && fieldSchema(parent, field);
  const present = Object.hasOwn(merged, field) ? merged[field] : undefined;
  setOwn(merged, field, mergeValue(present, value, schema));
}

function mergeValue(present: unknown, value: unknown, schema: Schema | undefined): unknown {
  // JSON without a schema may contain any key: `$patch` in a ControllerRevision's data is not a directive.
  if (schema?.['x-kubernetes-preserve-unknown-fields']) return value;
  if (isJsonMap(value)) return applyStrategicMergePatch(isJsonMap(present) ? present : {}, value, schema);
  if (Array.isArray(value)) return mergeList(Array.isArray(present) ? present : [], value, schema);
  return value;
}

function isMerged(schema: Schema | undefined): schema is Schema {
  return schema?.['x-kubernetes-patch-strategy']?.startsWith('merge') ?? false;
}

function mergeList(
  present: readonly unknown[],
  patch: readonly unknown[],
  schema: Schema | undefined,
): unknown[] {
  if (!isMerged(schema)) return patch.flatMap((element) => freshElement(element, schema));
  const mergeKey = schema['x-kubernetes-patch-merge-key'];
  if (mergeKey === undefined) return mergeSets(present, patch);
  const item = itemSchema(schema);
  return mergeByKey(present, patch, mergeKey, (element, change) =>
    applyStrategicMergePatch(isJsonMap(element) ? element : {}, change, item),
  );
}

/** Returns a part of the patch that replaces the present value, without its directives. */
function fresh(patch: JsonMap, schema: Schema | undefined): JsonMap {
  const { [PATCH]: _directive, ...fields } = patch;
  return applyStrategicMergePatch({}, fields, schema);
}

/** Returns an element of a list that is replaced as a whole, or nothing if it only carries a directive. */
function freshElement(element: unknown, list: Schema | undefined): unknown[] {
  if (!isJsonMap(element)) return [element];
  if (element[PATCH] === 'delete' || element[PATCH] === 'replace') return [];
  return [fresh(element, list && itemSchema(list))];
}

function reorder(
  merged: JsonMap,
  field: string,
  order: readonly unknown[],
  before: unknown,
  parent: Schema | undefined,
): void {
  const schema = parent && fieldSchema(parent, field);
  const list = merged[field];
  if (!isMerged(schema) || !Array.isArray(list)) return;
  const identity = identityBy(schema['x-kubernetes-patch-merge-key']);
  merged[field] = orderList(list, order, Array.isArray(before) ? before : [], identity);
}
