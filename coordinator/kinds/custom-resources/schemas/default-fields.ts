/** Sets the defaults of a schema (apiextensions-apiserver pkg/apiserver/schema/defaulting). */
import type { JsonSchema } from '../../../../shared/kube/objects/custom-resource-definition.js';
import { copyValue, isMap } from './json-values.js';
import { childSchema } from './prune-fields.js';

/** In place: drops nulls that are neither nullable nor have a default, then sets defaults. */
export function setSchemaDefaults(value: unknown, schema: JsonSchema): void {
  dropNulls(value, schema);
  setDefaults(value, schema);
}

function fieldOf(schema: JsonSchema | undefined, key: string): JsonSchema | undefined {
  const found = childSchema(schema, key);
  return found === 'anything' ? undefined : found;
}

function isForbiddenNull(value: unknown, schema: JsonSchema | undefined): schema is JsonSchema {
  return value === null && schema !== undefined && !schema.nullable;
}

function dropNulls(value: unknown, schema: JsonSchema | undefined): void {
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, schema?.items);
  } else if (isMap(value)) {
    for (const [key, child] of Object.entries(value)) {
      const field = fieldOf(schema, key);
      if (isForbiddenNull(child, field) && field.default === undefined) delete value[key];
      else dropNulls(child, field);
    }
  }
}

function setDefaults(value: unknown, schema: JsonSchema | undefined): void {
  if (!schema) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (isForbiddenNull(item, schema.items)) value[index] = copyValue(schema.items.default) ?? null;
      setDefaults(value[index], schema.items);
    }
    return;
  }
  if (!isMap(value)) return;
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    if (field.default === undefined) continue;
    if (!Object.hasOwn(value, key) || isForbiddenNull(value[key], field))
      value[key] = copyValue(field.default);
  }
  for (const key of Object.keys(value)) {
    const field = fieldOf(schema, key);
    if (isForbiddenNull(value[key], field)) value[key] = copyValue(field.default) ?? null;
    setDefaults(value[key], field);
  }
}
