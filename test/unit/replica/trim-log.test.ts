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
  ['a member is down: a slow member still needs the rest', [99, undefined, 80], 10 * MIB, 81],
  ['a slow member lacks more than four windows: only they stay', [99, 20, 99], 10 * MIB, 75],
  ['a slow member never gets further: only four windows stay', [99, 0, undefined], 10 * MIB, 75],
  ['the leader has little durably: the rest stays', [30, 99, undefined], 10 * MIB, 31],
  ['the leader has not reported: everything stays', [undefined, 99], MIB, 1],
  ['a single member', [99], MIB, 99],
];

describe('Trimming the replicated log', () => {
  for (const [what, durableRecords, bytes, expected] of cases)
    test(what, () => {
      const sizes = sizesOf(1, 100, bytes);
      const [leaderRecord] = durableRecords;
      const windowBytes = 64 * MIB;
      const keep = firstRecordToKeep({
        first: 1,
        next: 100,
        durableRecords,
        leaderRecord,
        sizes,
        windowBytes,
      });
      assert.equal(keep, expected);
    });

  test('nothing before the first record is asked for', () => {
    const input = { first: 50, next: 51, durableRecords: [10], sizes: new Map(), windowBytes: 0 };
    assert.equal(firstRecordToKeep({ ...input, leaderRecord: 10 }), 50);
  });

  test('records of earlier leaders count, so that changes of the leader do not let the log grow', () => {
    const input = { first: 1, next: 200_001, durableRecords: [200_000, 0], sizes: new Map() };
    const keep = firstRecordToKeep({ ...input, leaderRecord: 200_000, windowBytes: 64 * MIB });
    assert.equal(keep, 200_001 - 65_536);
  });
});
