import assert from 'node:assert/strict';
import { test } from 'node:test';
import { semanticallyEqual } from '../../../coordinator/kinds/validation/semantic-equality.js';

const CASES: [rule: string, a: unknown, b: unknown, equal: boolean][] = [
  ['absent equals null', {}, { ports: null }, true],
  ['absent equals an empty list', {}, { ports: [] }, true],
  ['absent equals an empty map', {}, { nodeSelector: {} }, true],
  ['absent does not equal an empty struct', {}, { emptyDir: {} }, false],
  ['the order of a list counts', { args: ['a', 'b'] }, { args: ['b', 'a'] }, false],
  ['the order of fields does not count', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['quantities are equal by value', { limits: { cpu: '100m' } }, { limits: { cpu: 0.1 } }, true],
  ['different quantities are not equal', { limits: { cpu: '100m' } }, { limits: { cpu: '200m' } }, false],
  ['strings that look like quantities are strings', { value: '1' }, { value: '1.0' }, false],
  ['a list does not equal a map', { a: [1] }, { a: { 0: 1 } }, false],
];

for (const [rule, a, b, equal] of CASES) {
  test(rule, () => {
    assert.equal(semanticallyEqual(a, b), equal);
    assert.equal(semanticallyEqual(b, a), equal);
  });
}
