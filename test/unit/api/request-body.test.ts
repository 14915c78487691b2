import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeBody,
  MAX_NESTING,
  MAX_YAML_BYTES,
  nestingDepth,
} from '../../../coordinator/api/bodies/body-decoder.js';

const decode = (text: string, type?: string) => decodeBody(Buffer.from(text), type);

test('a body without a type is JSON, an empty body is none', () => {
  assert.deepEqual(decode('{"a":1}'), { a: 1 });
  assert.equal(decodeBody(Buffer.alloc(0), 'application/json'), undefined);
  assert.equal(decodeBody(undefined, undefined), undefined);
});

test('parameters of the media type are ignored', () => {
  assert.deepEqual(decode('[1]', 'application/json-patch+json; charset=utf-8'), [1]);
});

test('another media type is 415', () => {
  assert.throws(() => decode('a=1', 'application/x-www-form-urlencoded'), { reason: 'UnsupportedMediaType' });
});

const DEPTHS: [string, number][] = [
  ['1', 0],
  ['{}', 1],
  ['{"a":[{}]}', 3],
  ['[[],[],[[]]]', 3],
  ['{"a":"[[[[{{{"}', 1],
  ['{"a\\"[[":"\\\\"}', 1],
];

for (const [text, depth] of DEPTHS) {
  test(`${text} is ${depth} deep`, () => assert.equal(nestingDepth(Buffer.from(text), 100), depth));
}

test('JSON and YAML may be nested up to the limit and no deeper', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  for (const type of ['application/json', 'application/yaml']) {
    assert.ok(decode(nested(MAX_NESTING), type));
    assert.throws(() => decode(nested(MAX_NESTING + 1), type), { reason: 'BadRequest' });
  }
});

const DEEP_YAML: [string, string][] = [
  ['a run of list items', '- '.repeat(60_000)],
  ['a run of keys', '? '.repeat(60_000)],
  ['open brackets', '['.repeat(120_000)],
  ['open braces', '{a: '.repeat(30_000)],
  ['brackets behind a quote', `" ${'['.repeat(100_000)}`],
];

for (const [what, text] of DEEP_YAML) {
  test(`YAML: ${what} is rejected before it is parsed`, () => {
    assert.throws(() => decode(text, 'application/yaml'), { reason: 'BadRequest', message: /nested/ });
  });
}

test('YAML with many aliases is rejected', () => {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const values = level === 0 ? 'x' : `*l${level - 1}`;
    return `l${level}: &l${level} [${Array(9).fill(values).join(', ')}]`;
  });
  assert.throws(() => decode(levels.join('\n'), 'application/yaml'), { reason: 'BadRequest' });
});

test('YAML above its limit is 413; text that starts like JSON is JSON at any length', () => {
  const long = 'x'.repeat(MAX_YAML_BYTES);
  assert.throws(() => decode(`a: ${long}`, 'application/yaml'), { reason: 'RequestEntityTooLarge' });
  assert.deepEqual(decode(`{"a":"${long}"}`, 'application/apply-patch+yaml'), { a: long });
});

const SCALARS: [string, unknown][] = [
  ['yes', true],
  ['off', false],
  ['2001-01-01', '2001-01-01'],
  ['1:30', '1:30'],
  ['"yes"', 'yes'],
  ['0x10', 16],
];

for (const [text, value] of SCALARS) {
  test(`YAML ${text} is ${JSON.stringify(value)}, as kubectl reads it`, () => {
    assert.deepEqual(decode(`a: ${text}`, 'application/yaml'), { a: value });
  });
}

for (const type of ['application/json', 'application/yaml']) {
  test(`an unreadable ${type} body is a 400 that names the error`, () => {
    assert.throws(() => decode('{"a": [}', type), { reason: 'BadRequest', message: /not valid JSON: / });
  });
}
