/** Equality of CEL values (cel-spec langdef.md "Equality"): numbers of different types compare by value. */
import {
  CelDuration,
  type CelList,
  type CelMap,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  identityOf,
  isList,
  isMap,
  isOpaque,
} from './cel-value.js';

/** Values of different types are not equal. This never fails. */
export function isEqual(a: CelValue, b: CelValue): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  const [left, right] = [numberOf(a), numberOf(b)];
  // A bigint and a number compare by value with ==, without rounding.
  // biome-ignore lint/suspicious/noDoubleEquals: compares bigint with number.
  if (left !== undefined && right !== undefined) return left == right;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (isList(a) || isList(b)) return isList(a) && isList(b) && equalLists(a, b);
  if (isMap(a) || isMap(b)) return isMap(a) && isMap(b) && equalMaps(a, b);
  return equalObjects(a, b);
}

function equalObjects(a: Exclude<CelValue, null>, b: Exclude<CelValue, null>): boolean {
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.nanos === b.nanos;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && a.name === b.name;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof CelOptional) return b instanceof CelOptional && equalOptionals(a, b);
  return isOpaque(a) && isOpaque(b) && a.opaque === b.opaque && a.equalityKey === b.equalityKey;
}

function equalOptionals(a: CelOptional, b: CelOptional): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return isEqual(a.value, b.value);
}

/** Returns the numeric value of an int, uint or double. */
export function numberOf(value: CelValue): number | bigint | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof CelUint ? value.value : undefined;
}

function equalLists(a: CelList, b: CelList): boolean {
  if (a.length !== b.length) return false;
  const identity = identityOf(a) ?? identityOf(b);
  if (identity === undefined) return a.every((item, at) => isEqual(item, b[at] as CelValue));
  const others = new Map(b.map((item) => [identity.keyOf(item), item]));
  return a.every((item) => {
    const other = others.get(identity.keyOf(item));
    return other !== undefined && isEqual(item, other);
  });
}

function equalMaps(a: CelMap, b: CelMap): boolean {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    const [left, right] = [a.get(key), b.get(key)];
    if (left === undefined || right === undefined || !isEqual(left, right)) return false;
  }
  return true;
}
