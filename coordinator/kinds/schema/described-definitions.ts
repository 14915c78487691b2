/** The definitions with descriptions for `kubectl explain`. The texts cover the most important kinds. */
import { readFileSync } from 'node:fs';
import { DEFINITIONS, type Schema } from './schema-definitions.js';

/** Texts by definition and field; "" is the type itself. */
type Descriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

const DESCRIPTIONS: Descriptions = JSON.parse(
  readFileSync(new URL('./descriptions.json', import.meta.url), 'utf8'),
);

/** A schema in the form of upstream's documents: a described `$ref` is inside `allOf`. */
export interface DescribedSchema extends Omit<Schema, 'properties'> {
  description?: string;
  allOf?: Schema[];
  properties?: Readonly<Record<string, DescribedSchema>>;
}

function describedField(schema: Schema, description: string | undefined): DescribedSchema {
  if (description === undefined) return schema;
  return schema.$ref ? { description, allOf: [schema] } : { description, ...schema };
}

function described(schema: Schema, texts: Readonly<Record<string, string>>): DescribedSchema {
  const { '': own, ...ofFields } = texts;
  const fields = Object.entries(schema.properties ?? {});
  return {
    ...(own === undefined ? {} : { description: own }),
    ...schema,
    properties: Object.fromEntries(
      fields.map(([name, field]) => [name, describedField(field, ofFields[name])]),
    ),
  };
}

/** Returns all definitions, with descriptions where available. */
export function describedDefinitions(): Readonly<Record<string, DescribedSchema>> {
  const entries = Object.entries(DEFINITIONS).map(([name, schema]): [string, DescribedSchema] => {
    const texts = DESCRIPTIONS[name];
    return [name, texts ? described(schema, texts) : schema];
  });
  return Object.fromEntries(entries);
}

/** Returns descriptions without a definition or field. A test requires an empty result. */
export function orphanedDescriptions(): string[] {
  return Object.entries(DESCRIPTIONS).flatMap(([name, texts]) => {
    const schema = DEFINITIONS[name];
    if (!schema) return [name];
    return Object.keys(texts)
      .filter((field) => field !== '' && !schema.properties?.[field])
      .map((field) => `${name}.${field}`);
  });
}
