/** The fields that a manifest names (structured-merge-diff `typed/tofieldset.go`). */
import { fieldSchema, type Schema } from '../../kinds/schema/schema-definitions.js';
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';
import { EMPTY_SET, type FieldSet, fieldSet, MEMBER, union } from './field-set.js';
import { fieldElement, itemElement } from './path-element.js';
import { isDeclared, type Shape, schemaAt, shapeOf } from './schema-shape.js';

/**
 * Returns the leaves of `value`, the keys of its maps and the items of its lists. A struct counts only if it is empty.
 */
export function fieldSetOf(value: unknown, schema: Schema | undefined): FieldSet {
  const shape = shapeOf(schema);
  switch (shape.type) {
    case 'leaf':
      return MEMBER;
    case 'map':
      return isJsonMap(value) ? setOfMap(value, shape.schema) : EMPTY_SET;
    case 'list':
      return Array.isArray(value) ? setOfList(value, shape) : EMPTY_SET;
  }
}

function setOfMap(map: JsonMap, schema: Schema): FieldSet {
  const branches = Object.entries(map).map(([key, value]): [string, FieldSet] => {
    const branch = fieldSetOf(value, fieldSchema(schema, key));
    const isMember = isVoid(value) || !isDeclared(schema, key);
    return [fieldElement(key), isMember ? union(MEMBER, branch) : branch];
  });
  return fieldSet(false, branches);
}

/** Null and `{}` own their path although they contain nothing. */
function isVoid(value: unknown): boolean {
  return value === null || (isJsonMap(value) && Object.keys(value).length === 0);
}

function setOfList(list: readonly unknown[], { keys, items }: Extract<Shape, { type: 'list' }>): FieldSet {
  const branches = list.map((item, index): [string, FieldSet] => [
    itemElement(item, index, keys, items),
    union(MEMBER, fieldSetOf(item, items)),
  ]);
  return fieldSet(false, branches);
}

/**
 * Returns the set with all declared parent fields of its members. A removal needs them; otherwise empty parents would
 * remain (`Set.EnsureNamedFieldsAreMembers`).
 */
export function withNamedFields(set: FieldSet, schema: Schema | undefined): FieldSet {
  const shape = shapeOf(schema);
  const branches = [...set.children].map(([element, branch]): [string, FieldSet] => {
    const below = withNamedFields(branch, schemaAt(schema, element));
    const isNamed = shape.type === 'map' && isDeclared(shape.schema, element.slice(2));
    return [element, isNamed ? union(MEMBER, below) : below];
  });
  return fieldSet(set.isMember, branches);
}
