/** How ownership sees a type: one whole, or fields or items with owners of their own. */
import { fieldSchema, itemSchema, type Schema } from '../../kinds/schema/schema-definitions.js';

export type Shape =
  /** Scalars, atomic lists, structs and maps, and JSON that no schema describes. */
  | { type: 'leaf' }
  | { type: 'map'; schema: Schema }
  /** `keys` is absent for a set of plain values. */
  | { type: 'list'; keys: readonly string[] | undefined; items: Schema | undefined };

const LEAF: Shape = { type: 'leaf' };

/** Without a schema a value is one whole. */
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

/** A field that the struct declares, unlike a key of a map. */
export function isDeclared(schema: Schema, field: string): boolean {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, field);
}

/** The schema of what a path element leads to. */
export function schemaAt(schema: Schema | undefined, element: string): Schema | undefined {
  const shape = shapeOf(schema);
  if (shape.type === 'map') return fieldSchema(shape.schema, element.slice(2));
  return shape.type === 'list' ? shape.items : undefined;
}
