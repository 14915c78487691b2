/** Which log records the leader may delete. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { firstRecordToKeep } from '../../../coordinator/decisions/cluster/trim-log.js';

const MIB = 1_048_576;
const sizesOf = (first: number, next: number, bytes: number) =>
  new Map(Array.from({ length: next - first }, (_, at) => [first + at, bytes]));

const cases: [string, (number | undefined)[], number, number][] = [
  ['all members have everything: one record stays', [99, 99, 99], MIB, 99],
  ['the slowest member needs the rest', [99, 40, 99], MIB, 41],
  ['a member is down: what it may lack stays', [99, undefined, 99], MIB / 2, 1],
  ['a member is down: only the window stays', [99, undefined, 99], 10 * MIB, 94],
  ['a member is down: a slow member still needs the rest', [99, undefined, 20], 10 * MIB, 21],
  ['no member has reported: everything stays', [undefined, undefined], MIB, 1],
  ['a single member', [99], MIB, 99],
];

describe('Trimming the replicated log', () => {
  for (const [what, durableRecords, bytes, expected] of cases)
    test(what, () => {
      const sizes = sizesOf(1, 100, bytes);
      const keep = firstRecordToKeep({ first: 1, next: 100, durableRecords, sizes, windowBytes: 64 * MIB });
      assert.equal(keep, expected);
    });

  test('nothing before the first record is asked for', () => {
    const input = { first: 50, next: 51, durableRecords: [10], sizes: new Map(), windowBytes: 0 };
    assert.equal(firstRecordToKeep(input), 50);
  });
});
