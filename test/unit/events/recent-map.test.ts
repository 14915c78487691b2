import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentMap } from '../../../coordinator/controllers/events/event-correlator.js';

test('the map keeps the entries that were set last, and setting an entry again renews it', () => {
  const map = new RecentMap<number>(3);
  const known = () => ['a', 'b', 'c', 'd', 'e'].filter((key) => map.get(key) !== undefined).join('');
  for (const [index, key] of ['a', 'b', 'c', 'a'].entries()) map.set(key, index);
  assert.equal(known(), 'abc');
  map.set('d', 4);
  assert.equal(known(), 'acd');
  assert.equal(map.get('a'), 3);
  map.set('b', 5);
  assert.equal(known(), 'abd');
  map.set('c', 6);
  map.set('e', 7);
  assert.equal(known(), 'bce');
});
