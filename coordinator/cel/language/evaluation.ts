/** What the evaluation of expressions, calls and comprehensions share. */
import type { CostMeter } from './cel-cost.js';
import { CelError } from './cel-error.js';
import type { CelValue } from './cel-value.js';
import type { Checked } from './checked-expression.js';

/** Returns the value of a variable, or undefined if it has none. */
export type Scope = (name: string) => CelValue | undefined;

/** Evaluates a node. */
export type Evaluate = (node: Checked, scope: Scope, meter: CostMeter) => CelValue;

const CONVERSIONS: ReadonlySet<string> = new Set([
  'int',
  'uint',
  'double',
  'string',
  'bool',
  'bytes',
  'timestamp',
  'duration',
]);

/** True for literals, and for conversions of literals. Upstream computes them once (OptOptimize): they cost nothing. */
export function isConstant(node: Checked): boolean {
  if (node.op === 'call') return CONVERSIONS.has(node.name) && node.args.every(isConstant);
  if (node.op === 'list') return node.items.every(isConstant);
  if (node.op === 'mapLiteral') return node.entries.flat().every(isConstant);
  return node.op === 'constant';
}

/** Returns the value, or the error that a decisive operand can absorb. */
export function attempt(
  node: Checked,
  scope: Scope,
  meter: CostMeter,
  evaluate: Evaluate,
): CelValue | CelError {
  try {
    return evaluate(node, scope, meter);
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}
