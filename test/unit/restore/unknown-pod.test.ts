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

describe('beyond the backup', () => {
  const cases: [string, string | undefined, number, boolean][] = [
    ['up to the backup nothing is lost', 'second', 1_000, false],
    ['after the backup something is', 'second', 1_001, true],
    ['each epoch has its own last revision', 'first', 101, true],
    ['and nothing before it is lost', 'first', 100, false],
    ['an epoch that no backup knew is lost whole', 'elsewhere', 1, true],
    ['in the present epoch nothing is lost', 'third', 5_000, false],
    ['who never applied anything has nothing to tell', undefined, 0, false],
  ];
  for (const [rule, epoch, revision, expected] of cases) {
    test(rule, () => assert.equal(isAheadOfBackup('third', PAST, { epoch: epoch, revision }), expected));
  }
});

describe('a host beyond the backup has heard', () => {
  const cases: [string, string, number][] = [
    ['what the last backup held, when it was there', 'second', 1_000],
    ['nothing of a later epoch that it was away for', 'first', 100],
    ['what the last backup held, in an epoch that began with it and was lost', 'elsewhere', 1_000],
    [
      'what an older backup held, in an epoch that began with that',
      epochFrom('else', { epoch: 'first', revision: 60 }),
      60,
    ],
    [
      'what this log has of it, in an epoch that began later',
      epochFrom('else', { epoch: 'second', revision: 1_500 }),
      1_000,
    ],
    [
      'nothing for sure, in an epoch that began where this log never was',
      epochFrom('else', { epoch: 'other', revision: 50 }),
      0,
    ],
    [
      'what both have, by the name of an epoch that was restored itself',
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
  test('of a host beyond the backup is asked for, confirmed or not', () => {
    assert.deepEqual([verdict(true, true, true), verdict(true, true, false)], ['ask', 'ask']);
  });
  test('that cannot be given back waits for the confirmation, and goes after it', () => {
    assert.deepEqual([verdict(true, false, true), verdict(true, false, false)], ['wait', 'gone']);
  });
  test('of any other host was deleted, but nothing stops before the confirmation', () => {
    assert.deepEqual([verdict(false, true, true), verdict(false, true, false)], ['wait', 'gone']);
  });
});
