import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  epochFrom,
  isAheadOfBackup,
  receivedUpTo,
  unknownPodVerdict,
} from '../../../coordinator/decisions/restore/unknown-pod.js';

const PAST = [
  { epoch: 'first', revision: 100 },
  { epoch: 'second', revision: 1_000 },
];

describe('data beyond the backup', () => {
  const cases: [string, string | undefined, number, boolean][] = [
    ['up to the backup nothing is lost', 'second', 1_000, false],
    ['after the backup data is lost', 'second', 1_001, true],
    ['each epoch has its own last revision', 'first', 101, true],
    ['up to that revision nothing is lost', 'first', 100, false],
    ['an epoch that no backup contains is lost completely', 'elsewhere', 1, true],
    ['in the current epoch nothing is lost', 'third', 5_000, false],
    ['a host that never applied a revision has lost nothing', undefined, 0, false],
  ];
  for (const [rule, epoch, revision, expected] of cases) {
    test(rule, () => assert.equal(isAheadOfBackup('third', PAST, { epoch: epoch, revision }), expected));
  }
});

describe('a host beyond the backup has received', () => {
  const cases: [string, string, number][] = [
    ["the last backup's content, when it was connected then", 'second', 1_000],
    ['nothing of a later epoch in which it was offline', 'first', 100],
    ["the last backup's content, in an epoch that started with it and was lost", 'elsewhere', 1_000],
    [
      "an older backup's content, in an epoch that started with that",
      epochFrom('else', { epoch: 'first', revision: 60 }),
      60,
    ],
    [
      "this log's part of it, in an epoch that started later",
      epochFrom('else', { epoch: 'second', revision: 1_500 }),
      1_000,
    ],
    [
      'nothing for certain, in an epoch that started where this log never was',
      epochFrom('else', { epoch: 'other', revision: 50 }),
      0,
    ],
    [
      'the common part, by the name of an epoch that was restored itself',
      epochFrom('else', { epoch: 'second:60:first', revision: 900 }),
      900,
    ],
  ];
  for (const [rule, epoch, expected] of cases) {
    test(rule, () => assert.equal(receivedUpTo(PAST, { epoch: epoch, revision: 2_000 }), expected));
  }
});

describe('an unknown Pod', () => {
  const verdict = (isHostBeyond: boolean, canBeAsked: boolean, isUnconfirmed: boolean) =>
    unknownPodVerdict({ isHostAhead: isHostBeyond, canBeAsked, isUnconfirmed });
  test('of a host beyond the backup is requested, confirmed or not', () => {
    assert.deepEqual([verdict(true, true, true), verdict(true, true, false)], ['ask', 'ask']);
  });
  test('that cannot be returned waits for the confirmation, and is deleted after it', () => {
    assert.deepEqual([verdict(true, false, true), verdict(true, false, false)], ['wait', 'gone']);
  });
  test('of any other host was deleted, but stops only after the confirmation', () => {
    assert.deepEqual([verdict(false, true, true), verdict(false, true, false)], ['wait', 'gone']);
  });
});
