/** Finds the field of an API error in the text of a manifest. Pure. */
import { type Document, isMap, isNode, isScalar, isSeq } from 'yaml';

export interface TextRange {
  from: number;
  to: number;
}

/** Splits `spec.containers[0].limits[cpu]`. Keys in brackets may contain dots. */
function partsOf(path: string): string[] {
  return [...path.matchAll(/\[([^\]]*)\]|[^.[\]]+/g)].map(([whole, key]) => key ?? whole);
}

/** Returns the range of the field, or of its innermost parent that is present in the text. */
export function rangeOfField(document: Document, path: string): TextRange {
  let node: unknown = document.contents;
  let place: TextRange = { from: 0, to: 0 };
  for (const part of partsOf(path)) {
    const next = childOf(node, part);
    if (!next) break;
    place = next.place;
    node = next.node;
  }
  return place;
}

function childOf(node: unknown, part: string): { node: unknown; place: TextRange } | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(part)];
    // Error messages about types omit the index.
    if (item === undefined) return Number.isNaN(Number(part)) ? childOf(node.items[0], part) : undefined;
    return { node: item, place: placeOf(item, item) };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
  return pair && { node: pair.value, place: placeOf(pair.key, isScalar(pair.value) ? pair.value : pair.key) };
}

function placeOf(first: unknown, last: unknown): TextRange {
  const from = (isNode(first) && first.range?.[0]) || 0;
  const to = (isNode(last) && last.range?.[1]) || from;
  return { from, to };
}
