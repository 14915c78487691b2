/** Plain JSON trees: copying, comparing, type checks. */
import { setOwn } from '../../../shared/kube/objects/merge-patch.js';

export type JsonMap = { [key: string]: unknown };

/** True for a JSON object: neither a list nor null. */
export function isJsonMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a deep copy. Members that are `undefined` are left out, as in JSON text. */
export function copyJson<T>(value: T): T;
export function copyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => copyJson(item));
  if (!isJsonMap(value)) return value;
  const copy: JsonMap = {};
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member !== undefined) setOwn(copy, key, copyJson(member));
  }
  return copy;
}

/**
 * Returns a copy that shares with `known` each part that both have. A list that differs is copied as a whole. After a
 * change of one of thousands of keys, comparisons then skip what is shared.
 */
export function sharingCopy(value: unknown, known: unknown): unknown {
  if (value === known) return known;
  if (isJsonMap(value) && isJsonMap(known)) return sharingMap(value, known);
  return Array.isArray(value) && sameJson(value, known) ? known : copyJson(value);
}

function sharingMap(value: JsonMap, known: JsonMap): JsonMap {
  const copy = { ...value };
  let different = 0;
  for (const key of Object.keys(value)) {
    const old = ownMember(known, key);
    const member = sharingCopy(value[key], old);
    if (member === undefined) delete copy[key];
    else if (member !== value[key]) setOwn(copy, key, member);
    if (member !== old) different += 1;
  }
  return different === 0 && Object.keys(copy).length === Object.keys(known).length ? known : copy;
}

/** Returns the parts of `value` that `known` does not share. */
export function unsharedParts(value: JsonMap, known: JsonMap): JsonMap {
  const parts: JsonMap = {};
  for (const key of Object.keys(value)) {
    const [member, old] = [value[key], ownMember(known, key)];
    if (member !== old)
      setOwn(parts, key, isJsonMap(member) && isJsonMap(old) ? unsharedParts(member, old) : member);
  }
  return parts;
}

function ownMember(map: JsonMap, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Deep equality of JSON trees. The order of members does not matter, and `undefined` equals absence. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => sameJson(item, right[index]));
  }
  return isJsonMap(left) && isJsonMap(right) && sameMembers(left, right);
}

/** `sameJson` of two maps, ignoring the members with these names. */
export function sameJsonExcept(left: object, right: object, ignored: ReadonlySet<string>): boolean {
  return sameMembers(left as JsonMap, right as JsonMap, ignored);
}

/** Runs for every report of every host, so it allocates only the lists of keys. */
function sameMembers(left: JsonMap, right: JsonMap, ignored?: ReadonlySet<string>): boolean {
  let members = 0;
  for (const key of Object.keys(left)) {
    if (left[key] === undefined || ignored?.has(key)) continue;
    if (!Object.hasOwn(right, key) || !sameJson(left[key], right[key])) return false;
    members += 1;
  }
  for (const key of Object.keys(right)) {
    if (right[key] !== undefined && !ignored?.has(key)) members -= 1;
  }
  return members === 0;
}
