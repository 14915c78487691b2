/** How many link threads a coordinator has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkThreadCount, readLinkThreads } from '../../../coordinator/decisions/nodes/link-thread-count.js';

const machine = { cores: 16, nodeVersion: '22.12.0', platform: 'linux' as NodeJS.Platform, hosts: 1_000 };

test('auto is half of the cores, none on a small machine', () => {
  const counts = [1, 3, 4, 6, 8, 64].map((cores) => linkThreadCount('auto', { ...machine, cores }));
  assert.deepEqual(counts, [0, 0, 2, 3, 4, 4]);
});

test('auto is none for a small fleet', () => {
  const counts = [0, 999, 1_000].map((hosts) => linkThreadCount('auto', { ...machine, hosts }));
  assert.deepEqual(counts, [0, 0, 4]);
  assert.equal(linkThreadCount('2', { ...machine, hosts: 0 }), 2);
});

test('without a shared port there is one thread at most, and none for auto', () => {
  for (const nodeVersion of ['20.19.0', '22.11.0', '23.0.0']) {
    assert.equal(linkThreadCount('auto', { ...machine, nodeVersion }), 0);
    assert.equal(linkThreadCount('4', { ...machine, nodeVersion }), 1);
    assert.equal(linkThreadCount('0', { ...machine, nodeVersion }), 0);
  }
  assert.equal(linkThreadCount('auto', { ...machine, platform: 'darwin' }), 0);
  assert.equal(linkThreadCount('4', { ...machine, platform: 'darwin' }), 1);
  for (const nodeVersion of ['22.12.0', '23.1.0', '24.0.0'])
    assert.equal(linkThreadCount('4', { ...machine, nodeVersion, cores: 2 }), 4);
});

test('other values are refused', () => {
  for (const text of ['', '-1', '1.5', '65', 'many'])
    assert.throws(() => readLinkThreads(text), /must be auto/);
});
