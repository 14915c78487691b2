/** Removal of fields from an object (structured-merge-diff `typed/remove.go`). */

import { setOwn } from '../../../shared/kube/objects/merge-patch.js';
import { fieldSchema, type Schema } from '../../kinds/schema/schema-definitions.js';
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';
import { branchOf, type FieldSet } from './field-set.js';
import { fieldElement, itemElement } from './path-element.js';
import { type Shape, shapeOf } from './schema-shape.js';

/** Removes every path of `removed`. Returns undefined if a map or list becomes empty. */
export function removeFields(value: unknown, removed: FieldSet, schema: Schema | undefined): unknown {
  if (removed.children.size === 0) return value;
  const shape = shapeOf(schema);
  if (shape.type === 'map' && isJsonMap(value)) return removeFromMap(value, removed, shape.schema);
  if (shape.type === 'list' && Array.isArray(value)) return removeFromList(value, removed, shape);
  return value;
}

function removeFromMap(map: JsonMap, removed: FieldSet, schema: Schema): JsonMap | undefined {
  const kept: JsonMap = {};
  for (const [key, value] of Object.entries(map)) {
    const branch = branchOf(removed, fieldElement(key));
    const rest = branch.isMember ? undefined : removeFields(value, branch, fieldSchema(schema, key));
    if (rest !== undefined) setOwn(kept, key, rest);
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}

function removeFromList(
  list: readonly unknown[],
  removed: FieldSet,
  { keys, items }: Extract<Shape, { type: 'list' }>,
): unknown[] | undefined {
  const kept = list.flatMap((item, index) => {
    const branch = branchOf(removed, itemElement(item, index, keys, items));
    const rest = branch.isMember ? undefined : removeFields(item, branch, items);
    return rest === undefined ? [] : [rest];
  });
  return kept.length > 0 ? kept : undefined;
}
