/**
 * Values of CEL at run time: int is a bigint, double a number, list an array. Maps and objects are CelMap, so that
 * objects of a request are converted only where an expression reads them.
 */

/** An unsigned integer. Only literals such as `1u` and `uint()` create it. */
export class CelUint {
  constructor(readonly value: bigint) {}
}

/** Nanoseconds since the epoch. */
export class CelTimestamp {
  constructor(readonly nanos: bigint) {}
}

/** Nanoseconds. */
export class CelDuration {
  constructor(readonly nanos: bigint) {}
}

/** The result of `type(x)`, and names of types such as `int`. */
export class CelTypeValue {
  constructor(readonly name: string) {}
}

/** An optional value. `undefined` is absent. */
export class CelOptional {
  constructor(readonly value: CelValue | undefined) {}
}

/** A value of a Kubernetes library such as a quantity. */
export interface CelOpaque {
  readonly opaque: string;
  /** Text or number that decides equality. Values of the same type with equal keys are equal. */
  readonly equalityKey: unknown;
  /** Number of bytes, for costs. */
  readonly costSize?: number;
}

export type MapKey = string | bigint | boolean;

/** A map or an object. `get` returns undefined for a missing key. */
export interface CelMap {
  readonly size: number;
  /** "map", or "object" for values with declared fields. */
  readonly shape: 'map' | 'object';
  get(key: MapKey): CelValue | undefined;
  keys(): Iterable<MapKey>;
}

export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | CelUint
  | CelTimestamp
  | CelDuration
  | CelTypeValue
  | CelOptional
  | CelOpaque
  | CelMap
  | CelList;

export type CelList = readonly CelValue[];

/** How elements of a list identify each other (x-kubernetes-list-type). */
export interface ListIdentity {
  type: 'set' | 'map';
  /** Returns the identity of an element. */
  keyOf(element: CelValue): string;
}

const identities = new WeakMap<CelList, ListIdentity>();

/** Marks a list as a set or as a map by keys. Equality and `+` then ignore the order. */
export function withIdentity(list: CelList, identity: ListIdentity): CelList {
  identities.set(list, identity);
  return list;
}

export function identityOf(list: CelList): ListIdentity | undefined {
  return identities.get(list);
}

/** A map literal, or the result of a macro or function. */
export class LiteralMap implements CelMap {
  readonly shape = 'map';
  constructor(private readonly entries: ReadonlyMap<MapKey, CelValue>) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: MapKey): CelValue | undefined {
    return this.entries.get(key);
  }

  keys(): Iterable<MapKey> {
    return this.entries.keys();
  }
}

export function isMap(value: CelValue): value is CelMap {
  return typeof value === 'object' && value !== null && 'shape' in value;
}

export function isList(value: CelValue): value is CelList {
  return Array.isArray(value);
}

export function isOpaque(value: CelValue): value is CelOpaque {
  return typeof value === 'object' && value !== null && 'opaque' in value;
}

/** Returns the key under which a map stores `value`: equal numbers of different types are one key. */
export function mapKey(value: CelValue): MapKey | undefined {
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean') return value;
  if (value instanceof CelUint) return value.value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  return undefined;
}

/** Returns the name of the run-time type, as `type(x)` and errors show it. */
export function typeOfValue(value: CelValue): string {
  switch (typeof value) {
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    default:
      return typeOfObject(value);
  }
}

function typeOfObject(value: CelValue): string {
  if (value === null) return 'null_type';
  if (isList(value)) return 'list';
  if (value instanceof CelUint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof CelTimestamp) return 'google.protobuf.Timestamp';
  if (value instanceof CelDuration) return 'google.protobuf.Duration';
  if (value instanceof CelTypeValue) return 'type';
  if (value instanceof CelOptional) return 'optional_type';
  if (isOpaque(value)) return value.opaque;
  return 'map';
}

/** Returns the number of characters, bytes, items or entries; 1 for other values (`actualSize` of cel-go). */
export function sizeOfValue(value: CelValue): number {
  if (typeof value === 'string') return codePointCount(value);
  if (isList(value) || value instanceof Uint8Array) return value.length;
  if (value instanceof CelOptional) return value.value === undefined ? 1 : sizeOfValue(value.value);
  if (typeof value !== 'object' || value === null) return 1;
  if (isOpaque(value)) return value.costSize ?? 1;
  return isMap(value) ? value.size : 1;
}

/** Counts characters as CEL does: a character outside the basic plane is one. */
function codePointCount(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit <= 0xdbff && at + 1 < text.length) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}
