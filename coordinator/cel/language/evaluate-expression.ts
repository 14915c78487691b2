/** Evaluation of checked expressions. Each step is charged, so that an expression cannot block the coordinator. */
import { type CostMeter, LIST_COST, MAP_COST, STRING_FACTOR } from './cel-cost.js';
import { isEqual } from './cel-equality.js';
import { CelError, noSuchOverload } from './cel-error.js';
import {
  CelOptional,
  type CelValue,
  isList,
  isMap,
  isOpaque,
  LiteralMap,
  type MapKey,
  mapKey,
  sizeOfValue,
  typeOfValue,
} from './cel-value.js';
import type { Checked } from './checked-expression.js';
import { evaluateCall } from './evaluate-call.js';
import { evaluateComprehension } from './evaluate-comprehension.js';
import { attempt, isConstant, type Scope } from './evaluation.js';

/** Evaluates an expression. Throws a CelError, or CostExceeded. */
export function evaluate(node: Checked, scope: Scope, meter: CostMeter): CelValue {
  switch (node.op) {
    case 'constant':
      return node.value;
    case 'variable': {
      meter.charge(1);
      const value = scope(node.name);
      if (value === undefined) throw new CelError(`no such attribute(s): ${node.name}`);
      return value;
    }
    case 'select':
      return select(node, scope, meter);
    case 'index':
      return index(node, scope, meter);
    case 'call':
      return evaluateCall(node, scope, meter, evaluate);
    case 'equal':
      return equal(node, scope, meter);
    case 'and':
    case 'or':
      return logical(node, scope, meter);
    case 'if':
      return conditional(node, scope, meter);
    case 'comprehension':
      return evaluateComprehension(node, scope, meter, evaluate);
    default:
      return evaluateConstruction(node, scope, meter);
  }
}

type Node<Op extends Checked['op']> = Extract<Checked, { op: Op }>;

function evaluateConstruction(
  node: Node<'list' | 'mapLiteral' | 'bind' | 'orElse' | 'mapOptional'>,
  scope: Scope,
  meter: CostMeter,
): CelValue {
  switch (node.op) {
    case 'list':
      // A list of constants is built once (OptOptimize).
      if (!isConstant(node)) meter.charge(LIST_COST);
      return node.items.map((item) => evaluate(item, scope, meter));
    case 'mapLiteral':
      return mapLiteral(node, scope, meter);
    case 'bind': {
      meter.charge(LIST_COST);
      let bound: CelValue | undefined;
      const { name, value } = node;
      const lazy = (): CelValue => {
        bound ??= evaluate(value, scope, meter);
        return bound;
      };
      return evaluate(node.body, (other) => (other === name ? lazy() : scope(other)), meter);
    }
    case 'orElse': {
      const optional = asOptional(evaluate(node.optional, scope, meter));
      if (optional.value === undefined) return evaluate(node.otherwise, scope, meter);
      return node.unwrap ? optional.value : optional;
    }
    case 'mapOptional': {
      const { value } = asOptional(evaluate(node.optional, scope, meter));
      if (value === undefined) return new CelOptional(undefined);
      const { variable } = node;
      const mapped = evaluate(node.body, (name) => (name === variable ? value : scope(name)), meter);
      return node.flatten ? mapped : new CelOptional(mapped);
    }
  }
}

function asOptional(value: CelValue): CelOptional {
  if (value instanceof CelOptional) return value;
  throw noSuchOverload();
}

function mapLiteral(node: Node<'mapLiteral'>, scope: Scope, meter: CostMeter): CelValue {
  if (!isConstant(node)) meter.charge(MAP_COST);
  const entries = new Map<MapKey, CelValue>();
  for (const [keyNode, valueNode] of node.entries) {
    const key = mapKey(evaluate(keyNode, scope, meter));
    if (key === undefined) throw new CelError('unsupported key type');
    if (entries.has(key)) throw new CelError(`insert failed: key ${String(key)} already exists`);
    entries.set(key, evaluate(valueNode, scope, meter));
  }
  return new LiteralMap(entries);
}

/** An attribute inside another attribute or a conditional is resolved with it: its first step costs nothing. */
function attributeDiscount({ op }: Checked): number {
  return op === 'variable' || op === 'select' || op === 'index' ? -1 : 0;
}

/** Charges an attribute: the first selection of a value that is not a variable costs one more. */
function chargeAttribute(operand: Checked, meter: CostMeter): void {
  const isAttribute = ['variable', 'select', 'index'].includes(operand.op);
  meter.charge(isAttribute ? 1 : 2);
}

function select(node: Node<'select'>, scope: Scope, meter: CostMeter): CelValue {
  const operand = evaluate(node.operand, scope, meter);
  // A presence test is free (PresenceTestHasCost).
  if (node.mode !== 'test') chargeAttribute(node.operand, meter);
  const isOptional = operand instanceof CelOptional || node.mode === 'optional';
  const holder = operand instanceof CelOptional ? operand.value : operand;
  const value = holder === undefined ? undefined : fieldOf(holder, node.field, node.mode);
  if (node.mode === 'test') return value !== undefined;
  if (isOptional) return new CelOptional(value);
  if (value === undefined) throw new CelError(`no such key: ${node.field}`);
  return value;
}

function fieldOf(
  holder: CelValue,
  field: string,
  mode: 'required' | 'test' | 'optional',
): CelValue | undefined {
  if (isMap(holder)) return holder.get(field);
  if (mode === 'optional' && holder === null) return undefined;
  if (isOpaque(holder)) throw noSuchOverload();
  throw new CelError(`no such key: ${field}`);
}

function index(node: Node<'index'>, scope: Scope, meter: CostMeter): CelValue {
  const operand = evaluate(node.operand, scope, meter);
  const at = evaluate(node.index, scope, meter);
  chargeAttribute(node.operand, meter);
  meter.charge(attributeDiscount(node.index));
  const isOptional = operand instanceof CelOptional || node.mode === 'optional';
  const holder = operand instanceof CelOptional ? operand.value : operand;
  const value = holder === undefined ? undefined : elementAt(holder, at, isOptional);
  if (isOptional) return new CelOptional(value);
  if (value === undefined) throw new CelError(`no such key: ${shownKey(at)}`);
  return value;
}

function elementAt(holder: CelValue, at: CelValue, isOptional: boolean): CelValue | undefined {
  const key = mapKey(at);
  if (isMap(holder)) {
    if (key === undefined) throw new CelError(`unsupported key type: ${typeOfValue(at)}`);
    return holder.get(key);
  }
  if (!isList(holder)) throw noSuchOverload();
  if (typeof key !== 'bigint') throw new CelError(`unsupported index type '${typeOfValue(at)}' in list`);
  const item = key >= 0n && key < BigInt(holder.length) ? holder[Number(key)] : undefined;
  if (item === undefined && !isOptional) throw new CelError(`index out of bounds: ${key}`);
  return item;
}

function shownKey(key: CelValue): string {
  return String(mapKey(key) ?? typeOfValue(key));
}

function equal(node: Node<'equal'>, scope: Scope, meter: CostMeter): CelValue {
  const left = evaluate(node.left, scope, meter);
  const right = evaluate(node.right, scope, meter);
  const size = isOpaque(left) ? 1 : Math.min(sizeOfValue(left), sizeOfValue(right));
  meter.charge(Math.ceil(size * STRING_FACTOR));
  return isEqual(left, right) !== node.negated;
}

/** One decisive operand is enough, even if the other one fails. */
function logical(node: Node<'and' | 'or'>, scope: Scope, meter: CostMeter): boolean {
  const decisive = node.op === 'or';
  const left = attempt(node.left, scope, meter, evaluate);
  if (left === decisive) return decisive;
  const right = attempt(node.right, scope, meter, evaluate);
  if (right === decisive) return decisive;
  for (const each of [left, right]) {
    if (each instanceof CelError) throw each;
    if (typeof each !== 'boolean') throw noSuchOverload();
  }
  return !decisive;
}

function conditional(node: Node<'if'>, scope: Scope, meter: CostMeter): CelValue {
  const condition = evaluate(node.condition, scope, meter);
  if (typeof condition !== 'boolean') throw noSuchOverload();
  const branch = condition ? node.then : node.otherwise;
  meter.charge(attributeDiscount(branch));
  return evaluate(branch, scope, meter);
}
