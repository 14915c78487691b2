/** Calls of functions and operators: selects the overload by the values, and charges its cost. */
import type { CostMeter } from './cel-cost.js';
import { noSuchOverload } from './cel-error.js';
import type { CelType } from './cel-type.js';
import { CelOptional, type CelValue, isList, isMap, isOpaque, typeOfValue } from './cel-value.js';
import type { Checked } from './checked-expression.js';
import { type Evaluate, isConstant, type Scope } from './evaluation.js';

type CallNode = Extract<Checked, { op: 'call' }>;

export function evaluateCall(node: CallNode, scope: Scope, meter: CostMeter, evaluate: Evaluate): CelValue {
  const args = node.args.map((arg) => evaluate(arg, scope, meter));
  const chosen = node.overloads.find(({ args: types }) => types.every((type, at) => fits(type, args[at])));
  if (chosen === undefined) throw noSuchOverload();
  // Charge before the call. An expensive call would block the coordinator before it is counted.
  if (!isFree(node)) meter.charge(chosen.cost.actual(args));
  return chosen.call(args, meter);
}

/** Membership in a list of constants is a lookup (OptOptimize). */
function isFree(node: CallNode): boolean {
  if (node.name === '@in') return isConstant(node.args[1] as Checked) && node.args[1]?.op === 'list';
  return isConstant(node);
}

/** True if the value has the type. Elements of lists and maps are not checked. */
function fits(type: CelType, value: CelValue | undefined): boolean {
  if (value === undefined) return false;
  switch (type.kind) {
    case 'dyn':
    case 'param':
      return true;
    case 'list':
      return isList(value);
    case 'map':
    case 'object':
      return isMap(value);
    case 'opaque':
      return isOpaque(value) && value.opaque === type.name;
    case 'optional':
      return value instanceof CelOptional;
    case 'timestamp':
      return typeOfValue(value) === 'google.protobuf.Timestamp';
    case 'duration':
      return typeOfValue(value) === 'google.protobuf.Duration';
    default:
      return typeOfValue(value) === type.kind;
  }
}
