/** Macros: `has`, comprehensions, `cel.bind`, and the methods of optional values that evaluate lazily. */
import { BOOL, type CelType, DYN, joinTypes, typeName } from './cel-type.js';
import { fail, type NodeChecker, rangeTypes, type Variables } from './check-node.js';
import type { Checked, Macro } from './checked-expression.js';
import type { SyntaxNode } from './parse-expression.js';

type CallNode = Extract<SyntaxNode, { op: 'call' | 'rcall' }>;

/** The parts of a call that can be a macro. */
interface MacroCall {
  checker: NodeChecker;
  node: CallNode;
  receiver: SyntaxNode;
  args: readonly SyntaxNode[];
  variables: Variables;
}

/** Returns the checked macro, or undefined if the call is none. */
export function checkMacro(checker: NodeChecker, node: CallNode, variables: Variables): Checked | undefined {
  if (node.op === 'call') {
    const [name, args] = node.args;
    return name === 'has' && args.length === 1
      ? checkHas(checker, args[0] as SyntaxNode, variables)
      : undefined;
  }
  const [name, receiver, args] = node.args;
  const call = { checker, node, receiver, args, variables };
  if (name === 'bind' && receiver.op === 'id' && receiver.args === 'cel') return checkBind(call);
  return checkComprehension(name, call) ?? checkOptional(name, call);
}

function checkHas(checker: NodeChecker, node: SyntaxNode, variables: Variables): Checked {
  if (node.op !== '.' && node.op !== '.?') return fail(node, 'invalid argument to has() macro');
  const [operand, field] = node.args;
  return checker.selection(node, checker.check(operand, variables), field, 'test');
}

function checkBind({ checker, node, args, variables }: MacroCall): Checked | undefined {
  const [nameNode, valueNode, bodyNode] = args;
  if (!nameNode || !valueNode || !bodyNode) return undefined;
  if (nameNode.op !== 'id') return fail(node, 'cel.bind() variable names must be simple identifiers');
  const value = checker.check(valueNode, variables);
  const body = checker.check(bodyNode, new Map(variables).set(nameNode.args, value.type));
  return { op: 'bind', name: nameNode.args, value, body, type: body.type };
}

/** The macros by name, and the numbers of arguments with one and with two variables. */
const MACROS: Readonly<Record<string, { macro: Macro; one: readonly number[]; two: readonly number[] }>> = {
  all: { macro: 'all', one: [2], two: [3] },
  exists: { macro: 'exists', one: [2], two: [3] },
  exists_one: { macro: 'existsOne', one: [2], two: [] },
  existsOne: { macro: 'existsOne', one: [2], two: [3] },
  map: { macro: 'map', one: [2, 3], two: [] },
  filter: { macro: 'filter', one: [2], two: [] },
  transformList: { macro: 'transformList', one: [], two: [3, 4] },
  transformMap: { macro: 'transformMap', one: [], two: [3, 4] },
};

function checkComprehension(name: string, call: MacroCall): Checked | undefined {
  const known = Object.hasOwn(MACROS, name) ? MACROS[name] : undefined;
  if (!known) return undefined;
  const isPair = known.two.includes(call.args.length);
  if (!isPair && !known.one.includes(call.args.length)) return undefined;
  const { checker, receiver, variables } = call;
  const range = checker.check(receiver, variables);
  const types = rangeTypes(receiver, range.type);
  const names = call.args.slice(0, isPair ? 2 : 1).map(variableName);
  const [first = '', second] = names;
  const single = range.type.kind === 'map' ? types.key : types.value;
  const scope = new Map(variables).set(first, isPair ? types.key : single);
  if (second !== undefined) scope.set(second, types.value);
  const rest = call.args.slice(names.length);
  const transforms = ['map', 'transformList', 'transformMap'].includes(known.macro);
  const conditionNode = transforms && rest.length === 1 ? undefined : rest[0];
  const condition = conditionNode && checker.checkAs(BOOL, conditionNode, scope);
  const transform = transforms ? checker.check(rest.at(-1) as SyntaxNode, scope) : undefined;
  const type = resultType(known.macro, range.type, { types, ...(transform ? { to: transform.type } : {}) });
  const parts = { ...(condition ? { condition } : {}), ...(transform ? { transform } : {}) };
  const variable = { variable: first, ...(second === undefined ? {} : { second }) };
  return { op: 'comprehension', macro: known.macro, range, ...variable, ...parts, type };
}

function variableName(node: SyntaxNode): string {
  return node.op === 'id' ? node.args : fail(node, 'argument must be a simple name');
}

function resultType(
  macro: Macro,
  range: CelType,
  { types, to = DYN }: { types: { key: CelType; value: CelType }; to?: CelType },
): CelType {
  const size = range.maxSize === undefined ? {} : { maxSize: range.maxSize };
  switch (macro) {
    case 'map':
    case 'transformList':
      return { kind: 'list', element: to, ...size };
    case 'transformMap':
      return { kind: 'map', key: types.key, value: to, ...size };
    case 'filter':
      return { kind: 'list', element: range.kind === 'map' ? types.key : types.value, ...size };
    default:
      return BOOL;
  }
}

function checkOptional(name: string, call: MacroCall): Checked | undefined {
  const { checker, node, receiver, args, variables } = call;
  const [argument, body] = args;
  if (!['or', 'orValue', 'optMap', 'optFlatMap'].includes(name) || !argument) return undefined;
  const optional = checker.check(receiver, variables);
  const { kind } = optional.type;
  if (kind !== 'optional' && kind !== 'dyn') return undefined;
  const inner = optional.type.kind === 'optional' ? optional.type.value : DYN;
  if (name === 'or' || name === 'orValue') {
    const otherwise = checker.check(argument, variables);
    const type = joinTypes(name === 'or' ? optional.type : inner, otherwise.type);
    if (type === undefined) {
      const applied = `${typeName(optional.type)}.(${typeName(otherwise.type)})`;
      return fail(node, `found no matching overload for '${name}' applied to '${applied}'`);
    }
    return { op: 'orElse', optional, otherwise, unwrap: name === 'orValue', type };
  }
  if (!body) return undefined;
  const variable = variableName(argument);
  const mapped = checker.check(body, new Map(variables).set(variable, inner));
  const flatten = name === 'optFlatMap';
  const type: CelType = flatten ? mapped.type : { kind: 'optional', value: mapped.type };
  return { op: 'mapOptional', optional, variable, body: mapped, flatten, type };
}
