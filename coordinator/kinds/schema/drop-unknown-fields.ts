/** Reduces an object to what upstream's decoder would return. */
import { definitionOf, fieldSchema, itemSchema, type Schema } from './schema-definitions.js';

/**
 * Drops unknown fields and nulls, in place. `object` must have passed `checkFields` without type errors. Maps that it
 * shares with `known` are not changed.
 */
export function dropUnknownFields(definition: string, object: unknown, known?: unknown): void {
  dropUnder(definitionOf(definition), object, known);
}

function dropUnder(type: Schema, value: unknown, known: unknown): void {
  if (value === known || type['x-kubernetes-preserve-unknown-fields']) return;
  if (Array.isArray(value)) dropInList(itemSchema(type) ?? {}, value);
  else if (isObject(value)) dropInObject(type, value, isObject(known) ? known : {});
}

function dropInObject(type: Schema, value: Record<string, unknown>, known: Record<string, unknown>): void {
  for (const field of Object.keys(value)) {
    const child = value[field];
    const old = Object.hasOwn(known, field) ? known[field] : undefined;
    if (child === old && isObject(child)) continue;
    const schema = fieldSchema(type, field);
    if (!schema || (child === null && !type.additionalProperties)) delete value[field];
    else if (child === null) value[field] = zeroOf(schema);
    else dropUnder(schema, child, old);
  }
}

/** A null element becomes the type's zero value. */
function dropInList(items: Schema, list: unknown[]): void {
  for (const [index, child] of list.entries()) {
    if (child === null) list[index] = zeroOf(items);
    else dropUnder(items, child, undefined);
  }
}

const QUANTITY = definitionOf('io.k8s.apimachinery.pkg.api.resource.Quantity');

/** A Quantity is never the empty string: clients refuse to decode it. */
function zeroOf(schema: Schema): unknown {
  if (schema === QUANTITY) return '0';
  if (schema.type === 'object') return {};
  if (schema.type === 'array') return [];
  if (schema.type === 'integer' || schema.type === 'number') return 0;
  return schema.type === 'boolean' ? false : '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
