/** Types and largest sizes of the values that a schema allows (k8s.io/apiserver pkg/cel/common/schemas.go). */
import { type CelType, DYN, STRING } from '../language/cel-type.js';
import { escapeName } from './property-names.js';
import { type StructuralSchema, valueSchema, withObjectMeta } from './structural-schema.js';

/** The largest request (apis/cel MaxRequestSizeBytes). It bounds each size that a schema leaves open. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;
const MAX_TIME_BYTES = 32;
const DATE_BYTES = 12;

/** A type, and the smallest number of bytes of a value in JSON. */
export interface SchemaType {
  type: CelType;
  minBytes: number;
}

/** Names of object types: two schemas are two types, even if they are alike. */
let objectTypes = 0;

/** Returns undefined for values that rules cannot read: those without a declared type. */
export function schemaType(schema: StructuralSchema, isRoot: boolean): SchemaType | undefined {
  if (schema['x-kubernetes-int-or-string']) {
    const maxSize = schema.maxLength === undefined ? MAX_REQUEST_BYTES - 2 : bytesOf(schema.maxLength);
    return { type: { ...DYN, maxSize }, minBytes: 1 };
  }
  const declared = isRoot ? withObjectMeta(schema) : schema;
  switch (declared.type) {
    case 'array':
      return arrayType(declared);
    case 'object':
      return valueSchema(declared) ? mapType(declared) : objectType(declared);
    case 'string':
      return textType(declared);
    case 'boolean':
      return { type: { kind: 'bool', maxSize: 0 }, minBytes: 4 };
    case 'number':
      return { type: { kind: 'double', maxSize: 0 }, minBytes: 1 };
    case 'integer':
      return { type: { kind: 'int', maxSize: 0 }, minBytes: 1 };
    default:
      return undefined;
  }
}

function arrayType(schema: StructuralSchema): SchemaType | undefined {
  const items =
    schema.items && schemaType(schema.items, schema.items['x-kubernetes-embedded-resource'] === true);
  if (!items) return undefined;
  const most = Math.floor((MAX_REQUEST_BYTES - 2) / (items.minBytes + 1));
  const maxSize = schema.maxItems === undefined ? most : Math.max(0, schema.maxItems);
  return { type: { kind: 'list', element: items.type, maxSize }, minBytes: 2 };
}

function mapType(schema: StructuralSchema): SchemaType | undefined {
  const inner = valueSchema(schema);
  const values = inner && schemaType(inner, inner['x-kubernetes-embedded-resource'] === true);
  if (!values) return undefined;
  const most = Math.floor((MAX_REQUEST_BYTES - 2) / (values.minBytes + 6));
  const maxSize = schema.maxProperties === undefined ? most : Math.max(0, schema.maxProperties);
  // Upstream estimates keys as empty (its StringType has no MaxElements), so charts have rules that would be refused
  // with the size of a request. While a rule runs, the real keys are charged.
  return { type: { kind: 'map', key: { ...STRING, maxSize: 0 }, value: values.type, maxSize }, minBytes: 2 };
}

function objectType(schema: StructuralSchema): SchemaType {
  const required = new Set(schema.required);
  const fields = new Map<string, CelType>();
  let minBytes = 2;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const field = schemaType(property, property['x-kubernetes-embedded-resource'] === true);
    if (!field) continue;
    const identifier = escapeName(name);
    if (identifier !== undefined) fields.set(identifier, field.type);
    // The server fills in a required property that has a default.
    if (required.has(name) && property.default === undefined) minBytes += name.length + field.minBytes + 4;
  }
  objectTypes += 1;
  return { type: { kind: 'object', name: `object#${objectTypes}`, fields, maxSize: 0 }, minBytes };
}

function textType(schema: StructuralSchema): SchemaType {
  const { maxLength } = schema;
  switch (schema.format) {
    case 'byte': {
      const maxSize = maxLength === undefined ? MAX_REQUEST_BYTES - 2 : Math.max(0, maxLength);
      return { type: { kind: 'bytes', maxSize }, minBytes: 2 };
    }
    case 'duration':
      return { type: { kind: 'duration', maxSize: MAX_TIME_BYTES }, minBytes: 3 };
    case 'date':
      return { type: { kind: 'timestamp', maxSize: DATE_BYTES }, minBytes: DATE_BYTES };
    case 'date-time':
      return { type: { kind: 'timestamp', maxSize: MAX_TIME_BYTES }, minBytes: 21 };
    default:
      return { type: { kind: 'string', maxSize: textSize(schema) }, minBytes: 2 };
  }
}

function textSize({ maxLength, enum: allowed = [] }: StructuralSchema): number {
  if (maxLength !== undefined) return bytesOf(maxLength);
  if (allowed.length === 0) return MAX_REQUEST_BYTES - 2;
  return Math.max(...allowed.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)));
}

/** A character has at most four bytes. */
function bytesOf(maxLength: number): number {
  return Math.max(0, maxLength) * 4;
}
