/**
 * The rules of a CustomResourceDefinition (`x-kubernetes-validations`): compiled with the schema, evaluated with each
 * custom resource (apiextensions-apiserver pkg/apiserver/schema/cel/validation.go).
 */
import { isDeepStrictEqual } from 'node:util';
import type { FieldError } from '../../kinds/kind.js';
import { invalidValue } from '../../kinds/validation/field-error.js';
import { type EvaluationBudget, evaluationBudget } from '../language/cel-cost.js';
import { CelOptional, type CelValue } from '../language/cel-value.js';
import type { Scope } from '../language/evaluation.js';
import { type CompiledRule, compileRules } from './compile-rules.js';
import { RuleCosts } from './rule-costs.js';
import { ruleOutcome } from './rule-outcome.js';
import { schemaValue } from './schema-value.js';
import { type StructuralSchema, valueSchema } from './structural-schema.js';

/** The cost that all rules of one request may use (apis/cel RuntimeCELCostBudget). */
export const RULE_COST_BUDGET = 10_000_000;

export interface SchemaRules {
  /** Errors of the rules themselves, with paths below `path`. */
  errors: FieldError[];
  /** True if the schema has no rule: validation costs nothing. */
  isEmpty: boolean;
  /**
   * Returns the errors of an object. `old` is undefined for a new object. Errors of rules whose value has not changed
   * are warnings (ratcheting).
   */
  validate(value: unknown, old: unknown, path: string, context?: RuleContext): FieldError[];
}

export interface RuleContext {
  /** Shared by all calls for one request. Negative: no rule runs any more. */
  budget?: EvaluationBudget;
  /** Receives errors of unchanged values. */
  warn?: (text: string) => void;
}

/** The rules of a schema node and of the nodes below it. */
interface RuleNode {
  schema: StructuralSchema;
  isRoot: boolean;
  rules: readonly CompiledRule[];
  properties: ReadonlyMap<string, RuleNode>;
  values?: RuleNode;
  items?: RuleNode;
  allOf: readonly RuleNode[];
}

/** Compiles all rules of a schema. `path` is the field of the schema, for errors. */
export function compileSchemaRules(schema: StructuralSchema, path = 'openAPIV3Schema'): SchemaRules {
  const errors: FieldError[] = [];
  const costs = new RuleCosts();
  const root = compileNode(schema, schema, { path, isRoot: true, cardinality: 1, errors, costs });
  errors.push(...costs.totalErrors(path));
  return {
    errors,
    isEmpty: root === undefined,
    validate: (value, old, at, { budget = evaluationBudget(RULE_COST_BUDGET), warn } = {}) => {
      if (!root) return [];
      const run: Run = { budget, errors: [], ...(warn ? { warn } : {}) };
      const comparison: Comparison = old === undefined ? 'none' : { value, old, isUnchanged: undefined };
      visit(root, { value, old, path: at, comparison }, run);
      return run.errors;
    },
  };
}

interface NodePlace {
  path: string;
  isRoot: boolean;
  /** How often the node can occur in an object. Infinity: as often as a request has room for. */
  cardinality: number;
  /** Below this path, old and new values do not correspond. */
  uncorrelated?: string;
  errors: FieldError[];
  costs: RuleCosts;
}

/** Returns undefined if neither the node nor one below it has rules. `rulesOf` differs from `schema` for allOf. */
function compileNode(
  rulesOf: StructuralSchema,
  schema: StructuralSchema,
  place: NodePlace,
): RuleNode | undefined {
  const own = rulesOf['x-kubernetes-validations'] ?? [];
  const properties = new Map<string, RuleNode>();
  const inherit = { ...place, isRoot: false };
  const uncorrelated = place.uncorrelated === undefined ? { uncorrelated: place.path } : {};
  for (const [name, property] of Object.entries(rulesOf.properties ?? {})) {
    const spine = schema.properties?.[name];
    const node =
      spine && compileChild(property, spine, { ...inherit, path: `${place.path}.properties[${name}]` });
    if (node) properties.set(name, node);
  }
  const [valueRules, valuesOf] = [valueSchema(rulesOf), valueSchema(schema)];
  const values =
    valueRules &&
    valuesOf &&
    compileChild(valueRules, valuesOf, {
      ...inherit,
      path: `${place.path}.additionalProperties`,
      cardinality: place.cardinality * (schema.maxProperties ?? Number.POSITIVE_INFINITY),
    });
  const items =
    rulesOf.items &&
    schema.items &&
    compileChild(rulesOf.items, schema.items, {
      ...inherit,
      ...(schema['x-kubernetes-list-type'] === 'map' ? {} : uncorrelated),
      path: `${place.path}.items`,
      cardinality: place.cardinality * (schema.maxItems ?? Number.POSITIVE_INFINITY),
    });
  const allOf = (rulesOf.allOf ?? []).flatMap(
    (each, at) => compileNode(each, schema, { ...place, path: `${place.path}.allOf[${at}]` }) ?? [],
  );
  const rules = compileRules(own, schema, place);
  if (rules.length + properties.size + allOf.length === 0 && !values && !items) return undefined;
  const children = { ...(values ? { values } : {}), ...(items ? { items } : {}) };
  return { schema, isRoot: place.isRoot, rules, properties, allOf, ...children };
}

function compileChild(
  rules: StructuralSchema,
  schema: StructuralSchema,
  place: NodePlace,
): RuleNode | undefined {
  return compileNode(rules, schema, { ...place, isRoot: schema['x-kubernetes-embedded-resource'] === true });
}

/** The old value that decides whether an error is ratcheted: of this node, or of the nearest one that has one. */
type Comparison = 'none' | { value: unknown; old: unknown; isUnchanged: boolean | undefined };

interface Visit {
  value: unknown;
  old: unknown;
  path: string;
  comparison: Comparison;
}

interface Run {
  budget: EvaluationBudget;
  errors: FieldError[];
  warn?: (text: string) => void;
}

function visit(node: RuleNode, at: Visit, run: Run): void {
  if (at.value === null || at.value === undefined || run.budget.remaining < 0) return;
  evaluateRules(node, at, run);
  for (const each of node.allOf) visit(each, at, run);
  if (Array.isArray(at.value)) visitItems(node, at.value, at, run);
  else if (typeof at.value === 'object') visitFields(node, at.value as Record<string, unknown>, at, run);
}

function visitItems(node: RuleNode, array: readonly unknown[], at: Visit, run: Run): void {
  const { items } = node;
  if (!items) return;
  const oldItem = oldItemFinder(node.schema, at.old);
  for (const [index, value] of array.entries()) {
    const old = oldItem(value);
    const comparison = comparisonBelow(at.comparison, value, old);
    visit(items, { value, old, path: `${at.path}[${index}]`, comparison }, run);
  }
}

/** Finds the old item of the same keys. Only lists that are maps have one. */
function oldItemFinder(schema: StructuralSchema, old: unknown): (item: unknown) => unknown {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || !keys || !Array.isArray(old)) return () => undefined;
  const keyOf = (item: unknown): string =>
    JSON.stringify(keys.map((key) => (item as Record<string, unknown> | null)?.[key] ?? null));
  const byKey = new Map(old.map((item) => [keyOf(item), item as unknown]));
  return (item) => byKey.get(keyOf(item));
}

function visitFields(node: RuleNode, object: Record<string, unknown>, at: Visit, run: Run): void {
  const old = typeof at.old === 'object' && at.old !== null ? (at.old as Record<string, unknown>) : {};
  for (const [name, value] of Object.entries(object)) {
    const child = node.values ?? node.properties.get(name);
    if (!child) continue;
    const oldValue = Object.hasOwn(old, name) ? old[name] : undefined;
    const path = node.values ? `${at.path}[${name}]` : joinPath(at.path, name);
    const comparison = comparisonBelow(at.comparison, value, oldValue);
    visit(child, { value, old: oldValue, path, comparison }, run);
  }
}

function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** A value without a counterpart is unchanged only if the value around it is. */
function comparisonBelow(around: Comparison, value: unknown, old: unknown): Comparison {
  if (around === 'none') return 'none';
  return old === undefined ? around : { value, old, isUnchanged: undefined };
}

function isUnchanged(comparison: Comparison): boolean {
  if (comparison === 'none') return false;
  comparison.isUnchanged ??= isDeepStrictEqual(comparison.value, comparison.old);
  return comparison.isUnchanged;
}

function evaluateRules(node: RuleNode, at: Visit, run: Run): void {
  const { rules, schema, isRoot } = node;
  if (rules.length === 0) return;
  if (run.budget.remaining <= 0) {
    const text =
      'validation failed due to running out of cost budget, no further validation rules will be run';
    run.errors.push(invalidValue(at.path, schema.type ?? '', text));
    run.budget.remaining = -1;
    return;
  }
  const self = schemaValue(at.value, schema, isRoot);
  const old = at.old === undefined || at.old === null ? undefined : schemaValue(at.old, schema, isRoot);
  for (const rule of rules) {
    if (rule.usesOldSelf && old === undefined && !rule.source.optionalOldSelf) continue;
    const scope = scopeOf(self, rule.source.optionalOldSelf ? new CelOptional(old) : old);
    const error = ruleOutcome(rule, scope, { ...at, schema, budget: run.budget });
    if (error?.isFailedRule && !rule.usesOldSelf && isUnchanged(at.comparison)) {
      run.warn?.(`${error.field.field}: ${error.field.message}`);
    } else if (error) {
      run.errors.push(error.field);
    }
    if (run.budget.remaining < 0) return;
  }
}

function scopeOf(self: CelValue, oldSelf: CelValue | undefined): Scope {
  return (name) => (name === 'self' ? self : name === 'oldSelf' ? oldSelf : undefined);
}
