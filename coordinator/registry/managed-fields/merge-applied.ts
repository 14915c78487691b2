/** The live object with an applied manifest laid over it (structured-merge-diff `typed/merge.go`). */
import { fieldSchema, type Schema } from '../../kinds/schema/schema-definitions.js';
import { isJsonMap, type JsonMap, setOwn } from '../encoding/json-value.js';
import { itemElement } from './path-element.js';
import { type Shape, shapeOf } from './schema-shape.js';

/** Fields of `applied` win; what it does not name stays. Shares parts with both, changes neither. */
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
 * Applied items in their own order; items that only the live list has stay behind the ones that they followed.
 * Where the two orders differ, the applied one counts.
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
