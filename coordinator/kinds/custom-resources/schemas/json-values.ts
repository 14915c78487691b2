/** Access to the members of JSON values that users send. */

export type JsonObject = Record<string, unknown>;

/** True for a JSON object: neither a list nor null. */
export function isMap(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an own member. An inherited one, such as `constructor`, is not a field of the document. */
export function memberOf<T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return map && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Returns a deep copy. */
export function copyValue<T>(value: T): T {
  return structuredClone(value);
}

/** Deep equality of JSON values. */
export function sameValue(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => sameValue(item, right[index]));
  }
  if (!isMap(left) || !isMap(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameValue(left[key], right[key]));
}

/** Returns the value at a simple JSON path such as `.spec.replicas`, or undefined. */
export function valueAt(value: unknown, path: string): unknown {
  const steps = path.split('.').filter((step) => step !== '');
  return steps.reduce<unknown>((parent, step) => (isMap(parent) ? memberOf(parent, step) : undefined), value);
}
