/** The result of one rule for one value, as an error with upstream's texts. */
import type { FieldError } from '../../kinds/kind.js';
import { duplicate, forbidden, invalidValue, required } from '../../kinds/validation/field-error.js';
import type { EvaluationBudget } from '../language/cel-cost.js';
import { CostExceeded } from '../language/cel-error.js';
import type { Evaluation } from '../language/compile-expression.js';
import type { Scope } from '../language/evaluation.js';
import type { CompiledRule } from './compile-rules.js';
import type { StructuralSchema, ValidationRule } from './structural-schema.js';

/** Largest text of a messageExpression (apis/cel MaxEvaluatedMessageExpressionSizeBytes). */
const MAX_MESSAGE_BYTES = 5 * 1024;

/** Where a rule runs. `budget.remaining` decreases; it becomes negative when no further rule may run. */
interface RulePlace {
  value: unknown;
  path: string;
  schema: StructuralSchema;
  budget: EvaluationBudget;
}

/** `isFailedRule` is false for errors that an unchanged value does not excuse. */
interface RuleError {
  field: FieldError;
  isFailedRule: boolean;
}

/** Evaluates a rule. Returns undefined if the value satisfies it. */
export function ruleOutcome(rule: CompiledRule, scope: Scope, place: RulePlace): RuleError | undefined {
  const { budget, path, schema } = place;
  const type = schema.type ?? '';
  const { outcome, cost } = rule.program.evaluate(scope, budget.cpu);
  if (!spend(budget, cost)) {
    const text =
      'validation failed due to running out of cost budget, no further validation rules will be run';
    return { field: invalidValue(path, type, text), isFailedRule: false };
  }
  if ('error' in outcome) {
    if (outcome.error instanceof CostExceeded) budget.remaining = -1;
    return { field: invalidValue(path, type, failureText(outcome.error, rule.source)), isFailedRule: false };
  }
  if (outcome.value === true) return undefined;
  const message = messageOf(rule, scope, budget);
  const at = `${path}${rule.fieldPath}`.replace(/^\./, '');
  if (typeof message === 'object')
    return { field: invalidValue(at, type, message.failed), isFailedRule: true };
  return { field: reasonError(at, place, message, rule.source.reason), isFailedRule: true };
}

function spend(budget: { remaining: number }, cost: number): boolean {
  const isEnough = cost <= budget.remaining;
  budget.remaining = isEnough ? budget.remaining - cost : -1;
  return isEnough;
}

function failureText(error: Error, rule: ValidationRule): string {
  const shown = ruleText(rule);
  if (error.message.startsWith('no such overload')) {
    return `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`;
  }
  if (error instanceof CostExceeded) {
    return `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`;
  }
  return `${error.message} evaluating rule: ${shown}`;
}

function ruleText({ message, rule }: ValidationRule): string {
  return (message || rule).trim();
}

/** Returns the message, or the error that stops the validation. */
function messageOf(rule: CompiledRule, scope: Scope, budget: EvaluationBudget): string | { failed: string } {
  const { source, message } = rule;
  if (message) {
    const evaluation = message.evaluate(scope, budget.cpu);
    const { messageExpression = '' } = source;
    if (!spend(budget, evaluation.cost)) {
      const failed =
        'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run';
      return { failed };
    }
    if ('error' in evaluation.outcome && evaluation.outcome.error instanceof CostExceeded) {
      budget.remaining = -1;
      const shown = JSON.stringify(messageExpression);
      return {
        failed: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${shown}`,
      };
    }
    const text = usableMessage(evaluation);
    if (text !== undefined) return text;
  }
  return source.message ? source.message.trim() : `failed rule: ${ruleText(source)}`;
}

/** Returns the text of a messageExpression, or undefined if it failed or is empty, too long or has line breaks. */
export function usableMessage({ outcome }: Evaluation): string | undefined {
  if ('error' in outcome || typeof outcome.value !== 'string') return undefined;
  const text = outcome.value.trim();
  return text === '' || text.includes('\n') || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? undefined : text;
}

function reasonError(
  path: string,
  { value, schema }: RulePlace,
  detail: string,
  reason: string | undefined,
): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail);
    case 'FieldValueRequired':
      return required(path, detail);
    case 'FieldValueDuplicate':
      return duplicate(path, shownValue(value, schema));
    default:
      return withoutValue(path, value, { detail, schema });
  }
}

/** Objects and lists are not part of the error: they can be large. */
function shownValue(value: unknown, { type }: StructuralSchema): unknown {
  return type === 'object' || type === 'array' ? type : value;
}

function withoutValue(
  path: string,
  value: unknown,
  { detail, schema }: { detail: string; schema: StructuralSchema },
): FieldError {
  if (schema.type !== 'object' && schema.type !== 'array') return invalidValue(path, value, detail);
  return { reason: 'FieldValueInvalid', field: path, message: `Invalid value: ${detail}` };
}
