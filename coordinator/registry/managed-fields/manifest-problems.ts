/** Schema problems of a manifest to apply, in the wording of structured-merge-diff. */
import { fieldSchema, itemSchema, type Schema } from '../../kinds/schema/schema-definitions.js';
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';
import { itemElement, lacksKey, pathText } from './path-element.js';
import { type Shape, shapeOf } from './schema-shape.js';

/** Returns unknown fields and list items with missing or duplicate keys as `PATH: problem`. */
export function manifestProblems(
  value: unknown,
  schema: Schema | undefined,
  path: readonly string[] = [],
): string[] {
  if (!schema || schema['x-kubernetes-preserve-unknown-fields']) return [];
  if (Array.isArray(value)) return listProblems(value, schema, path);
  if (isJsonMap(value) && (schema.properties || schema.additionalProperties)) {
    return mapProblems(value, schema, path);
  }
  return [];
}

function mapProblems(map: JsonMap, schema: Schema, path: readonly string[]): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const place = [...path, `f:${key}`];
    const field = fieldSchema(schema, key);
    return field
      ? manifestProblems(value, field, place)
      : [`${pathText(place)}: field not declared in schema`];
  });
}

function listProblems(list: readonly unknown[], schema: Schema, path: readonly string[]): string[] {
  const shape = shapeOf(schema);
  const items = itemSchema(schema);
  if (shape.type !== 'list') {
    return list.flatMap((item, index) => manifestProblems(item, items, [...path, `i:${index}`]));
  }
  const elements = list.map((item, index) => itemElement(item, index, shape.keys, items));
  return [
    ...elements.flatMap((element, index) => elementProblems(element, index, elements, shape, path)),
    ...list.flatMap((item, index) => manifestProblems(item, items, [...path, elements[index] ?? ''])),
  ];
}

function elementProblems(
  element: string,
  index: number,
  elements: readonly string[],
  { keys = [] }: Extract<Shape, { type: 'list' }>,
  path: readonly string[],
): string[] {
  if (lacksKey(element)) {
    const what = `associative list with keys has an element that omits key field "${keys[0]}" (and doesn't have default value)`;
    return [`${pathText(path)}: element ${index}: ${what}`];
  }
  const isSecond = elements.indexOf(element) < index;
  return isSecond ? [`${pathText(path)}: duplicate entries for key ${pathText([element])}`] : [];
}
