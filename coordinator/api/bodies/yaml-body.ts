/** Parses YAML bodies like kubectl's parser, and finds keys that occur twice in one mapping. */
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Tags } from 'yaml';
import { Keys, type RepeatedKey, RepeatedKeyList } from './repeated-keys.js';

/** YAML 1.1 tags that Go's parser, and so kubectl, does not resolve. Their values stay strings. */
const FOREIGN_TAGS = new Set(['timestamp', 'binary', 'omap', 'pairs', 'set', 'intTime', 'floatTime']);

/** Returns the library's short name of a tag, e.g. `intTime`. */
function tagName(tag: Tags[number]): string {
  if (typeof tag === 'string') return tag;
  const name = tag.tag.replace('tag:yaml.org,2002:', '');
  return tag.format === 'TIME' ? `${name}Time` : name;
}

/** `repeatedKeys` searches when it is called. */
interface YamlBody {
  value: unknown;
  repeatedKeys: () => RepeatedKey[];
}

/** Throws the parser's error for invalid YAML. The caller must have limited the nesting. */
export function parseYamlText(text: string): YamlBody {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.1',
    // The library's check has quadratic cost and reports an error. Like in kubectl, the last value wins.
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
    customTags: (tags) => tags.filter((tag) => !FOREIGN_TAGS.has(tagName(tag))),
  });
  const [error] = document.errors;
  if (error) throw error;
  return { value: document.toJS(), repeatedKeys: () => repeatedKeysOf(document, lines) };
}

function repeatedKeysOf(document: Document.Parsed, lines: LineCounter): RepeatedKey[] {
  const found = new RepeatedKeyList();
  walk(document.contents, [], lines, found);
  return found.all();
}

function walk(
  node: unknown,
  places: readonly (string | number)[],
  lines: LineCounter,
  found: RepeatedKeyList,
): void {
  if (isSeq(node))
    for (const [index, item] of node.items.entries()) walk(item, [...places, index], lines, found);
  if (!isMap(node)) return;
  const keys = new Keys();
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : String(key);
    const inner = [...places, name];
    walk(value, inner, lines, found);
    if (keys.isRepeated(name)) found.add(inner, () => lineOf(value ?? key, lines));
  }
}

function lineOf(node: unknown, lines: LineCounter): number {
  return lines.linePos((isNode(node) && node.range?.[0]) || 0).line;
}
