/**
 * Makes equal parts of consecutive objects one object in memory. Most hosts of a fleet report the same capacity, and
 * the Pods of a DaemonSet have the same owner.
 */
import { setOwn } from '../../shared/kube/objects/merge-patch.js';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { ownText } from '../../shared/kube/objects/own-text.js';

type JsonMap = Record<string, unknown>;

/** Returns a function for the objects of one kind. It replaces parts by equal ones and returns its argument. */
export function sharingEqualParts<T extends KubeObject>(): (object: T) => T {
  let last: KubeObject | undefined;
  return (object) => {
    const { metadata, ...parts } = object;
    replaceParts(object, parts, last);
    // Other readers refer to the metadata, which is never equal to that of another object.
    replaceParts(metadata, metadata, last?.metadata);
    last = object;
    return object;
  };
}

/** Replaces maps and lists among `parts` of `object` by equal ones of `known`. */
function replaceParts(object: object, parts: object, known: object = {}): void {
  for (const [key, part] of Object.entries(parts)) {
    if (typeof part === 'object') setOwn(object as JsonMap, key, withKnownParts(part, own(known, key)));
  }
}

function own(map: object, key: string): unknown {
  return Object.hasOwn(map, key) ? (map as JsonMap)[key] : undefined;
}

/** Returns `known` if it is equal, otherwise a copy that contains the equal parts of `known`. */
export function withKnownParts(value: unknown, known: unknown): unknown {
  if (value === known) return known;
  if (typeof value === 'string') return ownText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return listWithKnownParts(value, Array.isArray(known) ? known : []);
  const other = typeof known === 'object' && known !== null && !Array.isArray(known) ? known : {};
  return mapWithKnownParts(value as JsonMap, other as JsonMap);
}

function listWithKnownParts(list: readonly unknown[], known: readonly unknown[]): readonly unknown[] {
  const items = list.map((item, index) => withKnownParts(item, known[index]));
  const isEqual = list.length === known.length && items.every((item, index) => item === known[index]);
  return isEqual ? known : items;
}

function mapWithKnownParts(map: JsonMap, known: JsonMap): JsonMap {
  const copy = { ...map };
  const keys = Object.keys(map);
  let equal = 0;
  for (const key of keys) {
    const member = withKnownParts(map[key], own(known, key));
    if (Object.hasOwn(known, key) && member === known[key]) equal += 1;
    setOwn(copy, key, member);
  }
  return equal === keys.length && equal === Object.keys(known).length ? known : copy;
}
