/** The granularity of ownership for a type: the whole value, or separate owners for its fields or items. */
import { fieldSchema, itemSchema, type Schema } from '../../kinds/schema/schema-definitions.js';

export type Shape =
  /** Scalars, atomic lists, atomic structs and maps, and JSON without a schema. */
  | { type: 'leaf' }
  | { type: 'map'; schema: Schema }
  /** `keys` is absent for a set of plain values. */
  | { type: 'list'; keys: readonly string[] | undefined; items: Schema | undefined };

const LEAF: Shape = { type: 'leaf' };

/** A value without a schema is owned as a whole. */
export function shapeOf(schema: Schema | undefined): Shape {
  if (!schema || schema['x-kubernetes-map-type'] === 'atomic') return LEAF;
  if (schema['x-kubernetes-preserve-unknown-fields']) return LEAF;
  if (schema.properties || schema.additionalProperties) return { type: 'map', schema };
  switch (schema['x-kubernetes-list-type']) {
    case 'map':
      return { type: 'list', keys: schema['x-kubernetes-list-map-keys'], items: itemSchema(schema) };
    case 'set':
      return { type: 'list', keys: undefined, items: itemSchema(schema) };
    default:
      return LEAF;
  }
}

/** True for a declared field of a struct, false for a key of a map. */
export function isDeclared(schema: Schema, field: string): boolean {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, field);
}

/** Returns the schema of the value that a path element leads to. */
export function schemaAt(schema: Schema | undefined, element: string): Schema | undefined {
  const shape = shapeOf(schema);
  if (shape.type === 'map') return fieldSchema(shape.schema, element.slice(2));
  return shape.type === 'list' ? shape.items : undefined;
}
