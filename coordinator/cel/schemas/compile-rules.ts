/** Compiles the rules of one schema node, with upstream's errors (apiextensions validation.go, compilation.go). */
import type { FieldError } from '../../kinds/kind.js';
import { forbidden, invalidValue, notSupported, required } from '../../kinds/validation/field-error.js';
import { CompileError } from '../language/cel-error.js';
import type { CelType } from '../language/cel-type.js';
import { type CompiledExpression, compileExpression } from '../language/compile-expression.js';
import { KUBERNETES_FUNCTIONS } from '../libraries/kubernetes-functions.js';
import { fieldPathOf } from './field-path.js';
import { costText, EXPRESSION_COST_LIMIT, type RuleCosts } from './rule-costs.js';
import { MAX_REQUEST_BYTES, type SchemaType, schemaType } from './schema-type.js';
import type { StructuralSchema, ValidationRule } from './structural-schema.js';

export interface CompiledRule {
  source: ValidationRule;
  program: CompiledExpression;
  message?: CompiledExpression;
  usesOldSelf: boolean;
  /** The field of the error below the value, for example `.spec.name`. */
  fieldPath: string;
}

interface RulesPlace {
  path: string;
  isRoot: boolean;
  cardinality: number;
  uncorrelated?: string;
  errors: FieldError[];
  costs: RuleCosts;
}

/** Returns the rules that compile. Adds errors of the others to `place.errors`. */
export function compileRules(
  rules: readonly ValidationRule[],
  schema: StructuralSchema,
  place: RulesPlace,
): CompiledRule[] {
  if (rules.length === 0) return [];
  const at = `${place.path}.x-kubernetes-validations`;
  const before = place.errors.length;
  for (const [index, rule] of rules.entries())
    place.errors.push(...formErrors(rule, schema, `${at}[${index}]`));
  if (place.errors.length > before) return [];
  const type = schemaType(schema, place.isRoot);
  if (!type) {
    const detail = 'unable to convert structural schema to CEL declarations';
    place.errors.push({ reason: 'InternalError', field: at, message: `Internal error: ${detail}` });
    return [];
  }
  return rules.flatMap(
    (rule, index) => compileRule(rule, { ...place, schema, type, at: `${at}[${index}]` }) ?? [],
  );
}

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

function formErrors(rule: ValidationRule, schema: StructuralSchema, at: string): FieldError[] {
  const errors = messageErrors(rule, at);
  const { messageExpression, reason, fieldPath } = rule;
  if (messageExpression && messageExpression.trim() === '') {
    errors.push(required(`${at}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (reason !== undefined && !REASONS.includes(reason)) {
    errors.push(notSupported(`${at}.reason`, reason, REASONS));
  }
  if (!fieldPath) return errors;
  if (fieldPath.trim() === '') {
    errors.push(invalidValue(`${at}.fieldPath`, fieldPath, 'must be non-empty if specified'));
  }
  if (/[\n\r]/.test(fieldPath)) {
    errors.push(invalidValue(`${at}.fieldPath`, fieldPath, 'must not contain line breaks'));
  }
  if (fieldPathOf(fieldPath, schema) === undefined) {
    errors.push(invalidValue(`${at}.fieldPath`, fieldPath, 'must be a valid path'));
  }
  return errors;
}

function messageErrors({ rule, message = '' }: ValidationRule, at: string): FieldError[] {
  if (typeof rule !== 'string' || rule.trim() === '')
    return [required(`${at}.rule`, 'rule is not specified')];
  if (message !== '' && message.trim() === '') {
    return [invalidValue(`${at}.message`, message, 'must be non-empty if specified')];
  }
  if (/[\n\r]/.test(message.trim())) {
    return [invalidValue(`${at}.message`, message, 'must not contain line breaks')];
  }
  if (/[\n\r]/.test(rule.trim()) && message.trim() === '') {
    return [required(`${at}.message`, 'message must be specified if rule contains line breaks')];
  }
  return [];
}

interface RulePlace extends RulesPlace {
  schema: StructuralSchema;
  type: SchemaType;
  at: string;
}

function compileRule(rule: ValidationRule, place: RulePlace): CompiledRule | undefined {
  const self = place.type.type;
  const old: CelType = rule.optionalOldSelf ? { kind: 'optional', value: self } : self;
  const context = {
    variables: new Map([
      ['self', self],
      ['oldSelf', old],
    ]),
    functions: KUBERNETES_FUNCTIONS,
  };
  const { errors, at } = place;
  const program = compiled(rule.rule, context);
  if (typeof program === 'string') {
    errors.push(invalidValue(`${at}.rule`, rule, `compilation failed: ${program}`));
    return undefined;
  }
  if (program.type.kind !== 'bool') {
    errors.push(invalidValue(`${at}.rule`, rule, 'cel expression must evaluate to a bool'));
    return undefined;
  }
  observeCost(program.maxCost * occurrences(place), `${at}.rule`, 'estimated rule cost', place);
  const message = compileMessage(rule, context, place);
  const usesOldSelf = program.uses('oldSelf');
  if (usesOldSelf && place.uncorrelated !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelated}`;
    errors.push(invalidValue(`${at}.rule`, rule.rule, detail));
  }
  if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
    const detail = 'may not be set if oldSelf is not used in rule';
    errors.push(invalidValue(`${at}.optionalOldSelf`, rule.optionalOldSelf, detail));
  }
  const fieldPath = rule.fieldPath ? (fieldPathOf(rule.fieldPath, place.schema) ?? '') : '';
  return { source: rule, program, usesOldSelf, fieldPath, ...(message ? { message } : {}) };
}

/** Returns the program, or the text of its compile error. */
function compiled(
  expression: string,
  context: Parameters<typeof compileExpression>[1],
): CompiledExpression | string {
  try {
    return compileExpression(expression, context);
  } catch (error) {
    if (error instanceof CompileError) return error.message;
    throw error;
  }
}

/** How often a rule can run for one object. */
function occurrences({ cardinality, type }: RulePlace): number {
  return Number.isFinite(cardinality) ? cardinality : Math.floor(MAX_REQUEST_BYTES / (type.minBytes + 1));
}

function observeCost(cost: number, at: string, name: string, { errors, costs }: RulePlace): void {
  const bounded = Number.isNaN(cost) ? 0 : cost;
  if (bounded > EXPRESSION_COST_LIMIT)
    errors.push(forbidden(at, costText(name, bounded, EXPRESSION_COST_LIMIT)));
  costs.observe(at, bounded);
}

function compileMessage(
  rule: ValidationRule,
  context: Parameters<typeof compileExpression>[1],
  place: RulePlace,
): CompiledExpression | undefined {
  if (!rule.messageExpression) return undefined;
  const at = `${place.at}.messageExpression`;
  const message = compiled(rule.messageExpression, context);
  if (typeof message === 'string') {
    place.errors.push(invalidValue(at, rule, `messageExpression compilation failed: ${message}`));
    return undefined;
  }
  if (message.type.kind !== 'string') {
    place.errors.push(invalidValue(at, rule, 'messageExpression must evaluate to a string'));
    return undefined;
  }
  observeCost(message.maxCost, at, 'estimated messageExpression cost', place);
  return message;
}
