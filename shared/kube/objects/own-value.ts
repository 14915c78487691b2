/**
 * Safe lookups in maps with untrusted keys. Plain objects inherit keys: `labels['constructor']` is a function even if
 * no such label exists.
 */

/** Returns the value of the map's own key. Returns undefined for an absent or inherited key. */
export function ownValue<T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
