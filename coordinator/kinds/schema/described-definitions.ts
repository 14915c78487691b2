/** The definitions with descriptions, for `kubectl explain`. The texts are our own, for the kinds at the centre. */
import { readFileSync } from 'node:fs';
import { DEFINITIONS, type Schema } from './schema-definitions.js';

/** By definition, then by field; "" describes the type itself. */
type Descriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

const DESCRIPTIONS: Descriptions = JSON.parse(
  readFileSync(new URL('./descriptions.json', import.meta.url), 'utf8'),
);

/** A schema as upstream's documents write it: a reference that is described stands in `allOf`. */
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

/** Every definition, described where there are texts for it. */
export function describedDefinitions(): Readonly<Record<string, DescribedSchema>> {
  const entries = Object.entries(DEFINITIONS).map(([name, schema]): [string, DescribedSchema] => {
    const texts = DESCRIPTIONS[name];
    return [name, texts ? described(schema, texts) : schema];
  });
  return Object.fromEntries(entries);
}

/** Descriptions of what no definition has, as `definition` or `definition.field`: a test holds this empty. */
export function orphanedDescriptions(): string[] {
  return Object.entries(DESCRIPTIONS).flatMap(([name, texts]) => {
    const schema = DEFINITIONS[name];
    if (!schema) return [name];
    return Object.keys(texts)
      .filter((field) => field !== '' && !schema.properties?.[field])
      .map((field) => `${name}.${field}`);
  });
}
