/**
 * Access to definitions.json (upstream's types as OpenAPI v3 schemas with patch strategies, written by
 * generate-schema.mjs) and fleet-definitions.json (Everynode's own types).
 */
import { readFileSync } from 'node:fs';

/** The used parts of an OpenAPI v3 schema. `$ref` stands without other members. */
export interface Schema {
  $ref?: string;
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  format?: string;
  required?: string[];
  /** Only for fields in a list's key, and in custom kinds. */
  default?: unknown;
  properties?: Readonly<Record<string, Schema>>;
  /** The schema of a map's values. */
  additionalProperties?: Schema;
  items?: Schema;
  oneOf?: Schema[];
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  /** The key by which a strategic merge patch matches list elements. Sets of plain values have none. */
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-patch-strategy'?: 'merge' | 'merge,retainKeys';
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic';
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

const REFERENCE_PREFIX = '#/components/schemas/';

/** All definitions by name, for example `io.k8s.api.core.v1.PodSpec`. Shared: do not change them. */
export const DEFINITIONS: Readonly<Record<string, Schema>> = {
  ...read('./definitions.json'),
  ...read('./fleet-definitions.json'),
};

function read(file: string): Record<string, Schema> {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
}

/** Returns the definition of this name. Throws if there is none: names only come from code. */
export function definitionOf(name: string): Schema {
  const schema = DEFINITIONS[name];
  if (!schema) throw new Error(`no schema is named ${name}`);
  return schema;
}

/** Returns the schema of a kind's objects. */
export function schemaOf({ schema, definition }: { schema: string; definition?: Schema }): Schema {
  return definition ?? definitionOf(schema);
}

/** Returns the name in a `$ref`. */
export function referencedName(schema: Schema): string | undefined {
  return schema.$ref?.slice(REFERENCE_PREFIX.length);
}

/** Returns the schema itself, or the definition that its `$ref` names. */
export function resolved(schema: Schema): Schema {
  const name = referencedName(schema);
  return name === undefined ? schema : definitionOf(name);
}

/** Returns the resolved schema of a struct's field or a map's values, or undefined for an unknown field. */
export function fieldSchema(schema: Schema, field: string): Schema | undefined {
  const known =
    schema.properties && Object.hasOwn(schema.properties, field) ? schema.properties[field] : undefined;
  const found = known ?? schema.additionalProperties;
  return found && resolved(found);
}

/** Returns the resolved schema of a list's elements. */
export function itemSchema(schema: Schema): Schema | undefined {
  return schema.items && resolved(schema.items);
}
