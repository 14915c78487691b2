/** What the checks of expressions and of macros share. */
import { CompileError } from './cel-error.js';
import { type CelType, DYN, INT, typeName } from './cel-type.js';
import type { Checked } from './checked-expression.js';
import type { SyntaxNode } from './parse-expression.js';

/** The names of variables and their types. */
export type Variables = ReadonlyMap<string, CelType>;

/** Checks the nodes inside a macro. */
export interface NodeChecker {
  check(node: SyntaxNode, variables: Variables): Checked;
  /** Checks a node that must have the given type, or dyn. */
  checkAs(type: CelType, node: SyntaxNode, variables: Variables): Checked;
  /** Returns a field selection. A field of an optional value is optional. */
  selection(node: SyntaxNode, operand: Checked, field: string, mode: 'test'): Checked;
}

/** Throws a CompileError at the node. */
export function fail(node: SyntaxNode, summary: string): never {
  throw new CompileError(summary, errorOffset(node), node.input);
}

/** Points to the operator, dot or parenthesis, like cel-go. */
function errorOffset(node: SyntaxNode): number {
  const args = node.args as unknown;
  const first = Array.isArray(args) ? (args[node.op === 'rcall' ? 1 : 0] as SyntaxNode | string) : undefined;
  const from = typeof first === 'object' ? first.end : node.start;
  const token = ['call', 'rcall'].includes(node.op) ? '(' : node.op === '.?' ? '.' : node.op[0];
  if (['value', 'id', 'list', 'map', '!_', '-_'].includes(node.op) || token === undefined) return node.start;
  const found = node.input.indexOf(token, from);
  return found === -1 ? node.start : found;
}

/** The type of the elements of a list, the keys of a map. Fails for other types. */
export function rangeTypes(node: SyntaxNode, type: CelType): { key: CelType; value: CelType } {
  if (type.kind === 'dyn') return { key: DYN, value: DYN };
  if (type.kind === 'list') return { key: INT, value: type.element };
  if (type.kind === 'map') return { key: type.key, value: type.value };
  const text = `expression of type '${typeName(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
  return fail(node, text);
}
