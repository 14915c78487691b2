/** Merges an applied manifest into the live object (structured-merge-diff `typed/merge.go`). */

import { setOwn } from '../../../shared/kube/objects/merge-patch.js';
import { fieldSchema, type Schema } from '../../kinds/schema/schema-definitions.js';
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';
import { itemElement } from './path-element.js';
import { type Shape, shapeOf } from './schema-shape.js';

/** Returns `live` with the fields of `applied` on top. The result shares parts with both. */
export function mergeApplied(live: unknown, applied: unknown, schema: Schema | undefined): unknown {
  if (applied === undefined) return live;
  if (live === undefined || live === null) return applied;
  const shape = shapeOf(schema);
  if (shape.type === 'map' && isJsonMap(live)) {
    return isJsonMap(applied) ? mergeMaps(live, applied, shape.schema) : live;
  }
  if (shape.type === 'list' && Array.isArray(live)) {
    return Array.isArray(applied) ? mergeLists(live, applied, shape) : live;
  }
  return applied;
}

function mergeMaps(live: JsonMap, applied: JsonMap, schema: Schema): JsonMap {
  const merged = { ...live };
  for (const [key, value] of Object.entries(applied)) {
    const present = Object.hasOwn(live, key) ? live[key] : undefined;
    setOwn(merged, key, mergeApplied(present, value, fieldSchema(schema, key)));
  }
  return merged;
}

/**
 * Applied items keep the order of the manifest. Other live items stay behind the item that they followed. If the orders
 * contradict each other, the manifest's order wins.
 */
function mergeLists(
  live: readonly unknown[],
  applied: readonly unknown[],
  { keys, items }: Extract<Shape, { type: 'list' }>,
): unknown[] {
  const elementOf = (item: unknown, index: number) => itemElement(item, index, keys, items);
  const liveElements = live.map(elementOf);
  const present = new Map(liveElements.map((element, index) => [element, live[index]]));
  const wanted = applied.map(elementOf);
  const merged: unknown[] = [];
  let next = 0;
  const takeUpTo = (end: number) => {
    for (; next < end; next += 1)
      merged.push(mergeApplied(present.get(wanted[next] ?? ''), applied[next], items));
  };
  const isShared = (element: string | undefined) => element !== undefined && present.has(element);
  for (const [index, element] of liveElements.entries()) {
    const at = wanted.indexOf(element);
    if (at < 0) merged.push(live[index]);
    else if (at >= next && !wanted.slice(next, at).some(isShared)) takeUpTo(at + 1);
  }
  takeUpTo(applied.length);
  return merged;
}
