/** Converts the OpenAPI v3 schemas of the kinds to OpenAPI v2, which lacks `oneOf` and puts `$ref` beside other fields. */
import type { DescribedSchema } from '../../kinds/schema/described-definitions.js';

/** A Swagger 2.0 schema, as far as kube-apiserver's documents use it. */
export interface SchemaV2 {
  /** Names a definition. Like in upstream's documents, a description may stand beside it. */
  $ref?: string;
  description?: string;
  type?: string;
  format?: string;
  required?: readonly string[];
  properties?: Readonly<Record<string, SchemaV2>>;
  additionalProperties?: SchemaV2;
  items?: SchemaV2;
  [extension: `x-kubernetes-${string}`]: unknown;
}

const V3_PREFIX = '#/components/schemas/';
const V2_PREFIX = '#/definitions/';
/** Upstream publishes it only in v3 and for custom resources. */
const PRESERVE_UNKNOWN = 'x-kubernetes-preserve-unknown-fields';

/** Returns the reference to a definition. */
export function definitionRef(name: string): SchemaV2 {
  return { $ref: `${V2_PREFIX}${name}` };
}

function mapValues(schemas: Readonly<Record<string, DescribedSchema>>): Record<string, SchemaV2> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schemaV2(schema)]));
}

/**
 * Returns the schema in v2. A choice with a string (IntOrString, Quantity) becomes a string, as the Go types'
 * `OpenAPISchemaType` states. Defaults are dropped (kube-openapi `pkg/handler/default_pruning.go`). An object without
 * known fields has no `properties`, because kubectl rejects every field that an empty list does not name.
 */
export function schemaV2(schema: DescribedSchema): SchemaV2 {
  const { $ref, allOf, oneOf, properties, additionalProperties, items, default: _, ...rest } = schema;
  const { [PRESERVE_UNKNOWN]: __, ...kept } = rest;
  const ref = $ref ?? allOf?.[0]?.$ref;
  const hasFields = properties !== undefined && Object.keys(properties).length > 0;
  return {
    ...kept,
    ...(ref === undefined ? {} : { $ref: ref.replace(V3_PREFIX, V2_PREFIX) }),
    ...(oneOf?.some(({ type }) => type === 'string') ? { type: 'string' } : {}),
    ...(hasFields ? { properties: mapValues(properties) } : {}),
    ...(additionalProperties ? { additionalProperties: schemaV2(additionalProperties) } : {}),
    ...(items ? { items: schemaV2(items) } : {}),
  };
}

/** Returns all schemas in v2. */
export const definitionsV2 = mapValues;
