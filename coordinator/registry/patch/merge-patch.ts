/** JSON merge patch, RFC 7396. */
import { isJsonMap, type JsonMap, setOwn } from '../encoding/json-value.js';

/** `target` with the members of `patch` merged in: null removes, a map merges, everything else replaces. */
export function applyMergePatch(target: unknown, patch: JsonMap): JsonMap {
  const merged: JsonMap = isJsonMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else setOwn(merged, key, isJsonMap(value) ? applyMergePatch(own(merged, key), value) : value);
  }
  return merged;
}

function own(map: JsonMap, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
