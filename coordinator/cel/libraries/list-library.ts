/** Functions of lists (k8s.io/apiserver pkg/cel/library/lists.go; cel-go ext/sets.go, ext/lists.go). */
import { type CostMeter, exactly, plus, STRING_FACTOR, scaled, times } from '../language/cel-cost.js';
import { isEqual } from '../language/cel-equality.js';
import { CelError } from '../language/cel-error.js';
import { CelDuration, type CelList, CelUint, type CelValue, isList, isMap } from '../language/cel-value.js';
import { type CallCost, type Overload, overload } from '../language/overload.js';
import { asDuration, asInt, asUint, compareValues } from './operator-library.js';

/** One unit an element, and the bytes of texts (traversalCost). */
function traversal(value: CelValue): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * STRING_FACTOR);
  if (value instanceof Uint8Array) return Math.floor(value.length * STRING_FACTOR);
  if (isList(value)) return value.reduce<number>((sum, item) => sum + traversal(item), 0);
  if (typeof value !== 'object' || value === null || !isMap(value)) return 1;
  let sum = 0;
  for (const key of value.keys()) sum += traversal(key) + traversal(value.get(key) ?? null);
  return sum;
}

const TRAVERSAL_COST: CallCost = {
  actual: ([list]) => traversal(list as CelValue),
  estimate: ([list]) => {
    const isText = list?.type.kind === 'list' && ['string', 'bytes'].includes(list.type.element.kind);
    const element = isText ? plus(exactly(1), scaled(list.element, STRING_FACTOR)) : exactly(1);
    return { cost: times(list?.size ?? exactly(0), element) };
  },
};

function isSorted(list: CelList): boolean {
  return list.every((item, at) => at === 0 || compareValues(list[at - 1] as CelValue, item) <= 0);
}

/** Returns the extreme element. `sign` is 1 for the largest. */
function extreme(list: CelList, sign: 1 | -1, name: string): CelValue {
  const [first, ...others] = list;
  if (first === undefined) throw new CelError(`${name} called on empty list`);
  return others.reduce((best, item) => (compareValues(item, best) * sign > 0 ? item : best), first);
}

function sum(list: CelList, zero: CelValue): CelValue {
  return list.reduce((total, item) => {
    if (item instanceof CelDuration) return asDuration((total as CelDuration).nanos + item.nanos);
    if (item instanceof CelUint) return asUint((total as CelUint).value + item.value);
    if (typeof item === 'bigint') return asInt((total as bigint) + item);
    return (total as number) + (item as number);
  }, zero);
}

const ORDERED = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];
const ZEROS: Readonly<Record<string, CelValue>> = {
  int: 0n,
  uint: new CelUint(0n),
  double: 0,
  duration: new CelDuration(0n),
};

const ORDER: readonly Overload[] = ORDERED.flatMap((type) => [
  overload(`list<${type}>.isSorted(): bool`, ([list]) => isSorted(list as CelList), TRAVERSAL_COST),
  overload(`list<${type}>.max(): ${type}`, ([list]) => extreme(list as CelList, 1, 'max'), TRAVERSAL_COST),
  overload(`list<${type}>.min(): ${type}`, ([list]) => extreme(list as CelList, -1, 'min'), TRAVERSAL_COST),
]);

const SUMS: readonly Overload[] = Object.entries(ZEROS).map(([type, zero]) =>
  overload(`list<${type}>.sum(): ${type}`, ([list]) => sum(list as CelList, zero), TRAVERSAL_COST),
);

const POSITIONS: readonly Overload[] = [
  overload(
    'list<A>.indexOf(A): int',
    ([list, item]) => BigInt((list as CelList).findIndex((each) => isEqual(each, item as CelValue))),
    TRAVERSAL_COST,
  ),
  overload(
    'list<A>.lastIndexOf(A): int',
    ([list, item]) => BigInt((list as CelList).findLastIndex((each) => isEqual(each, item as CelValue))),
    TRAVERSAL_COST,
  ),
];

/** The operands are compared pairwise. */
function setCost(factor: number): CallCost {
  return {
    actual: ([a, b]) => (a as CelList).length * (b as CelList).length * factor + 1,
    estimate: ([a, b]) => ({
      cost: plus(times(times(a?.size ?? exactly(0), b?.size ?? exactly(0)), exactly(factor)), exactly(1)),
    }),
  };
}

function containsAll(list: CelList, items: CelList): boolean {
  return items.every((item) => list.some((each) => isEqual(each, item)));
}

const SETS: readonly Overload[] = [
  overload(
    'sets:contains(list<A>, list<A>): bool',
    ([a, b]) => containsAll(a as CelList, b as CelList),
    setCost(1),
  ),
  overload(
    'sets:equivalent(list<A>, list<A>): bool',
    ([a, b]) => containsAll(a as CelList, b as CelList) && containsAll(b as CelList, a as CelList),
    setCost(2),
  ),
  overload(
    'sets:intersects(list<A>, list<A>): bool',
    ([a, b]) => (a as CelList).some((item) => (b as CelList).some((each) => isEqual(each, item))),
    setCost(1),
  ),
];

function slice(list: CelList, start: bigint, end: bigint): CelValue {
  if (start < 0n || end < 0n || start > end || end > BigInt(list.length)) {
    throw new CelError(`cannot slice(${start}, ${end}), list is length ${list.length}`);
  }
  return list.slice(Number(start), Number(end));
}

function distinct(list: CelList, meter: CostMeter): CelValue {
  const kept: CelValue[] = [];
  for (const item of list) {
    meter.charge(kept.length);
    if (!kept.some((each) => isEqual(each, item))) kept.push(item);
  }
  return kept;
}

/** The result has at most as many elements. */
const SAME_SIZE: CallCost = {
  actual: ([list]) => (list as CelList).length,
  estimate: ([list]) => {
    const size = list?.size ?? exactly(0);
    return { cost: plus(size, exactly(1)), size: { min: 0, max: size.max }, element: list?.element ?? size };
  },
};

const DISTINCT_COST: CallCost = {
  ...SAME_SIZE,
  estimate: (operands) => {
    const size = operands[0]?.size ?? exactly(0);
    return { ...SAME_SIZE.estimate(operands), cost: plus(times(size, size), exactly(1)) };
  },
};

const CHANGES: readonly Overload[] = [
  overload(
    'list<A>.slice(int, int): list<A>',
    ([list, start, end]) => slice(list as CelList, start as bigint, end as bigint),
    SAME_SIZE,
  ),
  overload('list<A>.reverse(): list<A>', ([list]) => (list as CelList).toReversed(), SAME_SIZE),
  overload('list<A>.distinct(): list<A>', ([list], meter) => distinct(list as CelList, meter), DISTINCT_COST),
  ...ORDERED.map((type) =>
    overload(
      `list<${type}>.sort(): list<${type}>`,
      ([list]) => (list as CelList).toSorted((a, b) => compareValues(a, b)),
      SAME_SIZE,
    ),
  ),
];

export const LISTS: readonly Overload[] = [...ORDER, ...SUMS, ...POSITIONS, ...SETS, ...CHANGES];
