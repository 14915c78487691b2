/** Type and metadata of embedded resources (apiextensions-apiserver pkg/apiserver/schema/objectmeta/validation.go). */
import type { JsonSchema } from '../../../../shared/kube/objects/custom-resource-definition.js';
import type { ObjectMeta } from '../../../../shared/kube/objects/meta.js';
import type { FieldError } from '../../kind.js';
import { checkFields } from '../../schema/check-fields.js';
import { invalidValue, required } from '../../validation/field-error.js';
import { validateAnnotations, validateLabels } from '../../validation/object-meta-validation.js';
import { isMap, type JsonObject } from './json-values.js';
import { childSchema } from './prune-fields.js';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Returns the errors of every resource that `object` contains. The root is validated elsewhere. */
export function validateEmbeddedMetadata(
  value: unknown,
  schema: JsonSchema | undefined,
  path = '',
): FieldError[] {
  if (!schema) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => validateEmbeddedMetadata(item, schema.items, `${path}[${index}]`));
  }
  if (!isMap(value)) return [];
  const below = Object.entries(value).flatMap(([key, child]) => {
    const field = childSchema(schema, key);
    if (field === 'anything') return [];
    return validateEmbeddedMetadata(child, field, path === '' ? key : `${path}.${key}`);
  });
  const isEmbedded = path !== '' && schema['x-kubernetes-embedded-resource'] === true;
  return isEmbedded ? [...resourceErrors(value, path), ...below] : below;
}

function resourceErrors({ apiVersion, kind, metadata }: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!apiVersion) errors.push(required(`${path}.apiVersion`, 'must not be empty'));
  if (!kind) errors.push(required(`${path}.kind`, 'must not be empty'));
  if (metadata === undefined) return errors;
  const field = `${path}.metadata`;
  const [problem] = checkFields(OBJECT_META, metadata).typeErrors;
  if (problem !== undefined) return [...errors, invalidValue(field, metadata, problem)];
  const { labels, annotations } = metadata as ObjectMeta;
  return [
    ...errors,
    ...validateLabels(labels, `${field}.labels`),
    ...validateAnnotations(annotations, `${field}.annotations`),
  ];
}
