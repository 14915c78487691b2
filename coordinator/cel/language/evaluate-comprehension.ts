/** Comprehensions. Their costs are those of the loops into which cel-go expands the macros (parser/macro.go). */
import { type CostMeter, LIST_COST } from './cel-cost.js';
import { CelError, noSuchOverload } from './cel-error.js';
import { type CelValue, isList, isMap, LiteralMap, type MapKey, mapKey } from './cel-value.js';
import type { Checked, Comprehension } from './checked-expression.js';
import { attempt, type Evaluate, type Scope } from './evaluation.js';

type Node = Extract<Checked, { op: 'comprehension' }>;

/** Key and value of an element; for a list, the key is the index. */
type Entry = readonly [key: CelValue, value: CelValue];

/** The loop tests its accumulator before each element. */
const TEST_COSTS = { all: 2, exists: 3 };
/** Reads the accumulator, builds a list of one element, and appends it. */
const APPEND_STEP = LIST_COST + 2;

export function evaluateComprehension(
  node: Node,
  scope: Scope,
  meter: CostMeter,
  evaluate: Evaluate,
): CelValue {
  const range = evaluate(node.range, scope, meter);
  const loop: Loop = { entries: entriesOf(range), meter, evaluate, scopeOf: scopesOf(node, range, scope) };
  switch (node.macro) {
    case 'all':
    case 'exists':
      return quantify(node, loop);
    case 'existsOne':
      return existsOne(node, loop);
    case 'transformMap':
      return transformMap(node, loop);
    default:
      return transformList(node, loop);
  }
}

function* entriesOf(range: CelValue): Generator<Entry> {
  if (isList(range)) {
    for (const [at, value] of range.entries()) yield [BigInt(at), value];
  } else if (isMap(range)) {
    for (const key of range.keys()) yield [key, range.get(key) as CelValue];
  } else {
    throw noSuchOverload();
  }
}

/** Returns the scope of an element. */
type ScopeOf = (entry: Entry) => Scope;

interface Loop {
  entries: Iterable<Entry>;
  scopeOf: ScopeOf;
  meter: CostMeter;
  evaluate: Evaluate;
}

function scopesOf(node: Comprehension, range: CelValue, scope: Scope): ScopeOf {
  const isPairOrKey = node.second !== undefined || isMap(range);
  return ([key, value]) => {
    const first = isPairOrKey ? key : value;
    return (name) => (name === node.variable ? first : name === node.second ? value : scope(name));
  };
}

/** A failed condition counts only if no other element decides. */
function quantify(node: Comprehension, { entries, scopeOf, meter, evaluate }: Loop): CelValue {
  const decisive = node.macro === 'exists';
  const test = decisive ? TEST_COSTS.exists : TEST_COSTS.all;
  let failure: CelError | undefined;
  let decided = false;
  for (const entry of entries) {
    meter.charge(test);
    if (decided) break;
    meter.charge(1);
    const value = attempt(node.condition as Checked, scopeOf(entry), meter, evaluate);
    if (value === decisive) decided = true;
    else if (value instanceof CelError) failure ??= value;
    else if (typeof value !== 'boolean') failure ??= noSuchOverload();
  }
  meter.charge(1);
  if (decided) return decisive;
  if (failure) throw failure;
  return !decisive;
}

function existsOne(node: Comprehension, { entries, scopeOf, meter, evaluate }: Loop): CelValue {
  let count = 0;
  for (const entry of entries) {
    const matches = holds(node, evaluate, scopeOf(entry), meter);
    if (!matches) continue;
    meter.charge(2);
    count += 1;
  }
  meter.charge(2);
  return count === 1;
}

/** Returns the condition, or true if the comprehension has none. */
function holds(node: Comprehension, evaluate: Evaluate, scope: Scope, meter: CostMeter): boolean {
  if (node.condition === undefined) return true;
  const value = evaluate(node.condition, scope, meter);
  if (typeof value !== 'boolean') throw noSuchOverload();
  return value;
}

function transformList(node: Comprehension, { entries, scopeOf, meter, evaluate }: Loop): CelValue {
  const result: CelValue[] = [];
  for (const entry of entries) {
    const scope = scopeOf(entry);
    if (!holds(node, evaluate, scope, meter)) continue;
    meter.charge(APPEND_STEP);
    if (node.transform) result.push(evaluate(node.transform, scope, meter));
    else {
      meter.charge(1);
      result.push(scope(node.variable) as CelValue);
    }
  }
  meter.charge(1);
  return result;
}

function transformMap(node: Comprehension, { entries, scopeOf, meter, evaluate }: Loop): CelValue {
  const result = new Map<MapKey, CelValue>();
  for (const entry of entries) {
    const scope = scopeOf(entry);
    if (!holds(node, evaluate, scope, meter)) continue;
    meter.charge(3);
    const key = mapKey(entry[0]);
    if (key === undefined) throw new CelError('unsupported key type');
    result.set(key, evaluate(node.transform as Checked, scope, meter));
  }
  meter.charge(1);
  return new LiteralMap(result);
}
