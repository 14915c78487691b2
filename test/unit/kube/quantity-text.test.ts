import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalQuantity } from '../../../shared/kube/objects/canonical-quantity.js';
import { parseQuantity } from '../../../shared/kube/objects/quantity.js';
import { startCpuTimer } from '../../harness/basics/cpu-time.js';

const WRITTEN: [string | number, string][] = [
  ['0.5', '500m'],
  [0.5, '500m'],
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['100M', '100M'],
  ['1000M', '1G'],
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['0.5Ki', '512'],
  ['512Ki', '512Ki'],
  ['1e3', '1e3'],
  ['12e6', '12e6'],
  ['0', '0'],
  ['0Mi', '0'],
  ['-2000m', '-2'],
  ['100', '100'],
  ['1000', '1k'],
  ['0.0000000001', '1n'],
  ['plenty', 'plenty'],
  // Written out, the first has a hundred million digits.
  ['1e100000000', '1e100000000'],
  ['1e-1000000000', '1e-1000000000'],
  ['9'.repeat(65), '9'.repeat(65)],
];

for (const [written, canonical] of WRITTEN) {
  test(`${written} is written ${canonical}`, () => {
    assert.equal(canonicalQuantity(written), canonical);
  });
}

for (const text of [
  'NaN',
  'Infinity',
  '-Infinity',
  '0x10',
  '',
  ' ',
  '1 ',
  '1e',
  '1mm',
  '1_000',
  '--1',
  'e3',
  '.',
  '1Kii',
]) {
  test(`${JSON.stringify(text)} is not a quantity`, () => assert.equal(parseQuantity(text), undefined));
}

test('a number that is not finite is not a quantity', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) assert.equal(parseQuantity(value), undefined);
});

test('the value of a quantity is finite, capped at the largest int64 as upstream', () => {
  for (const text of ['1e1000', '16Ei', '9'.repeat(400), '1e999999999'])
    assert.equal(parseQuantity(text), 2 ** 63 - 1);
  assert.equal(parseQuantity('-1e1000'), -(2 ** 63 - 1));
  assert.equal(parseQuantity('1e-1000'), 0);
});

test('a long text that is no quantity is refused at once', () => {
  const cpuMs = startCpuTimer();
  assert.equal(parseQuantity(`${'1'.repeat(150_000)}!`), undefined);
  const ms = cpuMs();
  assert.ok(ms < 3000, `${ms} ms`);
});
