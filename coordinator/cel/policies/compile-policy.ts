/** Compiles the expressions of an admission policy. */
import type {
  MatchCondition,
  PolicyAuditAnnotation,
  PolicyValidation,
  ValidatingAdmissionPolicy,
} from '../../../shared/kube/admission/admission-policy-types.js';
import { CompileError } from '../language/cel-error.js';
import { type CelType, DYN } from '../language/cel-type.js';
import { type CompiledExpression, compileExpression } from '../language/compile-expression.js';
import { type PolicyScope, policyContext } from './policy-environment.js';

/** A compiled expression, or the reason why it does not compile. */
export type PolicyExpression = { source: string } & (
  | { program: CompiledExpression }
  | { compileError: string }
);

export interface CompiledValidation {
  source: PolicyValidation;
  expression: PolicyExpression;
  message?: PolicyExpression;
}

export interface CompiledCondition {
  name: string;
  expression: PolicyExpression;
}

export interface CompiledPolicy {
  conditions: readonly CompiledCondition[];
  /** In the order of the policy: each one may use those before it. */
  variables: readonly { name: string; expression: PolicyExpression }[];
  validations: readonly CompiledValidation[];
  annotations: readonly { source: PolicyAuditAnnotation; expression: PolicyExpression }[];
}

/** Compiles an expression that must have one of these types. */
function compilePolicyExpression(
  source: string,
  scope: PolicyScope,
  types: readonly ('bool' | 'string' | 'null_type')[] | 'any',
): PolicyExpression {
  try {
    const program = compileExpression(source, policyContext(scope));
    const { kind } = program.type;
    if (types === 'any' || (types as readonly string[]).includes(kind) || kind === 'dyn') {
      return { source, program };
    }
    const names = types.map((type) => (type === 'null_type' ? 'null' : type)).join(' or ');
    const expected = types.length > 1 ? `one of: ${names}` : names;
    return { source, compileError: `must evaluate to ${expected}` };
  } catch (error) {
    if (error instanceof CompileError)
      return { source, compileError: `compilation failed: ${error.message}` };
    throw error;
  }
}

/** Match conditions are compiled without the policy's variables if `scope` has none. */
export function compileConditions(
  conditions: readonly MatchCondition[] | undefined,
  scope: PolicyScope,
): CompiledCondition[] {
  return (conditions ?? []).map(({ name = '', expression = '' }) => ({
    name,
    expression: compilePolicyExpression(expression, scope, ['bool']),
  }));
}

export function compilePolicy({ spec = {} }: ValidatingAdmissionPolicy): CompiledPolicy {
  const types = new Map<string, CelType>();
  const hasParams = spec.paramKind !== undefined;
  const scope: PolicyScope = { hasParams, hasAuthorizer: true, variables: types };
  const variables = (spec.variables ?? []).map(({ name = '', expression = '' }) => {
    const compiled = compilePolicyExpression(expression, { ...scope, variables: new Map(types) }, 'any');
    types.set(name, 'program' in compiled ? compiled.program.type : DYN);
    return { name, expression: compiled };
  });
  const messageScope: PolicyScope = { ...scope, hasAuthorizer: false };
  return {
    variables,
    conditions: compileConditions(spec.matchConditions, scope),
    validations: (spec.validations ?? []).map((source) => ({
      source,
      expression: compilePolicyExpression(source.expression ?? '', scope, ['bool']),
      ...(source.messageExpression
        ? { message: compilePolicyExpression(source.messageExpression, messageScope, ['string']) }
        : {}),
    })),
    annotations: (spec.auditAnnotations ?? []).map((source) => ({
      source,
      expression: compilePolicyExpression(source.valueExpression ?? '', scope, ['string', 'null_type']),
    })),
  };
}
