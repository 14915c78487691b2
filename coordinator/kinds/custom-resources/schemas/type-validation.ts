/** Types and sizes of values (kube-openapi pkg/validation/validate/type.go, object_validator.go). */
import type { JsonSchema } from '../../../../shared/kube/objects/custom-resource-definition.js';
import type { FieldError } from '../../kind.js';
import { invalidValue, tooMany } from '../../validation/field-error.js';

/** Returns the name that JSON schema uses for the value's type. */
function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function typesOf(schema: JsonSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string'];
  return schema.type ? [schema.type] : [];
}

/** True if the value has the type of the schema. A null has only the type of a nullable schema. */
export function isTypeMatch(value: unknown, schema: JsonSchema): boolean {
  const types = typesOf(schema);
  if (types.length === 0) return true;
  const type = typeOf(value);
  if (type === 'null') return schema.nullable === true;
  return types.includes(type) || (type === 'integer' && types.includes('number'));
}

/** `PATH in body must be of type T: "actual"` */
export function wrongType(path: string, wanted: string, actual: string): FieldError {
  const detail = `${path} in body must be of type ${wanted}: ${JSON.stringify(actual)}`;
  return { ...invalidValue(path, actual, detail), reason: 'FieldValueTypeInvalid' };
}

export function checkType(value: unknown, schema: JsonSchema, path: string): FieldError[] {
  return isTypeMatch(value, schema) ? [] : [wrongType(path, typesOf(schema).join(','), typeOf(value))];
}

/** Checks the number of items of a list, or of the properties of a map. */
export function checkSize(
  value: readonly unknown[] | Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  path: string,
): FieldError[] {
  const isList = Array.isArray(value);
  const size = isList ? value.length : Object.keys(value).length;
  const min = isList ? schema.minItems : schema.minProperties;
  const max = isList ? schema.maxItems : schema.maxProperties;
  const errors: FieldError[] = [];
  if (min !== undefined && size < min) {
    const detail = `${path} in body should have at least ${min} ${isList ? 'items' : 'properties'}`;
    errors.push(invalidValue(path, size, detail));
  }
  if (max !== undefined && size > max) errors.push(tooMany(path, size, max));
  return errors;
}
