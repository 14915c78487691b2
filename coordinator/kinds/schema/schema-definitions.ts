/**
 * Reader of definitions.json: upstream's types as OpenAPI v3 schemas, with the patch strategies of their lists, which
 * generate-schema.mjs writes; and of fleet-definitions.json, our own types.
 */
import { readFileSync } from 'node:fs';

/** An OpenAPI v3 schema, as far as ours use it. `$ref` stands alone. */
export interface Schema {
  $ref?: string;
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  format?: string;
  required?: string[];
  /** Only where it is part of a list's key. */
  default?: string;
  properties?: Readonly<Record<string, Schema>>;
  /** Values of a map. */
  additionalProperties?: Schema;
  items?: Schema;
  oneOf?: Schema[];
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  /** The key by which a strategic merge patch finds list elements; absent with `merge` for sets of plain values. */
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-patch-strategy'?: 'merge' | 'merge,retainKeys';
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic';
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

const REFERENCE_PREFIX = '#/components/schemas/';

/** Every definition by name, e.g. `io.k8s.api.core.v1.PodSpec`. Shared: do not change it. */
export const DEFINITIONS: Readonly<Record<string, Schema>> = {
  ...read('./definitions.json'),
  ...read('./fleet-definitions.json'),
};

function read(file: string): Record<string, Schema> {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
}

/** The definition of this name. Throws when there is none: names come from our own code only. */
export function definitionOf(name: string): Schema {
  const schema = DEFINITIONS[name];
  if (!schema) throw new Error(`no schema is named ${name}`);
  return schema;
}

/** The name that a `$ref` points to. */
export function referencedName(schema: Schema): string | undefined {
  return schema.$ref?.slice(REFERENCE_PREFIX.length);
}

/** The schema itself, or the definition that it refers to. */
export function resolved(schema: Schema): Schema {
  const name = referencedName(schema);
  return name === undefined ? schema : definitionOf(name);
}

/** The resolved schema of a struct's field or a map's value; undefined for a field that the struct lacks. */
export function fieldSchema(schema: Schema, field: string): Schema | undefined {
  const known =
    schema.properties && Object.hasOwn(schema.properties, field) ? schema.properties[field] : undefined;
  const found = known ?? schema.additionalProperties;
  return found && resolved(found);
}

/** The resolved schema of a list's elements. */
export function itemSchema(schema: Schema): Schema | undefined {
  return schema.items && resolved(schema.items);
}
