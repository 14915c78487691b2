/** JSON values as CEL values. A schema decides the types (k8s.io/apiserver pkg/cel/common/values.go). */
import { CelError } from '../language/cel-error.js';
import {
  CelDuration,
  type CelMap,
  type CelValue,
  isMap,
  type ListIdentity,
  type MapKey,
  withIdentity,
} from '../language/cel-value.js';
import { durationNanos, parseTimestamp } from '../libraries/time-text.js';
import { escapeName } from './property-names.js';
import { type StructuralSchema, valueSchema, withObjectMeta } from './structural-schema.js';

/** Converts a JSON value without a schema: whole numbers become int. */
export function jsonValue(value: unknown): CelValue {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(jsonValue);
  if (typeof value === 'object' && value !== null) return new JsonMap(value as Record<string, unknown>);
  return (value ?? null) as CelValue;
}

/**
 * The converted values of an object. Each value is converted when it is first read, and once: a read costs one unit, so
 * a conversion with each read would block the coordinator when an expression reads a large value for each element.
 */
class ConvertedValues {
  readonly #values = new Map<string, CelValue>();

  constructor(private readonly convert: (key: string) => CelValue | undefined) {}

  get(key: MapKey): CelValue | undefined {
    if (typeof key !== 'string') return undefined;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = this.convert(key);
    if (value !== undefined) this.#values.set(key, value);
    return value;
  }
}

/** An object of JSON. */
class JsonMap implements CelMap {
  readonly shape = 'map';
  readonly #entries: ReadonlyMap<string, unknown>;
  readonly #values: ConvertedValues;

  constructor(object: Readonly<Record<string, unknown>>, convert: (value: unknown) => CelValue = jsonValue) {
    this.#entries = new Map(Object.entries(object));
    this.#values = new ConvertedValues((key) => {
      const value = this.#entries.get(key);
      return value === undefined ? undefined : convert(value);
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: MapKey): CelValue | undefined {
    return this.#values.get(key);
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }
}

/** An object with declared properties. Its fields have escaped names. */
class SchemaObject implements CelMap {
  readonly shape = 'object';
  readonly #fields = new Map<string, readonly [value: unknown, schema: StructuralSchema]>();
  readonly #values = new ConvertedValues((name) => {
    const field = this.#fields.get(name);
    return field && schemaValue(field[0], field[1], field[1]['x-kubernetes-embedded-resource'] === true);
  });

  constructor(object: Readonly<Record<string, unknown>>, schema: StructuralSchema) {
    for (const [name, value] of Object.entries(object)) {
      const property = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;
      const identifier = escapeName(name);
      // A null field counts as absent.
      if (property && identifier !== undefined && value !== undefined && value !== null)
        this.#fields.set(identifier, [value, property]);
    }
  }

  get size(): number {
    return this.#fields.size;
  }

  get(key: MapKey): CelValue | undefined {
    return this.#values.get(key);
  }

  keys(): Iterable<string> {
    return this.#fields.keys();
  }
}

/** Converts a value that its schema allows. Throws a CelError for one of another type. */
export function schemaValue(value: unknown, schema: StructuralSchema, isRoot = false): CelValue {
  if (value === null || value === undefined) return null;
  if (schema['x-kubernetes-int-or-string']) return jsonValue(value);
  switch (schema.type) {
    case 'array':
      return Array.isArray(value) ? arrayValue(value, schema) : mismatch('an array', value);
    case 'object':
      return objectValue(value, isRoot ? withObjectMeta(schema) : schema);
    case 'string':
      return typeof value === 'string' ? textValue(value, schema.format) : mismatch('a string', value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value)
        ? BigInt(value)
        : mismatch('an integer', value);
    case 'number':
      return typeof value === 'number' ? value : mismatch('a number', value);
    case 'boolean':
      return typeof value === 'boolean' ? value : mismatch('a boolean', value);
    default:
      return jsonValue(value);
  }
}

function mismatch(expected: string, value: unknown): never {
  throw new CelError(`invalid data, expected ${expected} but got ${JSON.stringify(value)}`);
}

function objectValue(value: unknown, schema: StructuralSchema): CelValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return mismatch('an object', value);
  const object = value as Record<string, unknown>;
  const values = valueSchema(schema);
  const isEmbedded = values?.['x-kubernetes-embedded-resource'] === true;
  if (values) return new JsonMap(object, (each) => schemaValue(each, values, isEmbedded));
  if (schema.properties) return new SchemaObject(object, schema);
  return new JsonMap(object);
}

function arrayValue(array: readonly unknown[], schema: StructuralSchema): CelValue {
  const items = schema.items ?? {};
  const isEmbedded = items['x-kubernetes-embedded-resource'] === true;
  const list = array.map((item) => schemaValue(item, items, isEmbedded));
  const identity = identityFor(schema);
  return identity ? withIdentity(list, identity) : list;
}

function identityFor(schema: StructuralSchema): ListIdentity | undefined {
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeName(key) ?? key);
  switch (schema['x-kubernetes-list-type']) {
    case 'map':
      return {
        type: 'map',
        keyOf: (item) => identityText(keys.map((key) => (isMap(item) ? item.get(key) : item))),
      };
    case 'set':
      return { type: 'set', keyOf: (item) => identityText([item]) };
    default:
      return undefined;
  }
}

function identityText(values: readonly (CelValue | undefined)[]): string {
  return JSON.stringify(values.map(plain));
}

/** Returns a form of the value that JSON can hold. Keys are scalars; elements of sets can be atomic objects. */
function plain(value: CelValue | undefined): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value === undefined || value === null || typeof value !== 'object') return value;
  const map = value as CelValue;
  return isMap(map) ? [...map.keys()].map((key) => [String(key), plain(map.get(key))]).sort() : value;
}

function textValue(text: string, format: string | undefined): CelValue {
  switch (format) {
    case 'byte':
      return Buffer.from(text, 'base64');
    case 'duration': {
      const nanos = durationNanos(text);
      return nanos === undefined ? mismatch('a duration', text) : new CelDuration(nanos);
    }
    case 'date':
      return parseTimestamp(`${text}T00:00:00Z`);
    case 'date-time':
      return parseTimestamp(text);
    default:
      return text;
  }
}
