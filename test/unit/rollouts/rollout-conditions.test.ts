/** The standard conditions of a Rollout and its DaemonSet, read by the rules of kstatus. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSetStatus, isSameStatus } from '../../../coordinator/decisions/daemonsets/daemonset-status.js';
import { withConditions } from '../../../coordinator/decisions/rollouts/rollout-conditions.js';
import {
  pastStatus,
  SUPERSEDED_BY_REVISION,
} from '../../../coordinator/decisions/rollouts/rollout-outcome.js';
import type { Condition } from '../../../shared/kube/objects/conditions.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';

const NOW = Date.parse('2026-01-05T12:00:00Z');
const LATER = NOW + 60_000;

const status = (change: Partial<RolloutStatus>): RolloutStatus => ({
  ...{ revision: 'b', policy: 'gentle', phase: 'Progressing', wave: 'lab', message: 'm', waves: [] },
  ...{ nodes: 100, updated: 0, failed: 0, deferred: 0, outsideWindow: 0, skipped: 0 },
  ...{ startTime: '2026-01-05T09:00:00Z', observedGeneration: 1 },
  ...change,
});

interface Subject {
  metadata: { generation?: number };
  status: { observedGeneration?: number; conditions?: readonly Condition[] };
}

/** The generic rules of `pkg/kstatus/status`: generation, standard conditions, then Ready. */
function kstatus({ metadata: { generation }, status: { observedGeneration, conditions = [] } }: Subject) {
  if (generation !== undefined && observedGeneration !== undefined && generation !== observedGeneration)
    return 'InProgress';
  for (const { type, status: value } of conditions) {
    if (type === 'Reconciling' && value === 'True') return 'InProgress';
    if (type === 'Stalled' && value === 'True') return 'Failed';
  }
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready && ready.status !== 'True' ? 'InProgress' : 'Current';
}

const DONE = { phase: 'Completed', completionTime: '2026-01-05T11:00:00Z' } as const;

const CASES: [name: string, change: Partial<RolloutStatus>, expected: string][] = [
  ['a wave in progress', { updated: 3 }, 'InProgress'],
  ['a wave that soaks', { phase: 'Soaking', updated: 100 }, 'InProgress'],
  ['a wave that waits for approval', { phase: 'AwaitingApproval' }, 'InProgress'],
  ['a wave that waits for its window', { phase: 'AwaitingWindow' }, 'InProgress'],
  ['a wave whose hosts are all offline', { phase: 'AwaitingHosts' }, 'InProgress'],
  ['a paused rollout', { phase: 'Paused' }, 'InProgress'],
  ['a rollout frozen before it completed', { phase: 'Frozen' }, 'InProgress'],
  ['completed on all hosts', { ...DONE, updated: 100 }, 'Current'],
  ['completed with 3 % of the hosts offline', { ...DONE, updated: 97, deferred: 3 }, 'Current'],
  ['completed with failures within the budget', { ...DONE, updated: 98, failed: 2 }, 'Current'],
  ['completed with skipped hosts and closed windows', { ...DONE, skipped: 60, outsideWindow: 40 }, 'Current'],
  ['completed without any host', { ...DONE, nodes: 0 }, 'Current'],
  ['a first revision whose Pods are not available', { ...DONE, updated: 40, deferred: 3 }, 'InProgress'],
  ['frozen after it completed', { ...DONE, phase: 'Frozen', updated: 100 }, 'Current'],
  ['failed', { phase: 'Failed', failure: '3 of 3 hosts failed', failed: 3 }, 'Failed'],
  ['failed after it completed', { ...DONE, phase: 'Failed', failure: 'x', updated: 90 }, 'Failed'],
  ['rolling back', { phase: 'Failed', failure: 'x', codes: { RollingBack: 9 } }, 'Failed'],
  ['rolled back', { phase: 'RolledBack', failure: 'x' }, 'Failed'],
  ['aborted and frozen', { phase: 'Frozen', failure: 'aborted' }, 'Failed'],
];

for (const [name, change, expected] of CASES) {
  test(`kstatus reports a rollout as ${expected}: ${name}`, () => {
    const written = withConditions(status(change), undefined, NOW);
    assert.equal(kstatus({ metadata: { generation: 1 }, status: written }), expected);
    assert.deepEqual(
      written.conditions?.map(({ type }) => type),
      ['Ready', 'Reconciling', 'Stalled'],
    );
  });
}

test('kstatus reports a rollout as InProgress while a request of an operator is not handled', () => {
  const written = withConditions(status({ ...DONE, updated: 100 }), undefined, NOW);
  assert.equal(kstatus({ metadata: { generation: 2 }, status: written }), 'InProgress');
});

test('a rollout that was Ready stays Ready when hosts reconnect, and a new revision is not Ready', () => {
  const before = withConditions(status({ ...DONE, updated: 97, deferred: 3 }), undefined, NOW);
  const after = withConditions(status({ ...DONE, updated: 97 }), before, LATER);
  assert.deepEqual(after.conditions, before.conditions, 'no transition');
  const next = withConditions(status({ ...DONE, revision: 'c', updated: 97 }), before, LATER);
  assert.equal(kstatus({ metadata: {}, status: next }), 'InProgress');
  assert.equal(next.conditions?.[0]?.reason, 'FirstPods');
  assert.equal(next.conditions?.[0]?.message, '3 hosts have no available Pod yet');
});

test('lastTransitionTime changes with the status of a condition, and not with its message', () => {
  const before = withConditions(status({}), undefined, NOW);
  const same = withConditions(status({ message: 'other', phase: 'Soaking' }), before, LATER);
  assert.deepEqual(
    same.conditions?.map(({ lastTransitionTime, message }) => [lastTransitionTime, message]),
    Array(3).fill(['2026-01-05T12:00:00Z', 'other']),
  );
  const failed = withConditions(status({ phase: 'Failed', failure: 'x' }), same, LATER);
  assert.deepEqual(
    failed.conditions?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
    [
      ['Ready', '2026-01-05T12:00:00Z'],
      ['Reconciling', '2026-01-05T12:01:00Z'],
      ['Stalled', '2026-01-05T12:01:00Z'],
    ],
  );
});

test('a superseded rollout is neither ready nor stalled', () => {
  const past = pastStatus(withConditions(status({}), undefined, NOW), SUPERSEDED_BY_REVISION, LATER);
  assert.deepEqual(
    past.conditions?.map(({ type, status: value, reason }) => [type, value, reason]),
    [
      ['Ready', 'Unknown', 'Superseded'],
      ['Reconciling', 'False', 'Superseded'],
      ['Stalled', 'False', 'Superseded'],
    ],
  );
});

const COUNTS = { current: 97, misscheduled: 0, desired: 100, ready: 97, updated: 97, available: 97 };
const OTHER: Condition = { type: 'Custom', status: 'True' };

test('a DaemonSet has the conditions of its rollout, and keeps those of other writers', () => {
  const rollout = {
    name: 'web',
    status: withConditions(status({ phase: 'Failed', failure: 'x' }), undefined, NOW),
  };
  const previous = { ...daemonSetStatus(COUNTS, 1, undefined), conditions: [OTHER] };
  const written = daemonSetStatus(COUNTS, 1, previous, rollout);
  assert.equal(kstatus({ metadata: { generation: 1 }, status: written }), 'Failed');
  assert.deepEqual(written.conditions?.[0], OTHER);
  assert.equal(isSameStatus(previous, written), false, 'the conditions are written');
  const recounted = { name: 'web', status: { ...rollout.status, message: '4 nodes roll back', failed: 4 } };
  assert.equal(
    isSameStatus(written, daemonSetStatus(COUNTS, 1, written, recounted)),
    true,
    'counts cost no write',
  );
  assert.deepEqual(daemonSetStatus(COUNTS, 1, written).conditions, [OTHER], 'removed with the policy');
});
