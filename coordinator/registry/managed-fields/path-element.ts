/** One step of a path into an object: its text in FieldsV1, and as error messages show it (`fieldpath.PathElement`). */
import { fieldSchema, type Schema } from '../../kinds/schema/schema-definitions.js';
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';

/** `f:NAME`: a field of a struct or a key of a map. */
export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** `v:VALUE`: a plain value in a list that is a set. */
function valueElement(value: unknown): string {
  return `v:${JSON.stringify(value)}`;
}

/** `k:{"name":"a"}`: an item of a list that is a map, its keys by name. */
function keyElement(keys: JsonMap): string {
  const members = Object.keys(keys)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(keys[name])}`);
  return `k:{${members.join(',')}}`;
}

/** `i:N`: only for an item that lacks its key, so that it still has a place. */
function indexElement(index: number): string {
  return `i:${index}`;
}

/** The keys of an item, defaults filled in; undefined when one is missing. */
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

/** How items of a list are told apart: by value (`keys` absent), or by these fields of theirs. */
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

/** Whether the item was told apart by nothing but its place: it lacks a key. */
export function lacksKey(element: string): boolean {
  return element.startsWith('i:');
}

/** The same element in the one form that we write; undefined for text that is none. */
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

/** `.spec.template.spec.containers[name="app"].image`. */
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
