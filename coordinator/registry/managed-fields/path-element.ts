/** One element of a path, in the text form of FieldsV1 and in that of error messages (`fieldpath.PathElement`). */
import { fieldSchema, type Schema } from '../../kinds/schema/schema-definitions.js';
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';

/** Returns `f:NAME`: a field of a struct or a key of a map. */
export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** Returns `v:VALUE`: a plain value in a list that is a set. */
function valueElement(value: unknown): string {
  return `v:${JSON.stringify(value)}`;
}

/** Returns `k:{"name":"a"}`: an item of a list with keys, its keys sorted by name. */
function keyElement(keys: JsonMap): string {
  const members = Object.keys(keys)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(keys[name])}`);
  return `k:{${members.join(',')}}`;
}

/** Returns `i:N`, only for an item that lacks its key. */
function indexElement(index: number): string {
  return `i:${index}`;
}

/** Returns the keys of an item with defaults filled in, or undefined if one is missing. */
function keysOf(
  item: unknown,
  names: readonly string[],
  itemSchema: Schema | undefined,
): JsonMap | undefined {
  if (!isJsonMap(item)) return undefined;
  const keys: JsonMap = {};
  for (const name of names) {
    const value = item[name] ?? (itemSchema && fieldSchema(itemSchema, name)?.default);
    if (value === undefined) return undefined;
    keys[name] = value;
  }
  return keys;
}

/** Returns the path element of a list item: by these key fields, or by value if `keys` is absent. */
export function itemElement(
  item: unknown,
  index: number,
  keys: readonly string[] | undefined,
  itemSchema: Schema | undefined,
): string {
  if (keys === undefined) return valueElement(item);
  const found = keysOf(item, keys, itemSchema);
  return found ? keyElement(found) : indexElement(index);
}

/** True if the element identifies its item only by index, because the item lacks its key. */
export function lacksKey(element: string): boolean {
  return element.startsWith('i:');
}

/** Returns the element in its canonical form, or undefined if the text is not a path element. */
export function readElement(text: string): string | undefined {
  if (text.startsWith('f:')) return text;
  if (/^i:\d+$/.test(text)) return text;
  if (!text.startsWith('k:') && !text.startsWith('v:')) return undefined;
  const value = parsed(text.slice(2));
  if (text.startsWith('v:')) return value === undefined ? undefined : valueElement(value);
  return isJsonMap(value) ? keyElement(value) : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns for example `.spec.template.spec.containers[name="app"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join('');
}

function elementText(element: string): string {
  const body = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${body}`;
    case 'k': {
      const keys = Object.entries(JSON.parse(body));
      return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${body}]`;
    default:
      return `[${body}]`;
  }
}
