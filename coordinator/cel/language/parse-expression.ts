/** Parses expressions with the kept parser. Its type checker and evaluator are not used (docs/adr/libraries.md). */
import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { CompileError } from './cel-error.js';

export type SyntaxNode = ASTNode;

/** Deeper expressions could overflow the stack. */
const LIMITS = { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1_000, maxMapEntries: 1_000 };

const parser = new Environment({ enableOptionalTypes: true, limits: LIMITS });

/** Returns the syntax tree. Throws a CompileError. */
export function parseExpression(expression: string): SyntaxNode {
  try {
    return parser.parse(expression).ast;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new CompileError(`Syntax error: ${error.summary}`, error.range?.start ?? 0, expression);
  }
}
