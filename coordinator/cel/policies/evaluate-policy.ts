/**
 * Decides on one request with one policy and one parameter (k8s.io/apiserver
 * pkg/admission/plugin/policy/validating/validator.go, pkg/admission/plugin/cel/condition.go).
 */
import { type EvaluationBudget, evaluationBudget } from '../language/cel-cost.js';
import { CelError } from '../language/cel-error.js';
import type { CelMap, CelValue } from '../language/cel-value.js';
import type { Scope } from '../language/evaluation.js';
import { usableMessage } from '../schemas/rule-outcome.js';
import type {
  CompiledCondition,
  CompiledPolicy,
  CompiledValidation,
  PolicyExpression,
} from './compile-policy.js';

/** The cost that the expressions of one policy may use for one request (apis/cel RuntimeCELCostBudget). */
const POLICY_BUDGET = 10_000_000;
/** RuntimeCELCostBudgetMatchConditions. */
const CONDITIONS_BUDGET = 2_500_000;

interface PolicyDenial {
  /** Index of the validation, for the audit log. */
  index: number;
  message: string;
  reason: string;
}

export interface PolicyOutcome {
  denials: PolicyDenial[];
  annotations: { key: string; value: string }[];
}

/** Returns the value, or the text of the error. */
type Result = { value: CelValue } | { failed: string };

const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

function run({ source, ...rest }: PolicyExpression, scope: Scope, budget: EvaluationBudget): Result {
  if ('compileError' in rest) return { failed: `compilation error: ${rest.compileError}` };
  if (budget.remaining <= 0) return { failed: OUT_OF_BUDGET };
  const { outcome, cost } = rest.program.evaluate(scope, budget.cpu);
  if (cost > budget.remaining) {
    budget.remaining = 0;
    return { failed: OUT_OF_BUDGET };
  }
  budget.remaining -= cost;
  if ('value' in outcome) return outcome;
  return { failed: `expression '${source}' resulted in error: ${outcome.error.message}` };
}

/** Whether match conditions hold. `failed` is the error of the first one that has none, if no other one is false. */
type ConditionOutcome = 'matches' | 'excluded' | { failed: string };

export function evaluateConditions(conditions: readonly CompiledCondition[], scope: Scope): ConditionOutcome {
  const budget = evaluationBudget(CONDITIONS_BUDGET);
  const failures: string[] = [];
  for (const { expression } of conditions) {
    const result = run(expression, scope, budget);
    if ('failed' in result) failures.push(result.failed);
    else if (result.value !== true) return 'excluded';
  }
  return failures.length === 0 ? 'matches' : { failed: failures.join(', ') };
}

/** Evaluates all expressions. Errors deny the request unless the failure policy is Ignore. */
export function evaluatePolicy(policy: CompiledPolicy, failurePolicy: string, scope: Scope): PolicyOutcome {
  const isIgnored = failurePolicy === 'Ignore';
  const budget = evaluationBudget(POLICY_BUDGET);
  const composed = withVariables(policy, scope, budget);
  const conditions = evaluateConditions(policy.conditions, composed);
  if (conditions === 'excluded') return { denials: [], annotations: [] };
  if (conditions !== 'matches') {
    const denial = { index: 0, message: conditions.failed, reason: 'Invalid' };
    return { denials: isIgnored ? [] : [denial], annotations: [] };
  }
  const outcome: PolicyOutcome = { denials: [], annotations: [] };
  for (const [index, validation] of policy.validations.entries()) {
    const result = run(validation.expression, composed, budget);
    if ('failed' in result) {
      if (!isIgnored) outcome.denials.push({ index, message: result.failed, reason: 'Invalid' });
    } else if (result.value !== true) {
      const message = messageOf(validation, composed, budget);
      outcome.denials.push({ index, message, reason: validation.source.reason ?? 'Invalid' });
    }
  }
  annotate(policy, isIgnored, { scope: composed, outcome });
  return outcome;
}

function messageOf({ source, message }: CompiledValidation, scope: Scope, budget: EvaluationBudget): string {
  const result = message && run(message, scope, budget);
  const text = result && 'value' in result ? usableMessage({ outcome: result, cost: 0 }) : undefined;
  if (text !== undefined) return text;
  return source.message?.trim() || `failed expression: ${(source.expression ?? '').trim()}`;
}

function annotate(
  { annotations }: CompiledPolicy,
  isIgnored: boolean,
  { scope, outcome }: { scope: Scope; outcome: PolicyOutcome },
): void {
  const budget = evaluationBudget(POLICY_BUDGET);
  for (const { source, expression } of annotations) {
    const result = run(expression, scope, budget);
    if ('failed' in result) {
      if (!isIgnored) outcome.denials.push({ index: 0, message: result.failed, reason: 'Invalid' });
    } else if (typeof result.value === 'string') {
      const value = result.value.trim();
      if (value !== '') outcome.annotations.push({ key: source.key ?? '', value });
    }
  }
}

/** Adds `variables`. Each one is evaluated when it is read first, and fails where it is read. */
function withVariables({ variables }: CompiledPolicy, scope: Scope, budget: EvaluationBudget): Scope {
  const results = new Map<string, Result>();
  const known = new Map(variables.map(({ name, expression }) => [name, expression]));
  const read = (name: string): CelValue | undefined => {
    const expression = known.get(name);
    if (!expression) return undefined;
    const result = results.get(name) ?? run(expression, composed, budget);
    results.set(name, result);
    if ('value' in result) return result.value;
    throw new CelError(`composited variable "${name}" fails to evaluate: ${result.failed}`);
  };
  const value: CelMap = {
    shape: 'object',
    size: known.size,
    get: (name) => (typeof name === 'string' ? read(name) : undefined),
    keys: () => known.keys(),
  };
  const composed: Scope = (name) => (name === 'variables' ? value : scope(name));
  return composed;
}
