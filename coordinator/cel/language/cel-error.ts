/** Errors of CEL expressions. */

/** A failed evaluation, for example "no such key: x". `&&` and `||` can absorb it. */
export class CelError extends Error {}

/** The expression used more than its limit. Nothing absorbs it: the evaluation ends. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** A syntax or type error, with its position in the expression. */
export class CompileError extends Error {
  constructor(
    readonly summary: string,
    readonly offset: number,
    readonly expression: string,
  ) {
    super(displayed(summary, offset, expression));
  }
}

/** Formats an error like cel-go: the line, and an arrow below the column. */
function displayed(summary: string, offset: number, expression: string): string {
  const before = expression.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - (before.lastIndexOf('\n') + 1);
  const snippet = expression.split('\n')[line - 1] ?? '';
  return `ERROR: <input>:${line}:${column + 1}: ${summary}\n | ${snippet}\n | ${'.'.repeat(column)}^`;
}

export function noSuchOverload(): CelError {
  return new CelError('no such overload');
}
