import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { repeatedKeysOfJson } from '../../../coordinator/api/bodies/repeated-keys.js';
import { parseYamlText } from '../../../coordinator/api/bodies/yaml-body.js';

const inJson = (text: string) => repeatedKeysOfJson(Buffer.from(text));

const JSON_CASES: [string, string, [string, number][]][] = [
  ['none', '{"a":1,"b":{"a":2},"c":[{"a":1},{"a":2}]}', []],
  ['at the root', '{"a":1,"a":2}', [['a', 1]]],
  ['nested', '{"a":{"b":[{"c":1},\n{"c":1,\n"c":\n2}]}}', [['a.b[1].c', 4]]],
  ['three occurrences are reported once', '{"a":1,"a":2,"a":3}', [['a', 1]]],
  ['behind nested values', '{"a":{"b":1},"c":[1,[2]],"a":{}}', [['a', 1]]],
  ['an escaped key', '{"a":1,"\\u0061":2}', [['a', 1]]],
  ['a key with a quote', '{"a\\"":1,"a\\"":2}', [['a"', 1]]],
  ['quotes and brackets in values', '{"a":"\\\\","b":"\\"a\\",{[","b":1}', [['b', 1]]],
  ['a value like a key', '{"a":"b","b":"b"}', []],
  ['lists of lists', '[[{"x":1}],[{"x":1,"x":2}]]', [['[1][0].x', 1]]],
];

for (const [name, text, expected] of JSON_CASES) {
  test(`repeated keys of JSON: ${name}`, () => {
    assert.doesNotThrow(() => JSON.parse(text));
    assert.deepEqual(
      inJson(text).map(({ path, line }) => [path, line]),
      expected,
    );
  });
}

test('JSON that was generated from a value has no repeated keys', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.deepEqual(inJson(JSON.stringify(value)), [])));
});

test('a duplicated key is found at any place', () => {
  const members = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(members, fc.string(), fc.jsonValue(), (object, key, value) => {
      const member = `${JSON.stringify(key)}:${JSON.stringify(value)}`;
      const rest = JSON.stringify(
        Object.fromEntries(Object.entries(object).filter(([name]) => name !== key)),
      );
      const inner = rest === '{}' ? '' : `,${rest.slice(1, -1)}`;
      assert.deepEqual(
        inJson(`[{"o":{${member}${inner},${member}}}]`).map((found) => found.key),
        [key],
      );
    }),
  );
});

test('a body of repeated long keys costs time in proportion to its length', () => {
  const key = 'k'.repeat(30_000);
  const text = `{"${key}":{${Array(50_000).fill('"a":1').join(',')},${Array(40).fill(`"${key}":1`).join(',')}}}`;
  const found = inJson(text);
  assert.ok(found.length >= 2);
  assert.ok(found.reduce((sum, { path }) => sum + path.length, 0) < 200_000);
});

const YAML_CASES: [string, string, [string, number][]][] = [
  ['none', 'a: 1\nb:\n  a: 2\n', []],
  [
    'nested',
    'a:\n  b: 1\n  c:\n  - d: 1\n    d: 2\n  b: 2\n',
    [
      ['a.c[0].d', 5],
      ['a.b', 6],
    ],
  ],
  ['in flow style', 'a: {b: 1, b: 2}\n', [['a.b', 1]]],
  ['without a value', 'a:\na:\n', [['a', 2]]],
];

for (const [name, text, expected] of YAML_CASES) {
  test(`repeated keys of YAML: ${name}`, () => {
    const found = parseYamlText(text).repeatedKeys();
    assert.deepEqual(
      found.map(({ path, line }) => [path, line]),
      expected,
    );
  });
}
