/** JSON merge patches (RFC 7396): applied, and computed from two values. */

type JsonMap = { [key: string]: unknown };

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets an own property. A plain assignment to `__proto__` would replace the prototype instead. */
export function setOwn(map: JsonMap, key: string, value: unknown): void {
  if (key !== '__proto__') map[key] = value;
  else Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
}

/**
 * Returns `target` with `patch` merged in: null removes a member, a map is merged, any other value replaces. The result
 * shares unchanged parts with `target`, which stays unchanged.
 */
export function applyMergePatch(target: unknown, patch: JsonMap): JsonMap {
  const merged: JsonMap = isMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else setOwn(merged, key, isMap(value) ? applyMergePatch(own(merged, key), value) : value);
  }
  return merged;
}

function own(map: JsonMap, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/**
 * Returns the patch that turns `before` into `after`, or undefined if they are equal. Neither may contain null, which a
 * patch cannot express. A list that differs is replaced as a whole.
 */
export function mergePatchBetween(before: JsonMap, after: JsonMap): JsonMap | undefined {
  const patch: JsonMap = {};
  for (const key of Object.keys(after)) {
    const change = changeOf(own(before, key), after[key]);
    if (change !== undefined) setOwn(patch, key, change);
  }
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && own(after, key) === undefined) setOwn(patch, key, null);
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** Returns undefined for equal values. A patch merges into a map, so another type is replaced as a whole. */
function changeOf(before: unknown, after: unknown): unknown {
  if (before === after || after === undefined) return undefined;
  if (isMap(before) && isMap(after)) return mergePatchBetween(before, after);
  return isEqual(before, after) ? undefined : after;
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => isEqual(item, other[index]));
  }
  return isMap(one) && isMap(other) && mergePatchBetween(one, other) === undefined;
}
