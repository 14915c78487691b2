/** The rules of structural schemas (apiextensions-apiserver pkg/apiserver/schema/validation.go). */
import type { JsonSchema } from '../../../../shared/kube/objects/custom-resource-definition.js';
import type { FieldError } from '../../kind.js';
import { forbidden, invalidValue, required } from '../../validation/field-error.js';
import { memberOf, sameValue } from './json-values.js';
import { patternProblem } from './scalar-validation.js';

/** Where a schema stands: the root, the items of a list, or a field. */
type Level = 'root' | 'item' | 'field';

const INT_OR_STRING: readonly JsonSchema[] = [{ type: 'integer' }, { type: 'string' }];

const TYPE_NEEDED: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/** Returns the errors of a schema, sorted like upstream's. */
export function validateStructural(schema: JsonSchema, path: string): FieldError[] {
  const errors = [...invariants(schema, 'root', path), ...completeness(schema, path)];
  return errors.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

function textOf({ field, message }: FieldError): string {
  return `${field}: ${message}`;
}

function invariants(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const { type, items, properties = {}, additionalProperties } = schema;
  const errors: FieldError[] = [];
  if (type === 'array' && !items) errors.push(required(`${path}.items`, 'must be specified'));
  if (items) errors.push(...invariants(items, 'item', `${path}.items`));
  for (const [name, field] of Object.entries(properties)) {
    errors.push(...invariants(field, 'field', `${path}.properties[${name}]`));
  }
  if (additionalProperties !== undefined && additionalProperties !== false) {
    const at = `${path}.additionalProperties`;
    if (level === 'root') errors.push(forbidden(at, 'must not be used at the root'));
    if (additionalProperties !== true) errors.push(...invariants(additionalProperties, 'field', at));
  }
  return [
    ...errors,
    ...extensionErrors(schema, path),
    ...combinationErrors(schema, path, true),
    ...typeErrors(schema, level, path),
    ...resourceErrors(schema, level, path),
  ];
}

function extensionErrors(schema: JsonSchema, path: string): FieldError[] {
  if (!schema['x-kubernetes-int-or-string']) return [];
  const names = ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const;
  return names
    .filter((name) => schema[name])
    .map((name) =>
      invalidValue(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'),
    );
}

function typeErrors(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const { type = '' } = schema;
  const at = `${path}.type`;
  if (schema['x-kubernetes-embedded-resource'] && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    return [type === '' ? required(at, detail) : invalidValue(at, type, detail)];
  }
  const isUntyped =
    schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (type === '' && !isUntyped) return [required(at, TYPE_NEEDED[level])];
  return level === 'root' && type !== '' && type !== 'object'
    ? [invalidValue(at, type, 'must be object at the root')]
    : [];
}

/** Rules for schemas of whole resources: apiVersion, kind and metadata. */
function resourceErrors(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const { properties = {}, additionalProperties } = schema;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const isResource = level === 'root' || isEmbedded;
  const errors: FieldError[] = [];
  if (isEmbedded && additionalProperties) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(forbidden(`${path}.additionalProperties`, detail));
  }
  for (const name of isResource ? ['kind', 'apiVersion'] : []) {
    const field = properties[name];
    if (field && field.type !== 'string') {
      errors.push(invalidValue(`${path}.properties[${name}].type`, field.type ?? '', 'must be string'));
    }
  }
  const { metadata } = properties;
  const at = `${path}.properties[metadata]`;
  if (metadata && isResource && metadata.type !== 'object') {
    errors.push(invalidValue(`${at}.type`, metadata.type ?? '', 'must be object'));
  }
  if (metadata && level === 'root' && !restrictsNamesOnly(metadata)) {
    const detail =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(at, detail));
  }
  const isEmpty = Object.keys(properties).length === 0;
  if (isEmbedded && !schema['x-kubernetes-preserve-unknown-fields'] && isEmpty) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${path}.properties`, detail));
  }
  return errors;
}

function restrictsNamesOnly({ type: _, default: __, ...metadata }: JsonSchema): boolean {
  const names = Object.keys(metadata.properties ?? {});
  const allowed = names.length > 0 && names.every((name) => name === 'name' || name === 'generateName');
  const { properties, ...rest } = metadata;
  return Object.keys(allowed || names.length === 0 ? rest : metadata).length === 0;
}

/** `allowsIntOrString`: the schema is outside of a combination, so `anyOf` may name both types. */
function combinationErrors(schema: JsonSchema, path: string, allowsIntOrString: boolean): FieldError[] {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema;
  const skipAnyOf = allowsIntOrString && sameValue(anyOf, INT_OR_STRING);
  const errors: FieldError[] = [];
  if (!skipAnyOf)
    errors.push(...anyOf.flatMap((each, i) => nestedErrors(each, `${path}.anyOf[${i}]`, false)));
  errors.push(
    ...allOf.flatMap((each, i) => nestedErrors(each, `${path}.allOf[${i}]`, allowsIntOrString && i === 0)),
    ...oneOf.flatMap((each, i) => nestedErrors(each, `${path}.oneOf[${i}]`, false)),
    ...(not ? nestedErrors(not, `${path}.not`, false) : []),
  );
  const problem = pattern ? patternProblem(pattern) : undefined;
  if (problem !== undefined) {
    const detail = `must be a valid regular expression, but isn't: ${problem}`;
    errors.push(invalidValue(`${path}.pattern`, pattern, detail));
  }
  return errors;
}

/** Fields that a schema inside of a combination must not have, with upstream's word for their absence. */
const NOT_NESTED = {
  type: 'must be empty to be structural',
  additionalProperties: 'must be undefined to be structural',
  default: 'must be undefined to be structural',
  title: 'must be empty to be structural',
  description: 'must be empty to be structural',
  nullable: 'must be false to be structural',
  'x-kubernetes-preserve-unknown-fields': 'must be false to be structural',
  'x-kubernetes-embedded-resource': 'must be false to be structural',
  'x-kubernetes-int-or-string': 'must be false to be structural',
  'x-kubernetes-list-map-keys': 'must be empty to be structural',
  'x-kubernetes-list-type': 'must be undefined to be structural',
  'x-kubernetes-map-type': 'must be undefined to be structural',
  'x-kubernetes-validations': 'must be empty to be structural',
} as const;

function nestedErrors(schema: JsonSchema, path: string, allowsIntOrString: boolean): FieldError[] {
  const { items, properties = {} } = schema;
  const present = Object.entries(NOT_NESTED).filter(([name]) => {
    const value = schema[name as keyof typeof NOT_NESTED];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '' && value !== false;
  });
  return [
    ...combinationErrors(schema, path, allowsIntOrString),
    ...(items ? nestedErrors(items, `${path}.items`, false) : []),
    ...Object.entries(properties).flatMap(([name, field]) =>
      nestedErrors(field, `${path}.properties[${name}]`, false),
    ),
    ...present.map(([name, detail]) => forbidden(`${path}.${name}`, detail)),
    ...(properties.metadata
      ? [forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context')]
      : []),
  ];
}

/** A part of a combination, and the declared schema of the same value. */
interface Pair {
  nested: JsonSchema;
  declared: JsonSchema | undefined;
  /** Path of the declared schema. */
  path: string;
  nestedPath: string;
}

/** Every field that a combination names must also be declared outside of it (pkg/apiserver/schema/complete.go). */
function completeness(schema: JsonSchema, path: string): FieldError[] {
  return combined({ nested: schema, declared: schema, path, nestedPath: path });
}

function combined({ nested, nestedPath, ...declared }: Pair): FieldError[] {
  const { not, ...lists } = nested;
  const names = ['allOf', 'anyOf', 'oneOf'] as const;
  const parts = names.flatMap((name) =>
    (lists[name] ?? []).map((part, index): [JsonSchema, string] => [part, `${nestedPath}.${name}[${index}]`]),
  );
  if (not) parts.push([not, `${nestedPath}.not`]);
  return parts.flatMap(([part, at]) => undeclared({ ...declared, nested: part, nestedPath: at }));
}

function undeclared(pair: Pair): FieldError[] {
  const { nested, declared, path, nestedPath } = pair;
  if (!declared) return [required(path, `because it is defined in ${nestedPath}`)];
  const below = (field: string, child: JsonSchema, declaredChild: JsonSchema | undefined) =>
    undeclared({
      ...{ nested: child, declared: declaredChild },
      ...{ path: `${path}.${field}`, nestedPath: `${nestedPath}.${field}` },
    });
  return [
    ...combined(pair),
    ...(nested.items ? below('items', nested.items, declared.items) : []),
    ...Object.entries(nested.properties ?? {}).flatMap(([name, field]) =>
      below(`properties[${name}]`, field, memberOf(declared.properties, name)),
    ),
  ];
}
