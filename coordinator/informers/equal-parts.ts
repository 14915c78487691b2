/**
 * Makes equal parts of consecutive objects one object in memory. Most hosts of a fleet report the same capacity, and
 * the Pods of a DaemonSet have the same owner.
 */
import { setOwn } from '../../shared/kube/objects/merge-patch.js';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { ownText } from '../../shared/kube/objects/own-text.js';

type JsonMap = Record<string, unknown>;

/**
 * Returns a function for the objects of one kind. It replaces parts by equal ones and returns its argument. The object
 * is shared with other readers, who see no difference. Fields that equal those of `previous`, the object before the
 * change, were shared when it arrived.
 */
export function sharingEqualParts<T extends KubeObject>(): (object: T, previous?: T) => T {
  let last: JsonMap = {};
  return (object, previous) => {
    const map = object as unknown as JsonMap;
    const before = previous as unknown as JsonMap | undefined;
    // Other readers refer to the metadata, which never equals that of another object.
    shareFields(map.metadata as JsonMap, last.metadata as JsonMap, before?.metadata as JsonMap);
    shareFields(map, last, before, 'metadata');
    last = map;
    return object;
  };
}

function shareFields(
  map: JsonMap,
  known: JsonMap | undefined,
  previous: JsonMap | undefined,
  except?: string,
): void {
  for (const key of Object.keys(map)) {
    if (key === except) continue;
    const value = map[key];
    // The previous text, because an equal one may keep the frame in memory in which it arrived.
    setOwn(map, key, previous?.[key] === value ? previous?.[key] : withKnownParts(value, known?.[key]));
  }
}

/**
 * Returns `known` if it is equal. Otherwise returns `value`, in which parts are replaced by equal ones of `known` and
 * long strings by copies.
 */
export function withKnownParts(value: unknown, known: unknown): unknown {
  if (value === known) return known;
  if (typeof value === 'string') return ownText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return shareItems(value, Array.isArray(known) ? known : undefined) ? known : value;
  const isMap = typeof known === 'object' && known !== null && !Array.isArray(known);
  return shareMembers(value as JsonMap, isMap ? (known as JsonMap) : undefined) ? known : value;
}

/** Returns true if both lists are equal. */
function shareItems(list: unknown[], known: readonly unknown[] | undefined): boolean {
  let isEqual = list.length === known?.length;
  for (let index = 0; index < list.length; index += 1) {
    const shared = withKnownParts(list[index], known?.[index]);
    list[index] = shared;
    isEqual &&= shared === known?.[index];
  }
  return isEqual;
}

/**
 * Returns true if both maps are equal and have their members in the same order. The digest of a Pod that a host holds
 * depends on the order: with the members of another Pod's map, the hub would send the Pod again after a reconnect.
 */
function shareMembers(map: JsonMap, known: JsonMap | undefined): boolean {
  let equal = 0;
  const keys = Object.keys(map);
  const knownKeys = known ? Object.keys(known) : [];
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] as string;
    const isKnown = known !== undefined && Object.hasOwn(known, key);
    const shared = withKnownParts(map[key], isKnown ? known[key] : undefined);
    setOwn(map, key, shared);
    if (knownKeys[index] === key && shared === known?.[key]) equal += 1;
  }
  return known !== undefined && equal === keys.length && equal === knownKeys.length;
}
