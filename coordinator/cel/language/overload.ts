/** Functions of an environment: signatures, implementations and costs. */
import {
  type CallEstimate,
  type CostMeter,
  exactly,
  type Operand,
  type Range,
  STRING_FACTOR,
  scaled,
} from './cel-cost.js';
import { type CelType, isAssignable, parseType, splitTopLevel, withBindings } from './cel-type.js';
import { type CelValue, sizeOfValue } from './cel-value.js';

/** The cost of a call: from the sizes that a schema declares, and from the values right before the call runs. */
export interface CallCost {
  estimate(operands: readonly Operand[]): CallEstimate;
  actual(args: readonly CelValue[]): number;
}

type Implementation = (args: readonly CelValue[], meter: CostMeter) => CelValue;

export interface Overload {
  name: string;
  /** True for `receiver.name(…)`. The receiver is the first of `args`. */
  isMember: boolean;
  args: readonly CelType[];
  result: CelType;
  call: Implementation;
  cost: CallCost;
}

/** One unit, whatever the operands are. */
const UNIT_COST: CallCost = {
  estimate: () => ({ cost: exactly(1) }),
  actual: () => 1,
};

/** Creates a cost from one formula for ranges of sizes. `size` is the size of the result. */
export function sizeCost(
  cost: (sizes: readonly Range[]) => Range,
  size?: (sizes: readonly Range[]) => Range,
): CallCost {
  return {
    estimate: (operands) => {
      const sizes = operands.map((operand) => operand.size);
      return { cost: cost(sizes), ...(size ? { size: size(sizes) } : {}) };
    },
    actual: (args) => cost(args.map((arg) => exactly(sizeOfValue(arg)))).max,
  };
}

/** The cost of reading an operand once (or `factor` times). The result has at most its size. */
export function traversalOf(index: number, factor = 1): CallCost {
  return sizeCost(
    (sizes) => scaled(sizes[index] ?? exactly(0), factor * STRING_FACTOR),
    (sizes) => sizes[index] ?? exactly(0),
  );
}

/**
 * Declares a function, for example `string.startsWith(string): bool` for a member or `size(list<A>): int`. A name with a
 * namespace is written with a colon: `ip:isCanonical(string): bool` is called as `ip.isCanonical(x)`.
 */
export function overload(signature: string, call: Implementation, cost: CallCost = UNIT_COST): Overload {
  const [, receiver, name = '', args = '', result = ''] =
    /^(?:([\w<>, ]+)\.)?([\w:]+)\((.*)\): (.+)$/.exec(signature) ?? [];
  const types = splitTopLevel(args).map(parseType);
  return {
    name: name.replace(':', '.'),
    isMember: receiver !== undefined,
    args: receiver === undefined ? types : [parseType(receiver), ...types],
    result: parseType(result),
    call,
    cost,
  };
}

/** Overloads by name. */
export type Functions = ReadonlyMap<string, readonly Overload[]>;

export function functionsOf(...libraries: readonly (readonly Overload[])[]): Functions {
  const byName = new Map<string, Overload[]>();
  for (const each of libraries.flat()) {
    const known = byName.get(each.name);
    if (known) known.push(each);
    else byName.set(each.name, [each]);
  }
  return byName;
}

/** An overload that fits, with its result type for these arguments. */
interface Match {
  overload: Overload;
  result: CelType;
}

/** Returns the overloads whose signature fits the types of the arguments. */
export function matchOverloads(
  functions: Functions,
  name: string,
  isMember: boolean,
  args: readonly CelType[],
): Match[] {
  const matches: Match[] = [];
  for (const each of functions.get(name) ?? []) {
    if (each.isMember !== isMember || each.args.length !== args.length) continue;
    const bindings = new Map<string, CelType>();
    const fits = each.args.every((type, at) => isAssignable(type, args[at] as CelType, bindings));
    if (fits) matches.push({ overload: each, result: withBindings(each.result, bindings) });
  }
  return matches;
}
