/** What past rollouts say of the revisions that they were about. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isBarred,
  knownFailures,
  NO_POLICY,
  pastStatus,
} from '../../coordinator/decisions/rollout-outcome.js';
import type { Rollout, RolloutStatus } from '../../shared/kube/rollout.js';

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
  ['one that failed is barred', past({ failure: 'x' }), true],
  ['one of which nothing is known is not', past({ revision: 'other', failure: 'x' }), false],
  ['nor one that another put an end to', past({ phase: 'Superseded' }), false],
  [
    'nor one that was completed before hosts failed',
    past({ failure: 'x', completionTime: '2026-01-05T10:00:00Z' }),
    false,
  ],
  ['nor one that others have to go back to', past({ failure: 'x', stableRevision: 'bad' }), false],
  [
    'the last time counts',
    past({ startTime: '2026-01-06T09:00:00Z', phase: 'Completed' }, { failure: 'x' }),
    false,
  ],
  [
    'also when it failed then',
    past({ phase: 'Completed' }, { startTime: '2026-01-06T09:00:00Z', failure: 'x' }),
    true,
  ],
];
for (const [rule, rollouts, expected] of CASES) {
  test(`a past rollout: ${rule}`, () => assert.equal(isBarred(rollouts, 'bad'), expected));
}

test('what was rolled back is kept as that, also with a host that has yet to follow', () => {
  const now = Date.parse('2026-01-07T00:00:00Z');
  const kept = pastStatus(status({ phase: 'RolledBack', codes: { RollingBack: 1 } }), NO_POLICY, now);
  assert.equal(kept.phase, 'RolledBack');
  assert.equal(pastStatus(status({ codes: { RollingBack: 1 } }), NO_POLICY, now).phase, 'Superseded');
});

const FAILURES = [{ node: 'a', reason: 'ImagePullBackOff', time: '2026-01-05T09:01:00Z' }];
const ATTEMPTS: [what: string, now: Partial<RolloutStatus>, isSame: boolean][] = [
  ['of the same attempt', {}, true],
  [
    'of one whose beginning was moved with a clock that was set back',
    { startTime: '2026-01-05T08:00:00Z' },
    true,
  ],
  ['of the attempt before this one', { startTime: '2026-01-05T09:00:01Z' }, false],
  ['of another revision', { revision: 'next' }, false],
];
for (const [what, now, isSame] of ATTEMPTS) {
  test(`failures that are stored ${isSame ? 'stay' : 'go'}: ${what}`, () =>
    assert.deepEqual(knownFailures(status({ failures: FAILURES }), status(now)), isSame ? FAILURES : []));
}
