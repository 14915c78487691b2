/** Where in a manifest's text a field stands that the API speaks of. Pure. */
import { type Document, isMap, isNode, isScalar, isSeq } from 'yaml';

/** Offsets in the text. */
export interface TextRange {
  from: number;
  to: number;
}

/** `spec.containers[0].limits[cpu]` → its parts. Keys in brackets may have dots. */
function partsOf(path: string): string[] {
  return [...path.matchAll(/\[([^\]]*)\]|[^.[\]]+/g)].map(([whole, key]) => key ?? whole);
}

/** The place of the field, or of the innermost one around it that the text has. */
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
    // Messages about types leave the index out.
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
