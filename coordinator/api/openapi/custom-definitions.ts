/** OpenAPI definitions of custom kinds (apiextensions-apiserver pkg/controller/openapi/builder). */
import type { JsonSchema } from '../../../shared/kube/objects/custom-resource-definition.js';
import type { CustomResource } from '../../kinds/custom-resources/custom-kinds.js';
import type { DescribedSchema } from '../../kinds/schema/described-definitions.js';
import type { SchemaV2 } from './schema-v2.js';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

const TEXTS = {
  apiVersion: 'Group and version of this object.',
  kind: 'Type of this object.',
  metadata: 'Name, namespace, labels and the rest of what every object carries.',
};

type Published = Record<string, unknown>;

/** Replaces apiVersion, kind and metadata, which a schema of the definition describes only in part. */
function withTypeFields(
  { kind, schema }: CustomResource,
  properties: Published,
  metadata: object,
): Published {
  const { group, version, kind: name } = kind;
  const { description } = schema;
  return {
    ...(description === undefined ? {} : { description }),
    type: 'object',
    ...(schema.required ? { required: schema.required } : {}),
    properties: {
      ...properties,
      apiVersion: { type: 'string', description: TEXTS.apiVersion },
      kind: { type: 'string', description: TEXTS.kind },
      metadata: { description: TEXTS.metadata, ...metadata },
    },
    ...(schema['x-kubernetes-preserve-unknown-fields']
      ? { 'x-kubernetes-preserve-unknown-fields': true }
      : {}),
    'x-kubernetes-group-version-kind': [{ group, version, kind: name }],
  };
}

/** Returns the definitions for OpenAPI v3 by name: the schemas as they are stored. */
export function customDefinitions(
  resources: readonly CustomResource[],
): Readonly<Record<string, DescribedSchema>> {
  const metadata = { allOf: [{ $ref: `#/components/schemas/${OBJECT_META}` }] };
  const entries = resources.map((resource) => [
    resource.kind.schema,
    withTypeFields(resource, { ...resource.schema.properties }, metadata),
  ]);
  return Object.fromEntries(entries);
}

/** Fields that OpenAPI v2 lacks. */
const ONLY_IN_V3 = ['anyOf', 'allOf', 'oneOf', 'not', 'nullable', 'default', 'properties', 'items'] as const;

/**
 * Returns a schema in v2. Like upstream's, it has no type where v2 could not state that null or several types are
 * valid, so that old clients do not reject valid values (pkg/controller/openapi/v2/conversion.go).
 */
function schemaV2(schema: JsonSchema): Published {
  const { properties, items, additionalProperties, type, ...rest } = schema;
  const kept = Object.fromEntries(
    Object.entries(rest).filter(([name]) => !(ONLY_IN_V3 as readonly string[]).includes(name)),
  );
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-int-or-string'] || schema.nullable) return kept;
  return {
    ...kept,
    ...(type && !(isOpen && type === 'object' && !properties) ? { type } : {}),
    ...(properties && !isOpen ? { properties: propertiesV2(properties) } : {}),
    ...(items ? { items: schemaV2(items) } : {}),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: schemaV2(additionalProperties) }
      : {}),
  };
}

function propertiesV2(properties: Readonly<Record<string, JsonSchema>>): Published {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, schemaV2(schema)]));
}

/** Returns the definitions for OpenAPI v2 by name. */
export function customDefinitionsV2(
  resources: readonly CustomResource[],
): Readonly<Record<string, SchemaV2>> {
  const metadata = { $ref: `#/definitions/${OBJECT_META}` };
  const entries = resources.map((resource) => {
    const { kind, schema } = resource;
    // A list of fields would make kubectl reject every other field.
    const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
    const { properties: _, ...open } = withTypeFields(resource, {}, metadata);
    const closed = withTypeFields(resource, propertiesV2(schema.properties ?? {}), metadata);
    return [kind.schema, isOpen ? open : closed];
  });
  return Object.fromEntries(entries);
}
