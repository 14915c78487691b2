/** The `fieldPath` of a rule: `.spec.name`, `['x.y']`. Only fields and map keys that the schema declares. */
import { type StructuralSchema, valueSchema } from './structural-schema.js';

const STEP = /\.([^.[\]]+)|\['((?:\\.|[^'\\])*)'\]/y;

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Returns the path as field errors show it, or undefined if the schema has no such field. */
export function fieldPathOf(path: string, schema: StructuralSchema): string | undefined {
  let shown = '';
  let at: StructuralSchema | undefined = schema;
  STEP.lastIndex = 0;
  for (let from = 0; from < path.length; from = STEP.lastIndex) {
    const step = STEP.exec(path);
    if (!step || !at) return undefined;
    const name =
      step[1] ?? (step[2] ?? '').replace(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter);
    if (at.properties) {
      at = Object.hasOwn(at.properties, name) ? at.properties[name] : undefined;
      shown += `.${name}`;
    } else {
      at = valueSchema(at);
      shown += `[${name}]`;
    }
    if (!at) return undefined;
  }
  return shown;
}
