/** The schema of a custom kind for OpenAPI documents and for field ownership. */
import type { JsonSchema } from '../../../shared/kube/objects/custom-resource-definition.js';
import type { Schema } from '../schema/schema-definitions.js';

const METADATA: Schema = { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };
const UNTYPED: Schema = { 'x-kubernetes-preserve-unknown-fields': true };

const TYPE_FIELDS = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: METADATA } as const;

/** Fields that a schema for field ownership needs, besides those that contain schemas. */
const LIST_FIELDS = [
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const;

/**
 * Returns the schema by which field ownership and server-side apply divide an object. A part without a schema is owned
 * as a whole.
 */
export function ownershipSchema(schema: JsonSchema | undefined, isRoot = false): Schema {
  if (!schema) return UNTYPED;
  const { type, properties, additionalProperties, items } = schema;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isResource = isRoot || schema['x-kubernetes-embedded-resource'] === true;
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, ownershipSchema(field)]);
  const hasFields = fields.length > 0 || isResource;
  const values = typeof additionalProperties === 'object' ? ownershipSchema(additionalProperties) : UNTYPED;
  if (preserves && !hasFields) return UNTYPED;
  const kept = LIST_FIELDS.flatMap((name) => (schema[name] === undefined ? [] : [[name, schema[name]]]));
  return {
    ...(type ? { type: type as NonNullable<Schema['type']> } : {}),
    ...(schema.default === undefined ? {} : { default: schema.default }),
    ...Object.fromEntries(kept),
    ...(hasFields
      ? { properties: { ...Object.fromEntries(fields), ...(isResource ? TYPE_FIELDS : {}) } }
      : {}),
    ...(additionalProperties || preserves ? { additionalProperties: values } : {}),
    ...(items ? { items: ownershipSchema(items) } : {}),
  };
}
