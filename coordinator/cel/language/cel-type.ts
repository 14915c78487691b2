/** Types of CEL expressions (cel-spec langdef.md), with the sizes that cost estimates need. */

/** Kinds without parameters. */
const SIMPLE_KINDS = [
  'dyn',
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'null_type',
  'type',
  'timestamp',
  'duration',
] as const;

type SimpleKind = (typeof SIMPLE_KINDS)[number];

/** A type. `maxSize` is the largest number of bytes, items or entries; absent means unknown. */
export type CelType =
  | { kind: SimpleKind; maxSize?: number }
  | { kind: 'list'; element: CelType; maxSize?: number }
  | { kind: 'map'; key: CelType; value: CelType; maxSize?: number }
  | { kind: 'object'; name: string; fields: ReadonlyMap<string, CelType>; maxSize?: number }
  | { kind: 'optional'; value: CelType; maxSize?: number }
  | { kind: 'opaque'; name: string; maxSize?: number }
  /** A type parameter in the signature of a function. */
  | { kind: 'param'; name: string; maxSize?: number };

export const DYN: CelType = { kind: 'dyn' };
export const BOOL: CelType = { kind: 'bool' };
export const INT: CelType = { kind: 'int' };
export const STRING: CelType = { kind: 'string' };

const OPAQUE_NAMES: Readonly<Record<string, string>> = {
  URL: 'kubernetes.URL',
  Quantity: 'kubernetes.Quantity',
  IP: 'net.IP',
  CIDR: 'net.CIDR',
  Format: 'kubernetes.NamedFormat',
  Semver: 'kubernetes.Semver',
  Authorizer: 'kubernetes.authorization.Authorizer',
  PathCheck: 'kubernetes.authorization.PathCheck',
  GroupCheck: 'kubernetes.authorization.GroupCheck',
  ResourceCheck: 'kubernetes.authorization.ResourceCheck',
  Decision: 'kubernetes.authorization.Decision',
};

/** Parses a type in a signature, for example `list<A>` or `map<string, dyn>`. Throws for an unknown name. */
export function parseType(text: string): CelType {
  const generic = /^(list|map|optional)<(.+)>$/.exec(text.trim());
  if (generic) return genericType(generic[1] ?? '', splitTopLevel(generic[2] ?? '').map(parseType));
  const name = text.trim();
  if (/^[A-Z]$/.test(name)) return { kind: 'param', name };
  const opaque = OPAQUE_NAMES[name];
  if (opaque !== undefined) return { kind: 'opaque', name: opaque };
  const simple = SIMPLE_KINDS.find((kind) => kind === name);
  if (simple === undefined) throw new Error(`unknown CEL type ${JSON.stringify(text)}`);
  return { kind: simple };
}

function genericType(kind: string, [first = DYN, second = DYN]: CelType[]): CelType {
  if (kind === 'list') return { kind, element: first };
  if (kind === 'optional') return { kind, value: first };
  return { kind: 'map', key: first, value: second };
}

/** Splits at commas that are not inside angle brackets. */
export function splitTopLevel(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '<') depth += 1;
    if (text[at] === '>') depth -= 1;
    if (text[at] !== ',' || depth > 0) continue;
    parts.push(text.slice(from, at).trim());
    from = at + 1;
  }
  const last = text.slice(from).trim();
  return last === '' ? parts : [...parts, last];
}

/** Returns the type as error messages show it. */
export function typeName(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${typeName(type.element)})`;
    case 'map':
      return `map(${typeName(type.key)}, ${typeName(type.value)})`;
    case 'optional':
      return `optional_type(${typeName(type.value)})`;
    case 'object':
    case 'opaque':
    case 'param':
      return type.name;
    case 'null_type':
      return 'null';
    case 'timestamp':
      return 'timestamp';
    default:
      return type.kind;
  }
}

const NULLABLE: ReadonlySet<string> = new Set(['object', 'opaque', 'duration', 'timestamp', 'null_type']);

/**
 * Returns true if a value of type `from` can be used as `to`. Binds type parameters of `to` in `bindings`. `dyn` is
 * compatible with each type in both directions.
 */
export function isAssignable(to: CelType, from: CelType, bindings = new Map<string, CelType>()): boolean {
  if (to.kind === 'param') return bindParameter(to.name, from, bindings);
  if (to.kind === 'dyn' || from.kind === 'dyn' || from.kind === 'param') return true;
  if (from.kind === 'null_type') return NULLABLE.has(to.kind);
  if (to.kind === 'null_type') return NULLABLE.has(from.kind);
  if (to.kind === 'list' && from.kind === 'list') return isAssignable(to.element, from.element, bindings);
  if (to.kind === 'optional' && from.kind === 'optional') return isAssignable(to.value, from.value, bindings);
  if (to.kind === 'map' && from.kind === 'map') {
    return isAssignable(to.key, from.key, bindings) && isAssignable(to.value, from.value, bindings);
  }
  if ((to.kind === 'object' || to.kind === 'opaque') && to.kind === from.kind) return to.name === from.name;
  return to.kind === from.kind;
}

function bindParameter(name: string, from: CelType, bindings: Map<string, CelType>): boolean {
  const bound = bindings.get(name);
  if (bound === undefined || bound.kind === 'dyn' || bound.kind === 'null_type') {
    if (bound === undefined || from.kind !== 'dyn') bindings.set(name, from);
    return bound === undefined || isAssignable(bound, from, bindings);
  }
  return isAssignable(bound, from, bindings);
}

/** Replaces type parameters by their bindings. An unbound parameter becomes dyn. */
export function withBindings(type: CelType, bindings: ReadonlyMap<string, CelType>): CelType {
  switch (type.kind) {
    case 'param':
      return bindings.get(type.name) ?? DYN;
    case 'list':
      return { ...type, element: withBindings(type.element, bindings) };
    case 'optional':
      return { ...type, value: withBindings(type.value, bindings) };
    case 'map':
      return { ...type, key: withBindings(type.key, bindings), value: withBindings(type.value, bindings) };
    default:
      return type;
  }
}

/** Returns the common type of two branches, or undefined if there is none. */
export function joinTypes(a: CelType, b: CelType): CelType | undefined {
  if (a.kind === 'dyn' || b.kind === 'dyn') return a.kind === 'dyn' ? a : b;
  if (a.kind === 'null_type' && isAssignable(b, a)) return b;
  return isAssignable(a, b) ? a : undefined;
}
