/** The rules for schemas of definitions (`ValidateCustomResourceDefinitionOpenAPISchema`), besides the structural ones. */
import type { JsonSchema } from '../../../../shared/kube/objects/custom-resource-definition.js';
import type { FieldError } from '../../kind.js';
import { forbidden, invalidValue, notSupported, required } from '../../validation/field-error.js';
import { copyValue, memberOf, sameValue } from './json-values.js';
import { pruneFields } from './prune-fields.js';
import { validateValue } from './schema-value-validation.js';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const RULE_REASONS = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
];
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** Where a schema stands. */
interface Place {
  path: string;
  /** Why defaults are forbidden here. */
  noDefaults?: string;
}

/** Returns the errors of a version's schema. */
export function validateOpenApiSchema(schema: JsonSchema, path: string): FieldError[] {
  return errorsOf(schema, { path }, true);
}

function errorsOf(schema: JsonSchema, place: Place, isRoot = false): FieldError[] {
  const { path } = place;
  const { properties = {}, additionalProperties, items } = schema;
  const below = (part: JsonSchema, at: string, noDefaults = place.noDefaults) =>
    errorsOf(part, { path: `${path}.${at}`, ...(noDefaults === undefined ? {} : { noDefaults }) });
  const errors = [...ownErrors(schema, place), ...ruleErrors(schema, path)];
  if (typeof additionalProperties === 'object') {
    errors.push(...below(additionalProperties, 'additionalProperties'));
  }
  for (const [name, field] of Object.entries(properties)) {
    const isMeta = isRoot && (name === 'metadata' || name === 'kind' || name === 'apiVersion');
    errors.push(...below(field, `properties[${name}]`, isMeta ? `in top-level ${name}` : undefined));
  }
  if (schema.not) errors.push(...below(schema.not, 'not'));
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    errors.push(...(schema[name] ?? []).flatMap((part, index) => below(part, `${name}[${index}]`)));
  }
  if (items && !Array.isArray(items)) errors.push(...below(items, 'items'));
  return errors;
}

function ownErrors(schema: JsonSchema, { path, noDefaults }: Place): FieldError[] {
  const { type, properties, additionalProperties } = schema;
  const errors: FieldError[] = [];
  if (type === 'null') {
    errors.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  } else if (type && !TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, TYPES));
  if (schema.default !== undefined && noDefaults !== undefined) {
    errors.push(forbidden(`${path}.default`, `must not be set ${noDefaults}`));
  }
  const present = UNSUPPORTED.filter(
    (name) => memberOf(schema as Record<string, unknown>, name) !== undefined,
  );
  errors.push(...present.map((name) => forbidden(`${path}.${name}`, `${name} is not supported`)));
  if (Array.isArray(schema.items)) {
    errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (schema.uniqueItems) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbidden(`${path}.uniqueItems`, detail));
  }
  const hasProperties = properties !== undefined && Object.keys(properties).length > 0;
  if (hasProperties && additionalProperties !== undefined && additionalProperties !== true) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    errors.push(forbidden(`${path}.additionalProperties`, detail));
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(
      invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'),
    );
  }
  return [...errors, ...mapTypeErrors(schema, path), ...listTypeErrors(schema, path)];
}

function needsType(schema: JsonSchema, wanted: string, extension: string, path: string): FieldError[] {
  const { type = '' } = schema;
  const detail = `must be ${wanted} if ${extension} is specified`;
  if (type === wanted) return [];
  return [type === '' ? required(`${path}.type`, detail) : invalidValue(`${path}.type`, type, detail)];
}

function mapTypeErrors(schema: JsonSchema, path: string): FieldError[] {
  const name = 'x-kubernetes-map-type';
  const mapType = schema[name];
  if (mapType === undefined) return [];
  const supported = ['atomic', 'granular'];
  return [
    ...needsType(schema, 'object', name, path),
    ...(supported.includes(mapType) ? [] : [notSupported(`${path}.${name}`, mapType, supported)]),
  ];
}

function listTypeErrors(schema: JsonSchema, path: string): FieldError[] {
  const name = 'x-kubernetes-list-type';
  const listType = schema[name];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const at = `${path}.${name}`;
  if (listType === undefined) {
    return keys.length > 0 ? [required(at, 'must be map if x-kubernetes-list-map-keys is non-empty')] : [];
  }
  const supported = ['atomic', 'set', 'map'];
  return [
    ...needsType(schema, 'array', name, path),
    ...(supported.includes(listType) ? [] : [notSupported(at, listType, supported)]),
    ...(keys.length > 0 && listType !== 'map'
      ? [invalidValue(at, listType, 'must be map if x-kubernetes-list-map-keys is non-empty')]
      : []),
    ...(listType === 'set' ? setErrors(schema, path) : []),
    ...(listType === 'map' ? mapErrors(schema, keys, path) : []),
  ];
}

function setErrors({ items }: JsonSchema, path: string): FieldError[] {
  const errors = nullableItems(items, 'set', path);
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items?.['x-kubernetes-list-type'];
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic') {
    errors.push(invalidValue(`${path}.items.x-kubernetes-list-type`, listType, detail));
  }
  if (items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    errors.push(invalidValue(`${path}.items.x-kubernetes-map-type`, items['x-kubernetes-list-type'], detail));
  }
  return errors;
}

function nullableItems(items: JsonSchema | undefined, listType: string, path: string): FieldError[] {
  if (!items?.nullable) return [];
  const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
  return [forbidden(`${path}.items.nullable`, detail)];
}

function mapErrors({ items }: JsonSchema, keys: readonly string[], path: string): FieldError[] {
  const at = `${path}.x-kubernetes-list-map-keys`;
  const errors = nullableItems(items, 'map', path);
  if (keys.length === 0) errors.push(required(at, 'must not be empty if x-kubernetes-list-type is map'));
  if (!items) {
    return [...errors, required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalidValue(`${path}.items.type`, items.type ?? '', detail)];
  }
  return [...errors, ...keys.flatMap((_, index) => keyErrors(items, keys, index, path))];
}

function keyErrors(items: JsonSchema, keys: readonly string[], index: number, path: string): FieldError[] {
  const key = keys[index] ?? '';
  const field = memberOf(items.properties, key);
  const at = `${path}.items.properties[${key}]`;
  const errors: FieldError[] = [];
  if (!field) {
    const detail = 'entries must all be names of item properties';
    errors.push(invalidValue(`${path}.x-kubernetes-list-map-keys`, keys, detail));
  } else if (field.type === 'array' || field.type === 'object') {
    const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
    errors.push(invalidValue(`${at}.type`, items.type, detail));
  }
  if (keys.indexOf(key) < index) {
    const detail = 'must not contain duplicate entries';
    errors.push(invalidValue(`${path}.x-kubernetes-list-map-keys`, keys, detail));
  }
  const what = 'this property is in x-kubernetes-list-map-keys, so it';
  if (field && !items.required?.includes(key) && field.default === undefined) {
    errors.push(required(`${at}.default`, `${what} must have a default or be a required property`));
  }
  if (field?.nullable) errors.push(forbidden(`${at}.nullable`, `${what} cannot be nullable`));
  return errors;
}

/** The form of the rules. Their expressions are checked by the compiler of the rules. */
function ruleErrors(schema: JsonSchema, path: string): FieldError[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) => {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    const { message = '', messageExpression = '', reason, fieldPath = '' } = rule;
    const hasNewlines = (text: string) => /[\n\r]/.test(text.trim());
    const errors: FieldError[] = [];
    if (!rule.rule?.trim()) errors.push(required(`${at}.rule`, 'rule is not specified'));
    else if (message !== '' && message.trim() === '') {
      errors.push(invalidValue(`${at}.message`, message, 'must be non-empty if specified'));
    } else if (hasNewlines(message)) {
      errors.push(invalidValue(`${at}.message`, message, 'must not contain line breaks'));
    } else if (hasNewlines(rule.rule) && message.trim() === '') {
      errors.push(required(`${at}.message`, 'message must be specified if rule contains line breaks'));
    }
    if (messageExpression !== '' && messageExpression.trim() === '') {
      const detail = 'messageExpression must be non-empty if specified';
      errors.push(required(`${at}.messageExpression`, detail));
    }
    if (reason !== undefined && !RULE_REASONS.includes(reason)) {
      errors.push(notSupported(`${at}.reason`, reason, RULE_REASONS));
    }
    if (fieldPath !== '' && fieldPath.trim() === '') {
      errors.push(invalidValue(`${at}.fieldPath`, fieldPath, 'must be non-empty if specified'));
    }
    if (/[\n\r]/.test(fieldPath)) {
      errors.push(invalidValue(`${at}.fieldPath`, fieldPath, 'must not contain line breaks'));
    }
    return errors;
  });
}

/** Defaults must be valid and must not have unknown fields (pkg/apiserver/schema/defaulting/validation.go). */
export function validateDefaults(schema: JsonSchema, path: string): FieldError[] {
  const { items, properties = {} } = schema;
  return [
    ...ownDefault(schema, `${path}.default`),
    ...(items ? validateDefaults(items, `${path}.items`) : []),
    ...Object.entries(properties).flatMap(([name, field]) =>
      validateDefaults(field, `${path}.properties[${name}]`),
    ),
  ];
}

function ownDefault(schema: JsonSchema, path: string): FieldError[] {
  const value = schema.default;
  if (value === undefined) return [];
  const pruned = { value: copyValue(value) };
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const holder: JsonSchema = { type: 'object', properties: { value: schema } };
  pruneFields(pruned, holder);
  const unknown = isResource || sameValue(pruned.value, value);
  return [
    ...(unknown ? [] : [invalidValue(path, value, 'must not have unknown fields')]),
    ...validateValue(value, schema, path, undefined),
  ];
}
