import assert from 'node:assert/strict';
import { test } from 'node:test';
import { semanticallyEqual } from '../../../coordinator/kinds/validation/semantic-equality.js';

const CASES: [rule: string, a: unknown, b: unknown, equal: boolean][] = [
  ['absent is null', {}, { ports: null }, true],
  ['absent is an empty list', {}, { ports: [] }, true],
  ['absent is an empty map', {}, { nodeSelector: {} }, true],
  ['absent is not an empty struct', {}, { emptyDir: {} }, false],
  ['order of a list counts', { args: ['a', 'b'] }, { args: ['b', 'a'] }, false],
  ['order of fields does not', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['quantities are equal by value', { limits: { cpu: '100m' } }, { limits: { cpu: 0.1 } }, true],
  ['other quantities are not', { limits: { cpu: '100m' } }, { limits: { cpu: '200m' } }, false],
  ['texts that look like quantities are texts', { value: '1' }, { value: '1.0' }, false],
  ['a list is not a map', { a: [1] }, { a: { 0: 1 } }, false],
];

for (const [rule, a, b, equal] of CASES) {
  test(rule, () => {
    assert.equal(semanticallyEqual(a, b), equal);
    assert.equal(semanticallyEqual(b, a), equal);
  });
}
