/**
 * Lookups in maps with keys from outside. A plain object also has the keys that every object inherits, so
 * `labels['constructor']` is a function where no such label exists.
 */

/** The value of the map's own key; undefined for an absent key and for an inherited one. */
export function ownValue<T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
