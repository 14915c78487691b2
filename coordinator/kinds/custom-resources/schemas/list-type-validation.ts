/** Uniqueness of lists with `x-kubernetes-list-type` (apiextensions-apiserver pkg/apiserver/schema/listtype). */
import type { JsonSchema } from '../../../../shared/kube/objects/custom-resource-definition.js';
import type { FieldError } from '../../kind.js';
import { duplicate, invalidValue } from '../../validation/field-error.js';
import { isMap, type JsonObject } from './json-values.js';
import { childSchema } from './prune-fields.js';

/** Returns one error for each value or key that occurs more than once. */
export function validateListTypes(value: unknown, schema: JsonSchema | undefined, path = ''): FieldError[] {
  if (!schema) return [];
  if (Array.isArray(value)) {
    const items = value.flatMap((item, index) => validateListTypes(item, schema.items, `${path}[${index}]`));
    return [...uniqueness(value, schema, path), ...items];
  }
  if (!isMap(value)) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const field = childSchema(schema, key);
    if (field === 'anything' || !field) return [];
    const isProperty = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
    const at = isProperty ? `${path}${path ? '.' : ''}${key}` : `${path}[${key}]`;
    return validateListTypes(child, field, at);
  });
}

function uniqueness(list: readonly unknown[], schema: JsonSchema, path: string): FieldError[] {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return repeated(list, path);
    case 'map': {
      const bad = list.findIndex((item) => item !== null && !isMap(item));
      const detail = 'must be an object for an array of list-type map';
      if (bad >= 0) return [invalidValue(`${path}[${bad}]`, list[bad], detail)];
      return repeated(
        list.map((item) => keyOf(item, schema)),
        path,
      );
    }
    default:
      return [];
  }
}

/** Returns the members that identify an item. An absent key is absent in it. */
function keyOf(item: unknown, schema: JsonSchema): JsonObject {
  if (!isMap(item)) return {};
  const names = schema['x-kubernetes-list-map-keys'] ?? [];
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]]),
  );
}

/** Reports the second occurrence only, like upstream. */
function repeated(values: readonly unknown[], path: string): FieldError[] {
  const seen = new Map<string, number>();
  return values.flatMap((value, index) => {
    const text = sortedJson(value);
    const times = (seen.get(text) ?? 0) + 1;
    seen.set(text, times);
    return times === 2 ? [duplicate(`${path}[${index}]`, value)] : [];
  });
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isMap(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}
