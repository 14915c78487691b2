/** Operators of the standard library: arithmetic, comparison, membership, logic. */
import { exactly, plus, STRING_FACTOR, scaled } from '../language/cel-cost.js';
import { isEqual, numberOf } from '../language/cel-equality.js';
import { CelError } from '../language/cel-error.js';
import {
  CelDuration,
  type CelList,
  type CelMap,
  CelTimestamp,
  CelUint,
  type CelValue,
  identityOf,
  isMap,
  mapKey,
  withIdentity,
} from '../language/cel-value.js';
import { type CallCost, type Overload, overload, sizeCost } from '../language/overload.js';

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;
/** The range of timestamps: the years 1 to 9999. */
const MIN_TIMESTAMP = -62_135_596_800_000_000_000n;
const MAX_TIMESTAMP = 253_402_300_799_999_999_999n;

/** Throws if the value does not fit into 64 bits. */
export function asInt(value: bigint): bigint {
  if (value < MIN_INT || value > MAX_INT) throw new CelError('integer overflow');
  return value;
}

export function asUint(value: bigint): CelUint {
  if (value < 0n || value > MAX_UINT) throw new CelError('unsigned integer overflow');
  return new CelUint(value);
}

export function asTimestamp(nanos: bigint): CelTimestamp {
  if (nanos < MIN_TIMESTAMP || nanos > MAX_TIMESTAMP) throw new CelError('timestamp overflow');
  return new CelTimestamp(nanos);
}

export function asDuration(nanos: bigint): CelDuration {
  if (nanos < MIN_INT || nanos > MAX_INT) throw new CelError('duration overflow');
  return new CelDuration(nanos);
}

type IntOperation = (a: bigint, b: bigint) => bigint;

const INT_OPERATIONS: Readonly<Record<string, IntOperation>> = {
  '_+_': (a, b) => a + b,
  '_-_': (a, b) => a - b,
  '_*_': (a, b) => a * b,
  '_/_': (a, b) => {
    if (b === 0n) throw new CelError('division by zero');
    return a / b;
  },
  '_%_': (a, b) => {
    if (b === 0n) throw new CelError('modulus by zero');
    return a % b;
  },
};

const DOUBLE_OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '_+_': (a, b) => a + b,
  '_-_': (a, b) => a - b,
  '_*_': (a, b) => a * b,
  '_/_': (a, b) => a / b,
};

/** Names of operators do not fit into the syntax of signatures. */
function operator(
  name: string,
  [types, result]: readonly [string, string],
  call: Overload['call'],
  cost?: CallCost,
): Overload {
  return { ...overload(`x(${types}): ${result}`, call, cost), name };
}

const ARITHMETIC: readonly Overload[] = [
  ...Object.entries(INT_OPERATIONS).flatMap(([name, run]) => [
    operator(name, ['int, int', 'int'], ([a, b]) => asInt(run(a as bigint, b as bigint))),
    operator(name, ['uint, uint', 'uint'], ([a, b]) =>
      asUint(run((a as CelUint).value, (b as CelUint).value)),
    ),
  ]),
  ...Object.entries(DOUBLE_OPERATIONS).map(([name, run]) =>
    operator(name, ['double, double', 'double'], ([a, b]) => run(a as number, b as number)),
  ),
  operator('-_', ['int', 'int'], ([a]) => asInt(-(a as bigint))),
  operator('-_', ['double', 'double'], ([a]) => -(a as number)),
  operator('!_', ['bool', 'bool'], ([a]) => a !== true),
];

const nanosOf = (value: CelValue | undefined): bigint => (value as CelTimestamp | CelDuration).nanos;

const TIME: readonly Overload[] = [
  operator('_+_', ['timestamp, duration', 'timestamp'], ([a, b]) => asTimestamp(nanosOf(a) + nanosOf(b))),
  operator('_+_', ['duration, timestamp', 'timestamp'], ([a, b]) => asTimestamp(nanosOf(a) + nanosOf(b))),
  operator('_+_', ['duration, duration', 'duration'], ([a, b]) => asDuration(nanosOf(a) + nanosOf(b))),
  operator('_-_', ['timestamp, duration', 'timestamp'], ([a, b]) => asTimestamp(nanosOf(a) - nanosOf(b))),
  operator('_-_', ['timestamp, timestamp', 'duration'], ([a, b]) => asDuration(nanosOf(a) - nanosOf(b))),
  operator('_-_', ['duration, duration', 'duration'], ([a, b]) => asDuration(nanosOf(a) - nanosOf(b))),
];

/** Joining reads both operands. The result has the size of both. */
const JOIN_COST: CallCost = {
  estimate: ([a, b]) => {
    const size = plus(a?.size ?? exactly(0), b?.size ?? exactly(0));
    return { cost: scaled(size, STRING_FACTOR), size };
  },
  actual: sizeCost(([a, b]) => scaled(plus(a ?? exactly(0), b ?? exactly(0)), STRING_FACTOR)).actual,
};

/**
 * Upstream takes one unit for any lists. Longer lists are charged by element here: a list that an expression doubles
 * again and again would otherwise exhaust the memory of the coordinator.
 */
const JOINED_AT_UNIT_COST = 10;

const LIST_JOIN_COST: CallCost = {
  estimate: ([a, b]) => ({ cost: exactly(1), size: plus(a?.size ?? exactly(0), b?.size ?? exactly(0)) }),
  actual: ([a, b]) => Math.max((a as CelList).length + (b as CelList).length - JOINED_AT_UNIT_COST, 1),
};

/** Lists that are maps by keys or sets merge: the right operand replaces elements of the same identity. */
function joinLists(left: CelList, right: CelList): CelValue {
  const identity = identityOf(left) ?? identityOf(right);
  if (identity === undefined) return [...left, ...right];
  const merged = new Map(left.map((item) => [identity.keyOf(item), item]));
  for (const item of right) merged.set(identity.keyOf(item), item);
  return withIdentity([...merged.values()], identity);
}

const JOINS: readonly Overload[] = [
  operator('_+_', ['string, string', 'string'], ([a, b]) => `${a as string}${b as string}`, JOIN_COST),
  operator(
    '_+_',
    ['bytes, bytes', 'bytes'],
    ([a, b]) => Buffer.concat([a as Uint8Array, b as Uint8Array]),
    JOIN_COST,
  ),
  operator(
    '_+_',
    ['list<A>, list<A>', 'list<A>'],
    ([a, b]) => joinLists(a as CelList, b as CelList),
    LIST_JOIN_COST,
  ),
];

/** Returns a negative number, zero or a positive number; NaN if a number is not comparable. */
export function compareValues(a: CelValue, b: CelValue): number {
  const [left, right] = [comparable(a), comparable(b)];
  if (left < right) return -1;
  if (left > right) return 1;
  return left === right || isEqual(a, b) ? 0 : Number.NaN;
}

function comparable(value: CelValue): number | bigint | string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof CelTimestamp || value instanceof CelDuration) return value.nanos;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  return numberOf(value) ?? Number.NaN;
}

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  '_<_': (order) => order < 0,
  '_<=_': (order) => order <= 0,
  '_>_': (order) => order > 0,
  '_>=_': (order) => order >= 0,
};

/** Numbers compare across their types (CrossTypeNumericComparisons). */
const NUMBER_PAIRS = ['int', 'uint', 'double'].flatMap((a) =>
  ['int', 'uint', 'double'].map((b) => `${a}, ${b}`),
);

/** Comparing texts reads the shorter one. */
const COMPARE_COST = sizeCost(([a = exactly(1), b = exactly(1)]) => {
  const max = Math.min(a.max, b.max);
  return scaled({ min: max > 0 ? 1 : 0, max }, STRING_FACTOR);
});

const ORDER: readonly Overload[] = Object.entries(COMPARISONS).flatMap(([name, test]) => {
  const run: Overload['call'] = ([a, b]) => test(compareValues(a as CelValue, b as CelValue));
  const pairs = [...NUMBER_PAIRS, 'bool, bool', 'timestamp, timestamp', 'duration, duration'];
  return [
    ...pairs.map((types) => operator(name, [types, 'bool'], run)),
    ...['string, string', 'bytes, bytes'].map((types) => operator(name, [types, 'bool'], run, COMPARE_COST)),
  ];
});

const MEMBERSHIP: readonly Overload[] = [
  operator(
    '@in',
    ['A, list<A>', 'bool'],
    ([item, list]) => (list as CelList).some((each) => isEqual(each, item as CelValue)),
    sizeCost(([, list]) => list ?? exactly(1)),
  ),
  operator('@in', ['A, map<A, B>', 'bool'], ([key, map]) => {
    const found = mapKey(key as CelValue);
    return found !== undefined && isMap(map as CelValue) && (map as CelMap).get(found) !== undefined;
  }),
];

export const OPERATORS: readonly Overload[] = [...ARITHMETIC, ...TIME, ...JOINS, ...ORDER, ...MEMBERSHIP];
