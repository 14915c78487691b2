/** Compiled expressions: checked once, evaluated often. */
import { CostMeter, CpuAllowance } from './cel-cost.js';
import type { CelType } from './cel-type.js';
import type { CelValue } from './cel-value.js';
import { type CheckContext, checkExpression } from './check-expression.js';
import type { Checked } from './checked-expression.js';
import { maxCost } from './estimate-cost.js';
import { evaluate } from './evaluate-expression.js';
import type { Scope } from './evaluation.js';

/** The cost limit of one evaluation (apis/cel PerCallLimit): about 0.1 s upstream. */
const PER_CALL_LIMIT = 1_000_000;

/** What an evaluation returned or how it failed, and what it cost. */
export interface Evaluation {
  cost: number;
  outcome: { value: CelValue } | { error: Error };
}

export interface CompiledExpression {
  type: CelType;
  /** The largest possible cost. Infinity if a size is unknown. */
  maxCost: number;
  /** True if the expression reads the variable. */
  uses(variable: string): boolean;
  /** `cpu` is shared by the expressions of one request. */
  evaluate(scope: Scope, cpu?: CpuAllowance): Evaluation;
}

/** Compiles an expression. Throws a CompileError. */
export function compileExpression(expression: string, context: CheckContext): CompiledExpression {
  const checked = checkExpression(expression, context);
  const used = new Set<string>();
  collectVariables(checked, used);
  return {
    type: checked.type,
    maxCost: maxCost(checked),
    uses: (variable) => used.has(variable),
    evaluate: (scope, cpu = new CpuAllowance()) => {
      const meter = new CostMeter(PER_CALL_LIMIT, cpu);
      try {
        return { outcome: { value: evaluate(checked, scope, meter) }, cost: meter.used };
      } catch (error) {
        return { outcome: { error: error as Error }, cost: meter.used };
      }
    },
  };
}

/** Adds the names of all variables that a node reads. A local variable of the same name counts as well. */
function collectVariables(node: unknown, into: Set<string>): void {
  if (Array.isArray(node)) {
    for (const each of node) collectVariables(each, into);
    return;
  }
  if (typeof node !== 'object' || node === null || !('op' in node)) return;
  const checked = node as Checked;
  if (checked.op === 'variable') into.add(checked.name);
  if (checked.op === 'constant') return;
  for (const each of Object.values(checked)) collectVariables(each, into);
}
