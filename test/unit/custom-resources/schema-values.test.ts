/** Pruning, defaulting and validation of values, after the tables of apiextensions-apiserver pkg/apiserver/schema. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setSchemaDefaults } from '../../../coordinator/kinds/custom-resources/schemas/default-fields.js';
import { validateListTypes } from '../../../coordinator/kinds/custom-resources/schemas/list-type-validation.js';
import { pruneFields } from '../../../coordinator/kinds/custom-resources/schemas/prune-fields.js';
import { validateValue } from '../../../coordinator/kinds/custom-resources/schemas/schema-value-validation.js';
import type { JsonSchema } from '../../../shared/kube/objects/custom-resource-definition.js';

const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
const text: JsonSchema = { type: 'string' };
const fields = (properties: Record<string, JsonSchema>): JsonSchema => ({ type: 'object', properties });

const PRUNED: [title: string, schema: JsonSchema, before: object, after: object, unknown: string[]][] = [
  ['declared fields stay', fields({ a: text }), { a: 'x' }, { a: 'x' }, []],
  ['an unknown field is removed', fields({ a: text }), { a: 'x', b: 1 }, { a: 'x' }, ['b']],
  [
    'type and metadata stay',
    fields({}),
    { kind: 'K', metadata: { x: 1 } },
    { kind: 'K', metadata: { x: 1 } },
    [],
  ],
  [
    'fields of items',
    fields({ l: { type: 'array', items: fields({ a: text }) } }),
    { l: [{ a: 'x', b: 1 }] },
    { l: [{ a: 'x' }] },
    ['l[0].b'],
  ],
  [
    'values of a map',
    fields({ m: { type: 'object', additionalProperties: fields({}) } }),
    { m: { k: { b: 1 } } },
    { m: { k: {} } },
    ['m.k.b'],
  ],
  [
    'preserved fields stay',
    fields({ p: OPEN }),
    { p: { any: { thing: 1 } } },
    { p: { any: { thing: 1 } } },
    [],
  ],
  [
    'declared fields of a preserved object are pruned',
    fields({ p: { ...OPEN, properties: { d: fields({}) } } }),
    { p: { x: 1, d: { y: 1 } } },
    { p: { x: 1, d: {} } },
    ['p.d.y'],
  ],
  ['an inherited name is no field', fields({}), { constructor: 1 }, {}, ['constructor']],
];

describe('pruning', () => {
  for (const [title, schema, before, after, unknown] of PRUNED) {
    test(title, () => {
      const object = structuredClone(before);
      assert.deepEqual(pruneFields(object, schema), unknown);
      assert.deepEqual(object, after);
    });
  }
});

const DEFAULTED: [title: string, schema: JsonSchema, before: object, after: object][] = [
  ['an absent field', fields({ a: { ...text, default: 'A' } }), {}, { a: 'A' }],
  ['a present field keeps its value', fields({ a: { ...text, default: 'A' } }), { a: 'x' }, { a: 'x' }],
  ['an absent parent is not created', fields({ p: fields({ a: { ...text, default: 'A' } }) }), {}, {}],
  [
    'a default of a parent gets the defaults of its fields',
    fields({ p: { ...fields({ a: { ...text, default: 'A' } }), default: {} } }),
    {},
    { p: { a: 'A' } },
  ],
  [
    'items',
    fields({ l: { type: 'array', items: fields({ a: { ...text, default: 'A' } }) } }),
    { l: [{}] },
    { l: [{ a: 'A' }] },
  ],
  [
    'values of a map',
    fields({ m: { type: 'object', additionalProperties: fields({ a: { ...text, default: 'A' } }) } }),
    { m: { k: {} } },
    { m: { k: { a: 'A' } } },
  ],
  ['null with a default', fields({ a: { ...text, default: 'A' } }), { a: null }, { a: 'A' }],
  ['null without a default is dropped', fields({ a: text }), { a: null }, {}],
  [
    'a nullable null stays',
    fields({ a: { ...text, nullable: true, default: 'A' } }),
    { a: null },
    { a: null },
  ],
];

describe('defaulting', () => {
  for (const [title, schema, before, after] of DEFAULTED) {
    test(title, () => {
      const object = structuredClone(before);
      setSchemaDefaults(object, schema);
      assert.deepEqual(object, after);
      setSchemaDefaults(object, schema);
      assert.deepEqual(object, after, 'a second call changes nothing');
    });
  }
});

const INT_OR_STRING: JsonSchema = {
  'x-kubernetes-int-or-string': true,
  anyOf: [{ type: 'integer' }, { type: 'string' }],
};

const INVALID: [schema: JsonSchema, value: unknown, expected: string[]][] = [
  [text, 'x', []],
  [text, 1, ['a: Invalid value: "integer": a in body must be of type string: "integer"']],
  [text, null, ['a: Invalid value: "null": a in body must be of type string: "null"']],
  [{ ...text, nullable: true }, null, []],
  [{ type: 'integer' }, 1.5, ['a: Invalid value: "number": a in body must be of type integer: "number"']],
  [{ type: 'number' }, 1, []],
  [INT_OR_STRING, 'x', []],
  [INT_OR_STRING, 1, []],
  [INT_OR_STRING, true, ['a: Invalid value: "boolean": a in body must be of type integer,string: "boolean"']],
  [
    { type: 'integer', minimum: 1 },
    0,
    ['a: Invalid value: 0: a in body should be greater than or equal to 1'],
  ],
  [
    { type: 'integer', maximum: 1, exclusiveMaximum: true },
    1,
    ['a: Invalid value: 1: a in body should be less than 1'],
  ],
  [{ type: 'integer', multipleOf: 2 }, 3, ['a: Invalid value: 3: a in body should be a multiple of 2']],
  [{ ...text, minLength: 2 }, 'x', ['a: Invalid value: "x": a in body should be at least 2 chars long']],
  [{ ...text, maxLength: 1 }, 'xy', ['a: Too long: may not be more than 1 bytes']],
  [{ ...text, maxLength: 1 }, '😀', []],
  [{ ...text, pattern: '^x+$' }, 'y', ['a: Invalid value: "y": a in body should match \'^x+$\'']],
  [{ ...text, enum: ['A', 'B'] }, 'C', ['a: Unsupported value: "C": supported values: "A", "B"']],
  [
    { ...text, format: 'ipv4' },
    '1.2.3',
    ['a: Invalid value: "1.2.3": a in body must be of type ipv4: "1.2.3"'],
  ],
  [{ ...text, format: 'duration' }, '1h30m', []],
  [{ ...text, format: 'date-time' }, '2026-01-01T00:00:00Z', []],
  [{ ...text, format: 'no-such-format' }, '?', []],
  [{ type: 'array', items: text, maxItems: 1 }, ['x', 'y'], ['a: Too many: 2: must have at most 1 item']],
  [
    { type: 'array', items: text, minItems: 1 },
    [],
    ['a: Invalid value: 0: a in body should have at least 1 items'],
  ],
  [
    { type: 'array', items: text },
    [1],
    ['a[0]: Invalid value: "integer": a[0] in body must be of type string: "integer"'],
  ],
  [{ ...fields({ b: text }), required: ['b'] }, {}, ['a.b: Required value']],
  [
    { ...fields({ b: text, c: text }), oneOf: [{ required: ['b'] }, { required: ['c'] }] },
    { b: 'x', c: 'x' },
    [
      '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  ],
  [
    { ...fields({ b: text }), not: { required: ['b'] } },
    { b: 'x' },
    ['<nil>: Invalid value: "": "a" must not validate the schema (not)'],
  ],
  [
    { ...text, anyOf: [{ pattern: '^x' }, { pattern: '^y' }] },
    'z',
    [
      '<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)',
      'a: Invalid value: "z": a in body should match \'^x\'',
    ],
  ],
];

const shown = ({ field, message }: { field: string; message: string }) => `${field}: ${message}`;

describe('validation in the wording of kube-openapi', () => {
  for (const [schema, value, expected] of INVALID) {
    test(`${JSON.stringify(value)} by ${JSON.stringify(schema)}`, () => {
      assert.deepEqual(validateValue(value, schema, 'a', undefined).map(shown), expected);
    });
  }
  test('a pattern with nested repetitions is matched in linear time', () => {
    const schema = { ...text, pattern: '^(a+)+$' };
    assert.equal(validateValue(`${'a'.repeat(5000)}!`, schema, 'a', undefined).length, 1);
  });
});

describe('ratcheting: an update ignores the errors of unchanged values', () => {
  const list: JsonSchema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['n'],
    items: fields({ n: text, v: { type: 'integer', maximum: 1 } }),
  };
  const schema = fields({ a: { type: 'integer', maximum: 1 }, b: text, l: list });
  const cases: [title: string, before: object, after: object, invalid: string[]][] = [
    ['an unchanged field', { a: 5 }, { a: 5, b: 'x' }, []],
    ['a changed field', { a: 5 }, { a: 6 }, ['a']],
    [
      'an item with the same key',
      { l: [{ n: 'x', v: 5 }] },
      {
        b: 'y',
        l: [
          { n: 'y', v: 1 },
          { n: 'x', v: 5 },
        ],
      },
      [],
    ],
    ['a new item', { l: [] }, { l: [{ n: 'x', v: 5 }] }, ['l[0].v']],
  ];
  for (const [title, before, after, invalid] of cases) {
    test(title, () => {
      const errors = validateValue(after, schema, '', { value: before });
      assert.deepEqual(
        errors.map(({ field }) => field),
        invalid,
      );
    });
  }
});

const LISTS: [title: string, schema: JsonSchema, value: unknown, expected: string[]][] = [
  ['an atomic list may repeat', { type: 'array', items: text }, ['x', 'x'], []],
  [
    'a set names the second occurrence',
    { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    ['x', 'y', 'x', 'x'],
    ['a[2]: Duplicate value: "x"'],
  ],
  [
    'a list of keys',
    {
      type: 'array',
      items: fields({ k: text }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    [{ k: 'x' }, { k: 'x', v: 1 }],
    ['a[1]: Duplicate value: {"k":"x"}'],
  ],
  [
    'two keys',
    {
      type: 'array',
      items: fields({}),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'p'],
    },
    [
      { k: 1, p: 1 },
      { k: 1, p: 2 },
      { p: 1, k: 1 },
    ],
    ['a[2]: Duplicate value: {"k":1,"p":1}'],
  ],
];

describe('list types', () => {
  for (const [title, schema, value, expected] of LISTS) {
    test(title, () => assert.deepEqual(validateListTypes(value, schema, 'a').map(shown), expected));
  }
});

test('an update finds the old item of each key without a search for each item', () => {
  let reads = 0;
  const counting = (item: object): object =>
    new Proxy(item, {
      get: (...args) => {
        reads += 1;
        return Reflect.get(...args) as unknown;
      },
    });
  const items = Array.from({ length: 300 }, (_, at) => ({ k: `key-${at}`, v: 1 }));
  const schema: JsonSchema = {
    type: 'array',
    items: fields({ k: text, v: { type: 'integer' } }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  };
  assert.deepEqual(validateValue(structuredClone(items), schema, 'l', { value: items.map(counting) }), []);
  assert.ok(reads < 10 * items.length, `${reads} reads`);
});
