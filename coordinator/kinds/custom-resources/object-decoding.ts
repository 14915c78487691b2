/** Reads the body of a custom resource: unknown fields, and the metadata of embedded resources. */
import type { JsonSchema } from '../../../shared/kube/objects/custom-resource-definition.js';
import { checkFields, type FieldFindings } from '../schema/check-fields.js';
import { dropUnknownFields } from '../schema/drop-unknown-fields.js';
import type { Schema } from '../schema/schema-definitions.js';
import { isMap, type JsonObject } from './schemas/json-values.js';
import { childSchema, pruneFields } from './schemas/prune-fields.js';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

const TYPE_AND_METADATA: Schema = {
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { $ref: `#/components/schemas/${OBJECT_META}` },
  },
};

/** Removes unknown fields, in place, and returns what a strict decoder reports. */
export function decodeCustomObject(
  object: JsonObject,
  schema: JsonSchema,
  repeated: ReadonlySet<string>,
): FieldFindings {
  const { apiVersion, kind, metadata } = object;
  const ofMetadata = checkFields(TYPE_AND_METADATA, { apiVersion, kind, metadata });
  const duplicates = [...repeated].map((path) => `duplicate field "${path}"`);
  if (ofMetadata.typeErrors.length === 0) dropUnknownFields(OBJECT_META, metadata);
  const unknown = pruneFields(object, schema).map((path) => `unknown field "${path}"`);
  const embedded = pruneEmbedded(object, schema, '');
  return {
    strictFindings: [...duplicates, ...ofMetadata.strictFindings, ...unknown, ...embedded],
    typeErrors: ofMetadata.typeErrors,
  };
}

/** Removes unknown metadata of embedded resources (apiextensions-apiserver pkg/apiserver/schema/objectmeta). */
function pruneEmbedded(value: unknown, schema: JsonSchema | undefined, path: string): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => pruneEmbedded(item, schema?.items, `${path}[${index}]`));
  }
  if (!isMap(value) || !schema) return [];
  const own =
    schema['x-kubernetes-embedded-resource'] && isMap(value.metadata) ? unknownMetadata(value, path) : [];
  const below = Object.entries(value).flatMap(([key, child]) => {
    const field = childSchema(schema, key);
    return field === 'anything' ? [] : pruneEmbedded(child, field, path === '' ? key : `${path}.${key}`);
  });
  return [...own, ...below];
}

/** Metadata of a wrong type stays, so that the validation can name it. */
function unknownMetadata({ metadata }: JsonObject, path: string): string[] {
  const { strictFindings, typeErrors } = checkFields(TYPE_AND_METADATA, { metadata });
  if (typeErrors.length === 0) dropUnknownFields(OBJECT_META, metadata);
  return strictFindings.map((text) => text.replace('"metadata', `"${path}.metadata`));
}
