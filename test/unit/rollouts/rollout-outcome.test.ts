/** Outcomes of past rollouts, and their effect on revisions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isBarred,
  knownFailures,
  MAX_FAILED_NODES,
  NO_POLICY,
  pastStatus,
  SUPERSEDED_BY_REVISION,
  withOutcome,
} from '../../../coordinator/decisions/rollouts/rollout-outcome.js';
import type { Rollout, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';

const status = (change: Partial<RolloutStatus>): RolloutStatus => ({
  ...{ revision: 'bad', policy: 'gentle', phase: 'Failed', wave: 'lab', message: 'm', waves: [] },
  ...{ nodes: 5, updated: 0, failed: 1, deferred: 0, outsideWindow: 0, skipped: 0 },
  startTime: '2026-01-05T09:00:00Z',
  ...change,
});
const past = (...changes: Partial<RolloutStatus>[]): Rollout[] =>
  changes.map((change) => ({
    ...{ apiVersion: 'fleet.everynode.dev/v1', kind: 'Rollout', metadata: { name: 'web.r2' } },
    status: status(change),
  }));

const CASES: [rule: string, past: Rollout[], expected: boolean][] = [
  ['a failed revision is barred', past({ failure: 'x' }), true],
  ['a revision without a record is not barred', past({ revision: 'other', failure: 'x' }), false],
  ['a revision that another one replaced is not barred', past({ phase: 'Superseded' }), false],
  [
    'a revision that completed before hosts failed is not barred',
    past({ failure: 'x', completionTime: '2026-01-05T10:00:00Z' }),
    false,
  ],
  [
    'a revision to which other hosts must revert is not barred',
    past({ failure: 'x', stableRevision: 'bad' }),
    false,
  ],
  [
    'the last attempt counts',
    past({ startTime: '2026-01-06T09:00:00Z', phase: 'Completed' }, { failure: 'x' }),
    false,
  ],
  [
    'the last attempt counts also when it failed',
    past({ phase: 'Completed' }, { startTime: '2026-01-06T09:00:00Z', failure: 'x' }),
    true,
  ],
];
for (const [rule, rollouts, expected] of CASES) {
  test(`a past rollout: ${rule}`, () => assert.equal(isBarred(rollouts, 'bad'), expected));
}

test('a rolled-back revision keeps that outcome, also with a host that has not updated yet', () => {
  const now = Date.parse('2026-01-07T00:00:00Z');
  const kept = pastStatus(status({ phase: 'RolledBack', codes: { RollingBack: 1 } }), NO_POLICY, now);
  assert.equal(kept.phase, 'RolledBack');
  assert.equal(pastStatus(status({ codes: { RollingBack: 1 } }), NO_POLICY, now).phase, 'Superseded');
});

const FAILURES = [{ node: 'a', reason: 'ImagePullBackOff', time: '2026-01-05T09:01:00Z' }];
const ATTEMPTS: [what: string, now: Partial<RolloutStatus>, isSame: boolean][] = [
  ['failures of the same attempt', {}, true],
  [
    'failures of an attempt whose start was corrected for a clock that was set back',
    { startTime: '2026-01-05T08:00:00Z' },
    true,
  ],
  ['failures of the attempt before this one', { startTime: '2026-01-05T09:00:01Z' }, false],
  ['failures of another revision', { revision: 'next' }, false],
];
for (const [what, now, isSame] of ATTEMPTS) {
  test(`stored failures are ${isSame ? 'kept' : 'dropped'}: ${what}`, () =>
    assert.deepEqual(knownFailures(status({ failures: FAILURES }), status(now)), isSame ? FAILURES : []));
}

/** A wave of 5,000 hosts of which `failed` have failed. */
const wave = (name: string, failed: number) => ({
  ...{ name, nodes: 5_000, updated: 0, deferred: 10, outsideWindow: 0, skipped: 0 },
  failed,
});
const outcome = (failedNodes: string[]) => ({ number: 2, failing: [], failedNodes, now: 0 });
const names = (count: number) => Array.from({ length: count }, (_, index) => `node-${index}`);

test('names of failed hosts are stored while the revision is barred, and not with a past rollout', () => {
  const barred = status({ failure: 'x' });
  const stored = withOutcome(barred, undefined, outcome(['a', 'b']));
  assert.deepEqual(stored.failedNodes, ['a', 'b']);
  assert.equal(withOutcome(status({}), undefined, outcome(['a', 'b'])).failedNodes, undefined);
  assert.equal(pastStatus(stored, SUPERSEDED_BY_REVISION, 0).failedNodes, undefined);
});

test('where more hosts have failed than names are stored, a restart does not lower the counts', () => {
  const before = status({ failure: 'x', failed: 4_990, waves: [wave('lab', 0), wave('rest', 4_990)] });
  const known = names(MAX_FAILED_NODES);
  const after = status({ failure: 'x', failed: 500, waves: [wave('lab', 0), wave('rest', 500)] });
  const stored = withOutcome(after, before, outcome(known));
  assert.deepEqual([stored.failed, stored.waves.map(({ failed }) => failed)], [4_990, [0, 4_990]]);
  const few = withOutcome(after, before, outcome(known.slice(1)));
  assert.deepEqual([few.failed, few.waves[1]?.failed], [500, 500], 'all names are known: the count is exact');
  const retried = { ...after, startTime: '2026-01-05T10:00:00Z' };
  assert.equal(withOutcome(retried, before, outcome(known)).failed, 500, 'of the attempt before this one');
});
