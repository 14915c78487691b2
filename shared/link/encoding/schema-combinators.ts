/**
 * Schemas for decoded values. A schema returns a value with only the known fields, or throws `ProtocolError`. To save
 * allocations, it returns its argument if there is nothing to remove.
 */

/** A frame that violates the protocol. The message names the field, and is safe to send to the peer. */
export class ProtocolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtocolError';
  }
}

/** `path` names the value in errors, such as `status.pods[3].uid`. Without it no paths are built. */
export type Schema<T> = (value: unknown, path?: string) => T;

/** Validates a value. Paths are expensive, so they are only built in a second pass after a failure. */
export function validate<T>(schema: Schema<T>, value: unknown, path: string): T {
  try {
    return schema(value);
  } catch (error) {
    if (error instanceof ProtocolError) return schema(value, path);
    throw error;
  }
}

/** Limits of lists and maps: more than the objects of a node, and more than the labels of an object. */
const MAX_ITEMS = 20_000;
const MAX_KEYS = 1_000;

function fail(path: string | undefined, expected: string): never {
  throw new ProtocolError(`${path ?? 'value'}: expected ${expected}`);
}

/** A string of at most `max` UTF-16 code units. */
export function text(max: number): Schema<string> {
  return (value, path) =>
    typeof value === 'string' && value.length <= max ? value : fail(path, `a string up to ${max} long`);
}

/** A safe integer within the bounds. */
export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Schema<number> {
  return (value, path) =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
      ? Number(value)
      : fail(path, `a whole number from ${min} to ${max}`);
}

export const flag: Schema<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : fail(path, 'true or false');

export function oneOf<T extends string>(...allowed: readonly T[]): Schema<T> {
  return (value, path) => allowed.find((item) => item === value) ?? fail(path, allowed.join(', '));
}

/** A map. Its field `type` selects one of the schemas. */
export function tagged<T extends { type: string }>(
  schemas: {
    [K in T['type']]: Schema<Extract<T, { type: K }>>;
  },
): Schema<T> {
  const types = Object.keys(schemas) as T['type'][];
  return (value, path) => {
    if (!isMap(value)) fail(path, 'a map');
    const type = oneOf(...types)(value.type, path && `${path}.type`);
    return schemas[type](value, path);
  };
}

export function bytes(max: number): Schema<Uint8Array> {
  return (value, path) =>
    value instanceof Uint8Array && value.length <= max ? value : fail(path, `at most ${max} bytes`);
}

/** Undefined for an absent value and for null. */
export function optional<T>(schema: Schema<T>): Schema<T | undefined> {
  return (value, path) => (value === undefined || value === null ? undefined : schema(value, path));
}

export function list<T>(item: Schema<T>, max: number = MAX_ITEMS): Schema<T[]> {
  return (value, path) => {
    if (!Array.isArray(value) || value.length > max) fail(path, `a list of at most ${max}`);
    let copy: T[] | undefined;
    for (let index = 0; index < value.length; index += 1) {
      const valid = item(value[index], path && `${path}[${index}]`);
      if (copy) copy.push(valid);
      else if (valid !== value[index]) copy = [...(value.slice(0, index) as T[]), valid];
    }
    return copy ?? (value as T[]);
  };
}

export function pair<A, B>(first: Schema<A>, second: Schema<B>): Schema<[A, B]> {
  return (value, path) => {
    if (!Array.isArray(value) || value.length !== 2) fail(path, 'a pair');
    const at = (index: number) => path && `${path}[${index}]`;
    return [first(value[0], at(0)), second(value[1], at(1))];
  };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** A map with arbitrary keys and valid values, such as labels. */
export function mapOf<T>(item: Schema<T>): Schema<Record<string, T>> {
  return (value, path) => {
    if (!isMap(value)) fail(path, 'a map');
    const entries = Object.entries(value);
    if (entries.length > MAX_KEYS) fail(path, `at most ${MAX_KEYS} keys`);
    const at = (key: string) => path && `${path}.${key}`;
    return Object.fromEntries(entries.map(([key, each]) => [key, item(each, at(key))]));
  };
}

/** A map with known fields. Unknown fields are removed. Every field of `T` needs a schema. */
export function record<T extends object>(fields: { [K in keyof T]-?: Schema<T[K]> }): Schema<T> {
  const schemas = Object.entries(fields) as [string, Schema<unknown>][];
  const known = schemas.map(([name, schema]) => ({ name, schema }));
  const names = schemas.map(([name]) => name);
  return (value, path) => {
    if (!isMap(value)) fail(path, 'a map');
    let copy: Record<string, unknown> | undefined;
    let present = 0;
    for (let index = 0; index < known.length; index += 1) {
      const { name, schema } = known[index] as (typeof known)[number];
      const given = value[name];
      const field = schema(given, within(path, name));
      if (field !== given) copy ??= pick(names.slice(0, index), value);
      if (copy) put(copy, name, field);
      else if (given !== undefined) present += 1;
    }
    return (copy ?? (Object.keys(value).length === present ? value : pick(names, value))) as T;
  };
}

function within(path: string | undefined, name: string): string | undefined {
  if (path === undefined) return undefined;
  return path === '' ? name : `${path}.${name}`;
}

function put(into: Record<string, unknown>, name: string, field: unknown): void {
  if (field !== undefined) into[name] = field;
}

function pick(names: readonly string[], value: Record<string, unknown>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const name of names) put(copy, name, value[name]);
  return copy;
}
