/** Which fields a write changed (structured-merge-diff `typed/compare.go`). */
import { fieldSchema, type Schema } from '../../kinds/schema/schema-definitions.js';
import { isJsonMap, type JsonMap, sameJson } from '../encoding/json-value.js';
import { EMPTY_SET, type FieldSet, fieldSet, MEMBER, outside, union } from './field-set.js';
import { fieldElement, itemElement } from './path-element.js';
import { type Shape, shapeOf } from './schema-shape.js';

interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

const SAME: Comparison = { added: EMPTY_SET, modified: EMPTY_SET, removed: EMPTY_SET };

/** Returns the fields that were added, modified and removed. undefined means absent; null is a value. */
export function compareFields(before: unknown, after: unknown, schema: Schema | undefined): Comparison {
  if (before === after) return SAME;
  const shape = shapeOf(schema);
  if (shape.type === 'leaf' || (isVoid(before) && isVoid(after))) return compareLeaf(before, after);
  const parts =
    shape.type === 'map'
      ? compareMaps(mapOf(before), mapOf(after), shape.schema)
      : compareLists(listOf(before), listOf(after), shape);
  return combined(before, after, parts);
}

/** Returns the comparison without the fields of `ignored` and the fields below them. */
export function withoutFields({ added, modified, removed }: Comparison, ignored: FieldSet): Comparison {
  return {
    added: outside(added, ignored),
    modified: outside(modified, ignored),
    removed: outside(removed, ignored),
  };
}

/** Returns the fields that the writer of a change owns afterwards. */
export function writtenFields({ added, modified }: Comparison): FieldSet {
  return union(added, modified);
}

function isVoid(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonMap(value) && Object.keys(value).length === 0;
}

function compareLeaf(before: unknown, after: unknown): Comparison {
  if (before === undefined) return { ...SAME, added: MEMBER };
  if (after === undefined) return { ...SAME, removed: MEMBER };
  return sameJson(before, after) ? SAME : { ...SAME, modified: MEMBER };
}

function mapOf(value: unknown): JsonMap {
  return isJsonMap(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

type Part = readonly [element: string, comparison: Comparison];

/** Returns only the parts that differ, because a map of thousands of keys may differ in one. */
function compareMaps(before: JsonMap, after: JsonMap, schema: Schema): Part[] {
  const parts: Part[] = [];
  const compareAt = (key: string, old: unknown, young: unknown) => {
    if (old === young) return;
    const comparison = compareFields(old, young, fieldSchema(schema, key));
    if (comparison !== SAME) parts.push([fieldElement(key), comparison]);
  };
  for (const key of Object.keys(after))
    compareAt(key, Object.hasOwn(before, key) ? before[key] : undefined, after[key]);
  for (const key of Object.keys(before))
    if (!Object.hasOwn(after, key)) compareAt(key, before[key], undefined);
  return parts;
}

type ListShape = Extract<Shape, { type: 'list' }>;

function compareLists(before: readonly unknown[], after: readonly unknown[], shape: ListShape): Part[] {
  const old = itemsByElement(before, shape);
  const young = itemsByElement(after, shape);
  const elements = new Set([...old.keys(), ...young.keys()]);
  return [...elements].flatMap((element): Part[] => {
    const comparison = compareItems(old.get(element) ?? [], young.get(element) ?? [], shape.items);
    return comparison === SAME ? [] : [[element, comparison]];
  });
}

/** Compares items with the same key together, because lists of older releases may contain duplicates. */
function compareItems(
  before: readonly unknown[],
  after: readonly unknown[],
  items: Schema | undefined,
): Comparison {
  if (before.length <= 1 && after.length <= 1) return compareFields(before[0], after[0], items);
  return compareLeaf(before.length ? before : undefined, after.length ? after : undefined);
}

function itemsByElement(list: readonly unknown[], { keys, items }: ListShape): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const [index, item] of list.entries()) {
    const element = itemElement(item, index, keys, items);
    found.set(element, [...(found.get(element) ?? []), item]);
  }
  return found;
}

function combined(before: unknown, after: unknown, parts: readonly Part[]): Comparison {
  if (parts.length === 0 && before !== undefined && after !== undefined) return SAME;
  const gather = (which: keyof Comparison, isMember: boolean) =>
    fieldSet(
      isMember,
      parts.map(([element, part]) => [element, part[which]] as const),
    );
  return {
    added: gather('added', before === undefined),
    modified: gather('modified', false),
    removed: gather('removed', after === undefined),
  };
}
