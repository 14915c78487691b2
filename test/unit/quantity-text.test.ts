import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalQuantity } from '../../shared/kube/quantity-text.js';

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
];

for (const [written, canonical] of WRITTEN) {
  test(`${written} is written ${canonical}`, () => {
    assert.equal(canonicalQuantity(written), canonical);
  });
}
