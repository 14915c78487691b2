/** Schemas as short as their values, for tables of CEL. */
import type { StructuralSchema } from '../../../coordinator/cel/schemas/structural-schema.js';

export const INTEGER: StructuralSchema = { type: 'integer' };
export const NUMBER: StructuralSchema = { type: 'number' };
export const TEXT: StructuralSchema = { type: 'string' };
export const BOOLEAN: StructuralSchema = { type: 'boolean' };

export function listOf(items: StructuralSchema, more: StructuralSchema = {}): StructuralSchema {
  return { type: 'array', items, ...more };
}

export function mapOf(additionalProperties: StructuralSchema, more: StructuralSchema = {}): StructuralSchema {
  return { type: 'object', additionalProperties, ...more };
}

export function objectOf(
  properties: Record<string, StructuralSchema>,
  more: StructuralSchema = {},
): StructuralSchema {
  return { type: 'object', properties, ...more };
}

/** A list that is a map by the keys. */
export function keyedList(keys: readonly string[], items: StructuralSchema): StructuralSchema {
  return listOf(items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });
}

export function withFormat(format: string): StructuralSchema {
  return { type: 'string', format };
}

/** The fields val1, val2 … of upstream's tables. */
export function fields<T>(...values: readonly T[]): Record<string, T> {
  return Object.fromEntries(values.map((value, at) => [`val${at + 1}`, value]));
}
