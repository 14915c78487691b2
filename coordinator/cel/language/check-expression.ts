/** Type checking of expressions (cel-spec langdef.md "Gradual Type Checking"). */
import { BOOL, type CelType, DYN, INT, isAssignable, joinTypes, typeName } from './cel-type.js';
import { CelTypeValue, CelUint, type CelValue } from './cel-value.js';
import { checkMacro } from './check-macro.js';
import { fail, type NodeChecker, type Variables } from './check-node.js';
import type { Checked, CheckedOperation } from './checked-expression.js';
import { type Functions, matchOverloads } from './overload.js';
import { parseExpression, type SyntaxNode } from './parse-expression.js';

/** What an expression can use. */
export interface CheckContext {
  variables: Variables;
  functions: Functions;
}

type Node<Op extends SyntaxNode['op']> = Extract<SyntaxNode, { op: Op }>;

/** Parses and checks an expression. Throws a CompileError. */
export function checkExpression(expression: string, context: CheckContext): Checked {
  return new Checker(context.functions).check(parseExpression(expression), context.variables);
}

/** Names of types that are values, for example in `type(x) == int`. */
const TYPE_NAMES: ReadonlySet<string> = new Set([
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
  'optional_type',
]);

/** Comparison and arithmetic: the names of their functions, as errors show them. */
const BINARY: ReadonlySet<string> = new Set(['in', '+', '-', '*', '/', '%', '<', '<=', '>', '>=']);

/** Checks the nodes of one expression. */
class Checker implements NodeChecker {
  constructor(private readonly functions: Functions) {}

  check(node: SyntaxNode, variables: Variables): Checked {
    switch (node.op) {
      case 'value':
        return this.#constant(node);
      case 'id':
        return this.#variable(node, variables);
      case '.':
      case '.?':
        return this.#select(node, variables);
      case '[]':
      case '[?]':
        return this.#index(node, variables);
      case 'call':
      case 'rcall':
        return checkMacro(this, node, variables) ?? this.#call(node, variables);
      case 'list':
        return this.#list(node, variables);
      case 'map':
        return this.#map(node, variables);
      default:
        return this.#operator(node, variables);
    }
  }

  /** Checks a node that must have the given type, or dyn. */
  checkAs(type: CelType, node: SyntaxNode, variables: Variables): Checked {
    const checked = this.check(node, variables);
    if (isAssignable(type, checked.type)) return checked;
    return fail(node, `expected type '${typeName(type)}' but found '${typeName(checked.type)}'`);
  }

  #operator(node: SyntaxNode, variables: Variables): Checked {
    switch (node.op) {
      case '?:':
        return this.#conditional(node, variables);
      case '&&':
      case '||':
        return this.#logical(node, variables);
      case '==':
      case '!=':
        return this.#equality(node, variables);
      case '!_':
      case '-_':
        return this.#resolve(node, node.op === '!_' ? '!_' : '-_', false, [this.check(node.args, variables)]);
      default: {
        if (!BINARY.has(node.op)) return fail(node, 'unsupported expression');
        const [left, right] = node.args as [SyntaxNode, SyntaxNode];
        const name = node.op === 'in' ? '@in' : `_${node.op}_`;
        return this.#resolve(node, name, false, [this.check(left, variables), this.check(right, variables)]);
      }
    }
  }

  #constant(node: Node<'value'>): Checked {
    const value = literal(node.args);
    return { op: 'constant', value, type: { kind: literalKind(value) } };
  }

  #variable(node: Node<'id'>, variables: Variables): Checked {
    const name = node.args;
    const type = variables.get(name);
    if (type !== undefined) return { op: 'variable', name, type };
    if (TYPE_NAMES.has(name))
      return { op: 'constant', value: new CelTypeValue(name), type: { kind: 'type' } };
    return fail(node, `undeclared reference to '${name}' (in container '')`);
  }

  #select(node: Node<'.'> | Node<'.?'>, variables: Variables): Checked {
    const wellKnown = wellKnownType(node);
    if (wellKnown && !variables.has('google')) return wellKnown;
    const [operandNode, field] = node.args;
    // Names with dots, such as authorizer.requestResource.
    const dotted = operandNode.op === 'id' ? `${operandNode.args}.${field}` : '';
    const type = variables.get(dotted);
    if (type) return { op: 'variable', name: dotted, type };
    const operand = this.check(operandNode, variables);
    const mode = node.op === '.?' ? 'optional' : 'required';
    return this.selection(node, operand, field, mode);
  }

  /** Returns a field selection. A field of an optional value is optional. */
  selection(
    node: SyntaxNode,
    operand: Checked,
    field: string,
    mode: 'required' | 'test' | 'optional',
  ): Checked {
    const inner = operand.type.kind === 'optional' ? operand.type.value : operand.type;
    const found = fieldType(node, inner, field);
    const operation: CheckedOperation = { op: 'select', operand, field, mode };
    if (mode === 'test') return { ...operation, type: BOOL };
    const isOptional = mode === 'optional' || operand.type.kind === 'optional';
    return { ...operation, type: isOptional ? { kind: 'optional', value: found } : found };
  }

  #index(node: Node<'[]'> | Node<'[?]'>, variables: Variables): Checked {
    const [operandNode, indexNode] = node.args;
    const operand = this.check(operandNode, variables);
    const index = this.check(indexNode, variables);
    const inner = operand.type.kind === 'optional' ? operand.type.value : operand.type;
    const element = elementType(node, inner, index.type);
    const mode = node.op === '[?]' ? 'optional' : 'required';
    const isOptional = mode === 'optional' || operand.type.kind === 'optional';
    const type: CelType = isOptional ? { kind: 'optional', value: element } : element;
    return { op: 'index', operand, index, mode, type };
  }

  #call(node: Node<'call'> | Node<'rcall'>, variables: Variables): Checked {
    if (node.op === 'call') {
      const [name, args] = node.args;
      return this.#resolve(node, name, false, this.#all(args, variables));
    }
    const [name, receiver, args] = node.args;
    const qualified = receiver.op === 'id' && !variables.has(receiver.args) ? `${receiver.args}.${name}` : '';
    if (this.functions.has(qualified))
      return this.#resolve(node, qualified, false, this.#all(args, variables));
    const mixed =
      name === 'format' && args[0]?.op === 'list' ? this.#mixedList(args[0], variables) : undefined;
    const rest = mixed ? [mixed] : this.#all(args, variables);
    return this.#resolve(node, name, true, [this.check(receiver, variables), ...rest]);
  }

  #all(nodes: readonly SyntaxNode[], variables: Variables): Checked[] {
    return nodes.map((each) => this.check(each, variables));
  }

  /** Returns the call of the overloads that fit. */
  #resolve(node: SyntaxNode, name: string, isMember: boolean, args: Checked[]): Checked {
    if (!this.functions.has(name)) return fail(node, `undeclared reference to '${name}' (in container '')`);
    const types = args.map(({ type }) => type);
    const matches = matchOverloads(this.functions, name, isMember, types);
    const [first, ...others] = matches;
    if (first === undefined) return fail(node, noOverload(name, isMember, types));
    const same = others.every(({ result }) => typeName(result) === typeName(first.result));
    const overloads = matches.map(({ overload }) => overload);
    return { op: 'call', name, args, overloads, type: same ? first.result : DYN };
  }

  #equality(node: Node<'=='> | Node<'!='>, variables: Variables): Checked {
    const [left, right] = [this.check(node.args[0], variables), this.check(node.args[1], variables)];
    if (!isAssignable(left.type, right.type) && !isAssignable(right.type, left.type)) {
      return fail(node, noOverload(`_${node.op}_`, false, [left.type, right.type]));
    }
    return { op: 'equal', left, right, negated: node.op === '!=', type: BOOL };
  }

  #logical(node: Node<'&&'> | Node<'||'>, variables: Variables): Checked {
    const [left, right] = [
      this.checkAs(BOOL, node.args[0], variables),
      this.checkAs(BOOL, node.args[1], variables),
    ];
    return { op: node.op === '&&' ? 'and' : 'or', left, right, type: BOOL };
  }

  #conditional(node: Node<'?:'>, variables: Variables): Checked {
    const condition = this.checkAs(BOOL, node.args[0], variables);
    const [then, otherwise] = [this.check(node.args[1], variables), this.check(node.args[2], variables)];
    const type = joinTypes(then.type, otherwise.type);
    if (type === undefined) return fail(node, noOverload('_?_:_', false, [BOOL, then.type, otherwise.type]));
    return { op: 'if', condition, then, otherwise, type };
  }

  /** All elements of a literal must have one type (HomogeneousAggregateLiterals). */
  #sameType(nodes: readonly SyntaxNode[], checked: readonly Checked[]): CelType {
    let type: CelType | undefined;
    for (const [at, each] of checked.entries()) {
      const joined = type === undefined ? each.type : joinTypes(type, each.type);
      if (joined === undefined) {
        const found = typeName(each.type);
        return fail(nodes[at] as SyntaxNode, `expected type '${typeName(type ?? DYN)}' but found '${found}'`);
      }
      type = joined;
    }
    return type ?? DYN;
  }

  #list(node: Node<'list'>, variables: Variables): Checked {
    const items = this.#all(node.args, variables);
    const element = this.#sameType(node.args, items);
    return { op: 'list', items, type: { kind: 'list', element, maxSize: items.length } };
  }

  /** The arguments of `format` may have different types. */
  #mixedList(node: Node<'list'>, variables: Variables): Checked {
    const items = this.#all(node.args, variables);
    return { op: 'list', items, type: { kind: 'list', element: DYN, maxSize: items.length } };
  }

  #map(node: Node<'map'>, variables: Variables): Checked {
    const entries = node.args.map(
      ([key, value]) => [this.check(key, variables), this.check(value, variables)] as const,
    );
    const key = this.#sameType(
      node.args.map(([each]) => each),
      entries.map(([each]) => each),
    );
    const value = this.#sameType(
      node.args.map(([, each]) => each),
      entries.map(([, each]) => each),
    );
    return { op: 'mapLiteral', entries, type: { kind: 'map', key, value, maxSize: entries.length } };
  }
}

function noOverload(name: string, isMember: boolean, types: readonly CelType[]): string {
  const names = types.map(typeName);
  const applied = isMember ? `${names[0]}.(${names.slice(1).join(', ')})` : `(${names.join(', ')})`;
  return `found no matching overload for '${name}' applied to '${applied}'`;
}

/** Literals of the parser: unsigned integers are objects of its own class. */
function literal(value: Node<'value'>['args']): CelValue {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return new CelUint(BigInt(value.toString()));
}

function literalKind(value: CelValue): 'int' | 'double' | 'string' | 'bool' | 'null_type' | 'bytes' | 'uint' {
  switch (typeof value) {
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    default:
      if (value === null) return 'null_type';
      return value instanceof Uint8Array ? 'bytes' : 'uint';
  }
}

/** `google.protobuf.Timestamp` and `google.protobuf.Duration` as values. */
function wellKnownType(node: SyntaxNode): Checked | undefined {
  const text = node.input.slice(node.start, node.end);
  if (text !== 'google.protobuf.Timestamp' && text !== 'google.protobuf.Duration') return undefined;
  return { op: 'constant', value: new CelTypeValue(text), type: { kind: 'type' } };
}

function fieldType(node: SyntaxNode, type: CelType, field: string): CelType {
  if (type.kind === 'dyn' || type.kind === 'param') return DYN;
  if (type.kind === 'map') return type.value;
  if (type.kind !== 'object') return fail(node, `type '${typeName(type)}' does not support field selection`);
  return type.fields.get(field) ?? fail(node, `undefined field '${field}'`);
}

function elementType(node: SyntaxNode, type: CelType, index: CelType): CelType {
  if (type.kind === 'dyn') return DYN;
  if (type.kind === 'list' && isAssignable(INT, index)) return type.element;
  if (type.kind === 'map' && isAssignable(type.key, index)) return type.value;
  return fail(node, noOverload('_[_]', false, [type, index]));
}
