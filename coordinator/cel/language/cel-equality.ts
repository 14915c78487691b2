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

/** Pairs of lists and maps that are equal. */
class EqualPairs {
  readonly #byLeft = new Map<CelList | CelMap, Set<CelList | CelMap>>();

  /** Returns the known answer, or computes and remembers it. */
  compare<T extends CelList | CelMap>(a: T, b: T, compute: () => boolean): boolean {
    const known = this.#byLeft.get(a) ?? new Set();
    if (known.has(b)) return true;
    const isSame = compute();
    if (isSame) this.#byLeft.set(a, known.add(b));
    return isSame;
  }
}

/**
 * Values of different types are not equal. This never fails. `known` is for nested values: a list can contain the same
 * list twice, and comparing it anew each time would take exponential time.
 */
export function isEqual(a: CelValue, b: CelValue, known?: EqualPairs): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  const [left, right] = [numberOf(a), numberOf(b)];
  // A bigint and a number compare by value with ==, without rounding.
  // biome-ignore lint/suspicious/noDoubleEquals: compares bigint with number.
  if (left !== undefined && right !== undefined) return left == right;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  const pairs = known ?? new EqualPairs();
  if (isList(a) || isList(b)) return isList(a) && isList(b) && equalLists(a, b, pairs);
  if (isMap(a) || isMap(b)) return isMap(a) && isMap(b) && equalMaps(a, b, pairs);
  return equalObjects(a, b, pairs);
}

function equalObjects(a: Exclude<CelValue, null>, b: Exclude<CelValue, null>, pairs: EqualPairs): boolean {
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.nanos === b.nanos;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && a.name === b.name;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof CelOptional) return b instanceof CelOptional && equalOptionals(a, b, pairs);
  return isOpaque(a) && isOpaque(b) && a.opaque === b.opaque && a.equalityKey === b.equalityKey;
}

function equalOptionals(a: CelOptional, b: CelOptional, pairs: EqualPairs): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return isEqual(a.value, b.value, pairs);
}

/** Returns the numeric value of an int, uint or double. */
export function numberOf(value: CelValue): number | bigint | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof CelUint ? value.value : undefined;
}

function equalLists(a: CelList, b: CelList, pairs: EqualPairs): boolean {
  if (a.length !== b.length) return false;
  const identity = identityOf(a) ?? identityOf(b);
  return pairs.compare(a, b, () => {
    if (identity === undefined) return a.every((item, at) => isEqual(item, b[at] as CelValue, pairs));
    const others = new Map(b.map((item) => [identity.keyOf(item), item]));
    return a.every((item) => {
      const other = others.get(identity.keyOf(item));
      return other !== undefined && isEqual(item, other, pairs);
    });
  });
}

function equalMaps(a: CelMap, b: CelMap, pairs: EqualPairs): boolean {
  if (a.size !== b.size) return false;
  return pairs.compare(a, b, () => {
    for (const key of a.keys()) {
      const [left, right] = [a.get(key), b.get(key)];
      if (left === undefined || right === undefined || !isEqual(left, right, pairs)) return false;
    }
    return true;
  });
}
