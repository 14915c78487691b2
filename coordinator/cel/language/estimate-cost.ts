/** The largest possible cost of an expression, from the declared sizes (cel-go checker/cost.go). */
import {
  type CallEstimate,
  declaredSize,
  elementOf,
  exactly,
  LIST_COST,
  MAP_COST,
  type Operand,
  plus,
  type Range,
  STRING_FACTOR,
  scaled,
  times,
  UNKNOWN_SIZE,
  union,
} from './cel-cost.js';
import { sizeOfValue } from './cel-value.js';
import type { Checked, Comprehension } from './checked-expression.js';

/** What is known of a node: its cost, the size of its value and of the elements. */
interface Estimate {
  cost: Range;
  size: Range;
  element: Range;
}

type Sizes = ReadonlyMap<string, Pick<Estimate, 'size' | 'element'>>;

/** Returns the largest cost. Infinity if a size is unknown. */
export function maxCost(node: Checked): number {
  return estimate(node, new Map()).cost.max;
}

function estimate(node: Checked, sizes: Sizes): Estimate {
  switch (node.op) {
    case 'constant':
      return sized(node, exactly(0), exactly(sizeOfValue(node.value)));
    case 'variable':
      return { ...(sizes.get(node.name) ?? sized(node, exactly(0))), cost: exactly(1) };
    case 'select':
      return estimateSelect(node, sizes);
    case 'index': {
      const [operand, index] = [estimate(node.operand, sizes), estimate(node.index, sizes)];
      const size = node.type.maxSize === undefined ? operand.element : declaredSize(node.type);
      return sized(node, plus(operand.cost, index.cost, exactly(1)), size);
    }
    case 'call':
      return estimateCall(node, sizes);
    case 'equal':
      return estimateEqual(node, sizes);
    case 'and':
    case 'or': {
      const [left, right] = [estimate(node.left, sizes), estimate(node.right, sizes)];
      return sized(node, { min: left.cost.min, max: plus(left.cost, right.cost).max });
    }
    case 'comprehension':
      return estimateComprehension(node, sizes);
    default:
      return estimateConstruction(node, sizes);
  }
}

type Node<Op extends Checked['op']> = Extract<Checked, { op: Op }>;

/** Adds the declared sizes of the node's type. */
function sized(node: Checked, cost: Range, size = declaredSize(node.type)): Estimate {
  return { cost, size, element: declaredSize(elementOf(node.type)) };
}

function estimateConstruction(
  node: Node<'if' | 'list' | 'mapLiteral' | 'bind' | 'orElse' | 'mapOptional'>,
  sizes: Sizes,
): Estimate {
  switch (node.op) {
    case 'if': {
      const [then, otherwise] = [estimate(node.then, sizes), estimate(node.otherwise, sizes)];
      const cost = plus(estimate(node.condition, sizes).cost, union(then.cost, otherwise.cost));
      const element = union(then.element, otherwise.element);
      return { cost, size: union(then.size, otherwise.size), element };
    }
    case 'list': {
      const items = node.items.map((item) => estimate(item, sizes));
      const element = items.map(({ size }) => size).reduce(union, items[0]?.size ?? exactly(0));
      const cost = plus(...items.map(({ cost: each }) => each), exactly(LIST_COST));
      return { cost, size: exactly(items.length), element };
    }
    case 'mapLiteral': {
      const keys = node.entries.map(([key]) => estimate(key, sizes));
      const values = node.entries.map(([, value]) => estimate(value, sizes));
      const element = values.map(({ size }) => size).reduce(union, values[0]?.size ?? exactly(0));
      const cost = plus(...[...keys, ...values].map(({ cost: each }) => each), exactly(MAP_COST));
      return { cost, size: exactly(values.length), element };
    }
    case 'bind': {
      const value = estimate(node.value, sizes);
      const body = estimate(node.body, new Map(sizes).set(node.name, value));
      return { ...body, cost: plus(value.cost, body.cost, exactly(LIST_COST)) };
    }
    case 'orElse': {
      const [optional, otherwise] = [estimate(node.optional, sizes), estimate(node.otherwise, sizes)];
      return sized(
        node,
        plus(optional.cost, otherwise.cost, exactly(1)),
        union(optional.size, otherwise.size),
      );
    }
    case 'mapOptional': {
      const optional = estimate(node.optional, sizes);
      const body = estimate(node.body, new Map(sizes).set(node.variable, optional));
      return sized(node, plus(optional.cost, body.cost, exactly(LIST_COST)), body.size);
    }
  }
}

function estimateSelect(node: Node<'select'>, sizes: Sizes): Estimate {
  const { cost, element } = estimate(node.operand, sizes);
  const { kind } = node.operand.type;
  const isFree = node.mode === 'test' || (kind === 'dyn' && node.mode === 'required');
  const size = kind === 'map' && node.type.maxSize === undefined ? element : declaredSize(node.type);
  return sized(node, plus(cost, exactly(isFree ? 0 : 1)), size);
}

function operandOf(node: Checked, { size, element }: Estimate): Operand {
  return { type: node.type, size, element };
}

function estimateCall(node: Node<'call'>, sizes: Sizes): Estimate {
  const args = node.args.map((arg) => estimate(arg, sizes));
  const operands = node.args.map((arg, at) => operandOf(arg, args[at] as Estimate));
  const calls = node.overloads.map((each) => each.cost.estimate(operands));
  const call = calls.reduce(widest);
  const cost = plus(...args.map(({ cost: each }) => each), call.cost);
  const result = sized(node, cost, call.size);
  return call.element ? { ...result, element: call.element } : result;
}

/** An estimate covers all overloads that can be called. */
function widest(a: CallEstimate, b: CallEstimate): CallEstimate {
  const size = a.size && b.size ? union(a.size, b.size) : (a.size ?? b.size);
  return { cost: union(a.cost, b.cost), ...(size ? { size } : {}) };
}

function estimateEqual(node: Node<'equal'>, sizes: Sizes): Estimate {
  const [left, right] = [estimate(node.left, sizes), estimate(node.right, sizes)];
  const opaque = node.left.type.kind === 'opaque';
  const smaller = opaque ? 1 : Math.min(left.size.max, right.size.max);
  const compared = scaled({ min: smaller > 0 ? 1 : 0, max: smaller }, STRING_FACTOR);
  return sized(node, plus(left.cost, right.cost, compared));
}

/** Costs of the loops into which cel-go expands the macros: for the start, each element, and the result. */
function loopCosts(node: Comprehension, conditionCost: Range, transformCost: Range): readonly [Range, Range] {
  const append = plus(transformCost, exactly(LIST_COST + 2));
  switch (node.macro) {
    case 'all':
      return [exactly(1), plus(exactly(3), { min: 0, max: conditionCost.max })];
    case 'exists':
      return [exactly(1), plus(exactly(4), { min: 0, max: conditionCost.max })];
    case 'existsOne':
      return [exactly(2), plus(conditionCost, { min: 1, max: 2 })];
    case 'filter':
      return [exactly(LIST_COST + 1), plus(conditionCost, { min: 1, max: LIST_COST + 3 })];
    case 'transformMap':
      return [exactly(MAP_COST + 1), plus(conditionCost, transformCost, exactly(3))];
    default:
      if (node.condition === undefined) return [exactly(LIST_COST + 1), append];
      return [exactly(LIST_COST + 1), plus(conditionCost, { min: 1, max: append.max })];
  }
}

function estimateComprehension(node: Node<'comprehension'>, sizes: Sizes): Estimate {
  const range = estimate(node.range, sizes);
  const scope = new Map(sizes);
  const isMap = node.range.type.kind === 'map';
  const key = isMap ? keySizes(node.range) : { size: exactly(1), element: exactly(1) };
  const elementType = elementOf(node.range.type);
  const value = { size: range.element, element: declaredSize(elementOf(elementType)) };
  scope.set(node.variable, node.second !== undefined || isMap ? key : value);
  if (node.second !== undefined) scope.set(node.second, value);
  const condition = node.condition ? estimate(node.condition, scope).cost : exactly(0);
  const transform = node.transform ? estimate(node.transform, scope) : undefined;
  const [start, step] = loopCosts(node, condition, transform?.cost ?? exactly(0));
  const cost = plus(range.cost, start, times(range.size, step));
  if (node.type.kind === 'bool') return sized(node, cost);
  const element = transform?.size ?? (isMap ? key.size : range.element);
  return { cost, size: range.size, element };
}

function keySizes(range: Checked): Pick<Estimate, 'size' | 'element'> {
  const key = range.type.kind === 'map' ? declaredSize(range.type.key) : UNKNOWN_SIZE;
  return { size: key, element: UNKNOWN_SIZE };
}
