/** Rules of schemas: facts of apiextensions pkg/apiserver/schema/cel/validation_test.go and validation_test.go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluationBudget } from '../../../coordinator/cel/language/cel-cost.js';
import {
  compileSchemaRules,
  RULE_COST_BUDGET,
  type RuleContext,
  type SchemaRules,
} from '../../../coordinator/cel/schemas/schema-rules.js';
import type { StructuralSchema, ValidationRule } from '../../../coordinator/cel/schemas/structural-schema.js';
import { INTEGER, keyedList, listOf, mapOf, objectOf, TEXT } from './schema-of-values.js';

const RULES = 'x-kubernetes-validations';

function ruled(schema: StructuralSchema, ...rules: (string | ValidationRule)[]): StructuralSchema {
  return { ...schema, [RULES]: rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)) };
}

/** Returns the errors of an object as `field: message`. */
function errorsOf(schema: StructuralSchema, value: unknown, old?: unknown): string[] {
  const rules = compileSchemaRules(schema);
  assert.deepEqual(rules.errors, []);
  return rules.validate(value, old, '').map(({ field, message }) => `${field}: ${message}`);
}

function compileErrors(schema: StructuralSchema): string[] {
  return compileSchemaRules(schema).errors.map(({ field, message }) => `${field}: ${message}`);
}

const SPEC = objectOf({
  spec: ruled(objectOf({ min: INTEGER, max: INTEGER }), 'self.min <= self.max'),
});

test('a rule that holds returns no error', () => {
  assert.deepEqual(errorsOf(SPEC, { spec: { min: 1, max: 2 } }), []);
});

test('a failed rule without a message names the rule, and no value of an object', () => {
  assert.deepEqual(errorsOf(SPEC, { spec: { min: 3, max: 2 } }), [
    'spec: Invalid value: failed rule: self.min <= self.max',
  ]);
});

test('message, messageExpression, reason and fieldPath decide the error', () => {
  const schema = objectOf({
    spec: ruled(
      objectOf({ min: INTEGER, max: INTEGER }),
      { rule: 'self.min > 0', message: 'min must be positive', reason: 'FieldValueForbidden' },
      {
        rule: 'self.max > 0',
        messageExpression: '"max is " + string(self.max)',
        reason: 'FieldValueRequired',
        fieldPath: '.max',
      },
    ),
  });
  assert.deepEqual(errorsOf(schema, { spec: { min: 0, max: 0 } }), [
    'spec: Forbidden: min must be positive',
    'spec.max: Required value: max is 0',
  ]);
});

test('a messageExpression that fails is replaced by the message', () => {
  const schema = ruled(objectOf({ a: INTEGER }), {
    rule: 'false',
    message: 'no',
    messageExpression: 'string(1 / self.a)',
  });
  assert.deepEqual(errorsOf(schema, { a: 0 }), [': Invalid value: no']);
});

test('rules of items, values and scalars run for each of them', () => {
  const schema = objectOf({
    list: listOf(ruled(INTEGER, 'self > 0'), { maxItems: 10 }),
    map: mapOf(ruled(TEXT, "self != 'x'"), { maxProperties: 10 }),
  });
  assert.deepEqual(errorsOf(schema, { list: [1, -1], map: { a: 'x', b: 'y' } }), [
    'list[1]: Invalid value: -1: failed rule: self > 0',
    `map[a]: Invalid value: "x": failed rule: self != 'x'`,
  ]);
});

test('a transition rule runs only if there is an old value', () => {
  const schema = objectOf({ name: ruled(TEXT, { rule: 'self == oldSelf', message: 'name is immutable' }) });
  assert.deepEqual(errorsOf(schema, { name: 'a' }), []);
  assert.deepEqual(errorsOf(schema, { name: 'a' }, { name: 'a' }), []);
  assert.deepEqual(errorsOf(schema, { name: 'b' }, { name: 'a' }), [
    'name: Invalid value: "b": name is immutable',
  ]);
});

test('a transition rule with optionalOldSelf runs for new values as well', () => {
  const schema = objectOf({
    n: ruled(INTEGER, {
      rule: 'oldSelf.hasValue() ? self >= oldSelf.value() : self == 0',
      optionalOldSelf: true,
    }),
  });
  assert.deepEqual(errorsOf(schema, { n: 0 }), []);
  assert.equal(errorsOf(schema, { n: 1 }).length, 1);
  assert.deepEqual(errorsOf(schema, { n: 2 }, { n: 1 }), []);
  assert.equal(errorsOf(schema, { n: 1 }, { n: 2 }).length, 1);
});

test('items of a list that is a map are compared with the old item of the same key', () => {
  const item = ruled(objectOf({ k: TEXT, v: INTEGER }), 'self.v >= oldSelf.v');
  const schema = objectOf({ list: { ...keyedList(['k'], item), maxItems: 10 } });
  const old = {
    list: [
      { k: 'a', v: 1 },
      { k: 'b', v: 5 },
    ],
  };
  assert.deepEqual(
    errorsOf(
      schema,
      {
        list: [
          { k: 'b', v: 5 },
          { k: 'a', v: 2 },
        ],
      },
      old,
    ),
    [],
  );
  assert.deepEqual(errorsOf(schema, { list: [{ k: 'b', v: 4 }] }, old), [
    'list[0]: Invalid value: failed rule: self.v >= oldSelf.v',
  ]);
});

test('an error of an unchanged value is a warning', () => {
  const rules = compileSchemaRules(
    objectOf({ a: ruled(INTEGER, 'self > 0'), b: ruled(INTEGER, 'self > 0') }),
  );
  const warnings: string[] = [];
  const warn: RuleContext['warn'] = (text) => warnings.push(text);
  const errors = rules.validate({ a: -1, b: -2 }, { a: -1, b: -1 }, '', { warn });
  assert.deepEqual(
    errors.map(({ field }) => field),
    ['b'],
  );
  assert.deepEqual(warnings, ['a: Invalid value: -1: failed rule: self > 0']);
});

test('an error of an unchanged item is a warning, even without keys', () => {
  const list = listOf(ruled(INTEGER, 'self > 0'), { maxItems: 3 });
  const value = { list: [-1] };
  assert.deepEqual(errorsOf(objectOf({ list }), value, structuredClone(value)), []);
});

test('rules read metadata.name of the root and of embedded resources only', () => {
  const root = ruled(objectOf({ spec: { type: 'object' } }), "self.metadata.name == 'a' && self.kind == 'K'");
  assert.deepEqual(errorsOf(root, { kind: 'K', metadata: { name: 'a', labels: {} } }), []);
  const embedded: StructuralSchema = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  };
  const holder = ruled(objectOf({ pod: embedded }), "self.pod.metadata.name == 'p'");
  assert.deepEqual(errorsOf(holder, { pod: { metadata: { name: 'p' } } }), []);
  assert.match(
    compileErrors(ruled(objectOf({ spec: TEXT }), "self.metadata.namespace == 'a'"))[0] ?? '',
    /undefined field 'namespace'/,
  );
});

test('names of properties are escaped', () => {
  const properties = { 'a-b': INTEGER, 'c.d': INTEGER, namespace: INTEGER, a__b: INTEGER };
  const rule =
    'self.a__dash__b == 1 && self.c__dot__d == 2 && self.__namespace__ == 3 && self.a__underscores__b == 4';
  const value = { 'a-b': 1, 'c.d': 2, namespace: 3, a__b: 4 };
  assert.deepEqual(errorsOf(objectOf({ x: ruled(objectOf(properties), rule) }), { x: value }), []);
});

const FAILURES: readonly [rule: string, message: RegExp][] = [
  ['self.n + 9223372036854775807 > 0', /^Invalid value: "object": integer overflow evaluating rule: /],
  ['self.n / 0 == 1', /division by zero evaluating rule/],
  ['self.m.missing == 1', /no such key: missing evaluating rule/],
  ['self.l[5] == 1', /index out of bounds: 5 evaluating rule/],
  [
    'self.any + 1 == 2',
    /'no such overload': call arguments did not match a supported operator, function or macro signature for rule: /,
  ],
];

for (const [rule, message] of FAILURES) {
  test(`${rule} fails with upstream's text`, () => {
    const any: StructuralSchema = { 'x-kubernetes-int-or-string': true };
    const schema = objectOf({
      s: ruled(objectOf({ n: INTEGER, m: mapOf(INTEGER), l: listOf(INTEGER), any }), rule),
    });
    const [error] = errorsOf(schema, { s: { n: 1, m: {}, l: [], any: 'x' } });
    assert.match(error?.replace(/^s: /, '') ?? '', message);
  });
}

test('an expression that costs more than its limit stops the validation', () => {
  const schema = objectOf({
    list: ruled(listOf(INTEGER, { maxItems: 2000 }), 'self.all(a, self.all(b, a < 1 || b > 0))'),
    other: ruled(INTEGER, 'self > 0'),
  });
  const rules: SchemaRules = compileSchemaRules(schema);
  const budget = evaluationBudget(RULE_COST_BUDGET);
  const errors = rules.validate({ list: Array.from({ length: 2000 }, () => 1), other: -1 }, undefined, '', {
    budget,
  });
  assert.equal(errors.length, 1);
  assert.match(
    errors[0]?.message ?? '',
    /'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule/,
  );
  assert.ok(budget.remaining < 0);
});

test('rules stop when the budget of the request is used up', () => {
  const rules = compileSchemaRules(
    objectOf({ a: ruled(INTEGER, 'self > 0'), b: ruled(INTEGER, 'self > 0') }),
  );
  const budget = evaluationBudget(2);
  const errors = rules.validate({ a: 1, b: 1 }, undefined, '', { budget });
  assert.deepEqual(
    errors.map(({ message }) => message),
    [
      'Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run',
    ],
  );
});

const REFUSED: readonly [name: string, schema: StructuralSchema, error: RegExp][] = [
  [
    'an undefined field',
    ruled(objectOf({ a: TEXT }), 'self.b == 1'),
    /^openAPIV3Schema\.x-kubernetes-validations\[0\]\.rule: Invalid value: .*compilation failed: ERROR: <input>:1:5: undefined field 'b'\n \| self\.b == 1\n \| \.\.\.\.\^/s,
  ],
  [
    'a rule that is no bool',
    ruled(objectOf({ a: TEXT }), 'self.a'),
    /cel expression must evaluate to a bool$/,
  ],
  ['an empty rule', ruled(objectOf({ a: TEXT }), ' '), /rule: Required value: rule is not specified$/],
  [
    'an unknown reason',
    ruled(objectOf({ a: TEXT }), { rule: 'true', reason: 'X' }),
    /reason: Unsupported value: "X": supported values: "FieldValueDuplicate"/,
  ],
  [
    'a field path that the schema lacks',
    ruled(objectOf({ a: TEXT }), { rule: 'true', fieldPath: '.b' }),
    /fieldPath: Invalid value: "\.b": must be a valid path$/,
  ],
  [
    'oldSelf in a list without keys',
    objectOf({ l: listOf(ruled(INTEGER, 'self == oldSelf'), { maxItems: 3 }) }),
    /oldSelf cannot be used on the uncorrelatable portion of the schema within openAPIV3Schema\.properties\[l\]$/,
  ],
  [
    'optionalOldSelf without oldSelf',
    ruled(objectOf({ a: TEXT }), { rule: 'true', optionalOldSelf: true }),
    /optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule$/,
  ],
  [
    'a messageExpression that is no text',
    ruled(objectOf({ a: TEXT }), { rule: 'true', messageExpression: '1' }),
    /messageExpression must evaluate to a string$/,
  ],
  [
    'a quadratic rule over an open list',
    objectOf({ l: ruled(listOf(INTEGER), 'self.all(a, self.exists(b, a == b))') }),
    /rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x \(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared\)$/,
  ],
];

for (const [name, schema, error] of REFUSED) {
  test(`refuses ${name}`, () => {
    assert.match(compileErrors(schema)[0] ?? '', error);
  });
}

test('the sum of all rules is limited as well, and names the most expensive ones', () => {
  const text: StructuralSchema = { type: 'string', maxLength: 100_000 };
  const one = ruled(text, "self.contains('a')", "self.contains('b')");
  const schema = objectOf({ l: listOf(listOf(one, { maxItems: 60 }), { maxItems: 3 }) });
  assert.deepEqual(compileErrors(schema), []);
  const many = objectOf(
    Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => [name, schema.properties?.l ?? {}]),
    ),
  );
  const errors = compileErrors(many);
  assert.match(
    errors.at(-1) ?? '',
    /^openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1\.\d+x/,
  );
  assert.equal(errors.length, 5);
});

test('a schema without rules costs nothing', () => {
  assert.equal(compileSchemaRules(objectOf({ a: TEXT })).isEmpty, true);
  assert.equal(compileSchemaRules(SPEC).isEmpty, false);
});

test('keys of a map are estimated as empty, as upstream does, so that rules of charts on keys are accepted', () => {
  const rule = "self.all(k, k.matches('^[A-Z]+(_[A-Z]+)+$'))";
  const { errors } = compileSchemaRules({
    ...mapOf(TEXT),
    maxProperties: 10,
    'x-kubernetes-validations': [{ rule }],
  });
  assert.deepEqual(errors, []);
});

test('isURL costs as much as a comparison, so that rules of charts on open texts are accepted', () => {
  const rules = [{ rule: "isURL(self) && self.startsWith('https://')" }];
  const url = { ...TEXT, 'x-kubernetes-validations': rules };
  assert.deepEqual(compileSchemaRules({ ...listOf(url), maxItems: 100 }).errors, []);
});
