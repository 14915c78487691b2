/** How many link threads a coordinator has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkThreadCount, readLinkThreads } from '../../../coordinator/decisions/nodes/link-thread-count.js';

test('by default half of the cores, none on a small machine', () => {
  const counts = [1, 3, 4, 6, 8, 64].map((cores) => linkThreadCount('auto', cores, '22.12.0'));
  assert.deepEqual(counts, [0, 0, 2, 3, 4, 4]);
});

test('without a shared port there is one thread at most, and by default none', () => {
  for (const version of ['20.19.0', '22.11.0', '23.0.0']) {
    assert.equal(linkThreadCount('auto', 16, version), 0);
    assert.equal(linkThreadCount('4', 16, version), 1);
    assert.equal(linkThreadCount('0', 16, version), 0);
  }
  for (const version of ['22.12.0', '23.1.0', '24.0.0']) assert.equal(linkThreadCount('4', 2, version), 4);
});

test('other values are refused', () => {
  for (const text of ['', '-1', '1.5', '65', 'many'])
    assert.throws(() => readLinkThreads(text), /must be auto/);
});
