/** The effect of failing hosts on a rollout: when it stops, and which hosts revert. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RolloutMemory } from '../../../coordinator/decisions/rollouts/rollout-memory.js';
import { memoryOf, statusOf } from '../../../coordinator/decisions/rollouts/rollout-status.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import {
  approval,
  DONE,
  memory,
  OUTSTANDING,
  request,
  SPEC,
  step,
  testVerdicts,
  wave,
} from '../../harness/controllers/rollout-inputs.js';

const BUDGETS_OF_WAVES: RolloutPolicySpec = {
  ...SPEC,
  waves: [
    { name: 'canary', nodes: 1, maxFailed: 0 },
    { name: 'half', maxFailed: '50%' },
  ],
};

/** Aborted, with a stable revision that cannot be created any longer. */
const NO_WAY_BACK = {
  memory: memory({ failure: 'x', aborted: true, rolledBack: true, stable: 'gone' }),
  isKept: (hash: string) => hash !== 'gone',
};

testVerdicts([
  [
    'its hosts keep it where the stable revision is gone',
    { ...NO_WAY_BACK, waves: [wave({ updated: 1, onRevision: 1 }), DONE] },
    'Failed',
    -1,
  ],
  [
    'a rollback without hosts that have the revision',
    { ...NO_WAY_BACK, waves: [wave({ old: 2 })] },
    'RolledBack',
    -1,
  ],
  [
    'a rollback of hosts that have all failed, within the budget',
    {
      memory: memory({}),
      waves: [wave({ nodes: 1, failed: 1, onRevision: 1 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'AwaitingHosts',
    0,
  ],
  [
    'failures within the budget do not block a wave',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ updated: 1, failed: 1 })] },
    'Completed',
    2,
  ],
  [
    'failures beyond the budget stop the rollout',
    { memory: memory({ wave: 1 }), waves: [DONE, wave({ failed: 2 }), OUTSTANDING] },
    'Failed',
    -1,
  ],
  [
    'a failed revision stays barred when its hosts recover',
    { memory: memory({ failure: 'x' }), waves: [DONE, DONE, OUTSTANDING] },
    'Failed',
    -1,
  ],
  [
    'another revision starts a new rollout',
    { memory: memory({ revision: 'bad', failure: 'x', wave: 2 }) },
    'Progressing',
    0,
  ],
  [
    'failures beyond the budget with hosts to revert',
    {
      spec: { ...SPEC, failureBudget: { action: 'RollBack' } },
      memory: memory({ stable: 'q' }),
      waves: [wave({ failed: 1, onRevision: 1 }), OUTSTANDING, OUTSTANDING],
    },
    'Failed',
    -1,
  ],
  [
    'reverted hosts',
    {
      spec: { ...SPEC, failureBudget: { action: 'RollBack' } },
      memory: memory({ stable: 'q', failure: 'x' }),
      waves: [OUTSTANDING, OUTSTANDING, OUTSTANDING],
    },
    'RolledBack',
    -1,
  ],
  [
    'a host that is found to have it later, and reverts too',
    {
      spec: { ...SPEC, failureBudget: { action: 'RollBack' } },
      memory: memory({ stable: 'q', failure: 'x', rolledBack: true }),
      waves: [wave({ failed: 1, onRevision: 1 }), OUTSTANDING, OUTSTANDING],
    },
    'RolledBack',
    -1,
  ],
  [
    'a rolled-back revision under a policy that would not roll back any longer',
    { memory: memory({ stable: 'q', failure: 'x', rolledBack: true }), waves: [wave({ onRevision: 1 })] },
    'RolledBack',
    -1,
  ],
  [
    'a retry after a rollback',
    {
      memory: memory({ stable: 'q', failure: 'x', rolledBack: true }),
      waves: [wave({ failed: 2, onRevision: 2 }), OUTSTANDING, OUTSTANDING],
      requests: [request(1, 'retry')],
    },
    'Failed',
    -1,
  ],
  [
    'a wave with its own budget',
    {
      spec: BUDGETS_OF_WAVES,
      memory: memory({ wave: 1 }),
      waves: [wave({ updated: 1, failed: 1 }), DONE, OUTSTANDING],
    },
    'Failed',
    -1,
  ],
  [
    "failures within a wave's own budget",
    {
      spec: BUDGETS_OF_WAVES,
      memory: memory({ wave: 1 }),
      waves: [DONE, wave({ updated: 1, failed: 1 }), OUTSTANDING],
    },
    'Progressing',
    2,
  ],
  [
    'failures that are too old to count',
    {
      memory: memory({ wave: 1 }),
      waves: [DONE, wave({ nodes: 3, updated: 1, failed: 2, failures: 0 }), DONE],
    },
    'Completed',
    2,
  ],
  [
    'failures of late hosts',
    {
      memory: memory({ wave: 2, completedAt: 1 }),
      waves: [DONE, DONE, wave({ nodes: 5, updated: 3, failed: 2, lateFailures: 2 })],
    },
    'Failed',
    -1,
  ],
  [
    'a failure after all hosts have updated does not count for the rollout',
    {
      memory: memory({ wave: 2, completedAt: 1, caughtUp: true }),
      waves: [DONE, DONE, wave({ nodes: 5, updated: 3, failed: 2, lateFailures: 2 })],
    },
    'Completed',
    2,
  ],
  [
    'without a budget failures do not stop a rollout',
    { spec: { selector: {} }, memory: memory({}), waves: [wave({ failed: 2 })] },
    'Completed',
    0,
  ],
]);

test('a rollback is remembered over a restart of the coordinator', () => {
  const spec = { ...SPEC, failureBudget: { action: 'RollBack' as const } };
  const waves = [OUTSTANDING, OUTSTANDING, OUTSTANDING];
  const verdict = step({ spec, memory: memory({ stable: 'q', failure: 'x' }), waves });
  const policy = { apiVersion: '', kind: '', metadata: { name: 'p' }, spec };
  const status = statusOf(policy, verdict, waves, { codes: {}, inProgress: [] });
  const rollout = { apiVersion: '', kind: '', metadata: { name: 'till' }, status };
  const late = {
    spec,
    memory: memoryOf(rollout, spec),
    waves: [wave({ onRevision: 1 }), OUTSTANDING, OUTSTANDING],
  };
  assert.deepEqual([step(late).phase, step(late).revert], ['RolledBack', 'all']);
});

test('hosts revert only where there is a revision to revert to', () => {
  const input = {
    spec: { ...SPEC, failureBudget: { action: 'RollBack' as const } },
    waves: [wave({ failed: 2, onRevision: 2 })],
  };
  assert.equal(step({ ...input, memory: memory({ stable: 'q' }) }).revert, 'all');
  assert.equal(step({ ...input, memory: memory({}) }).revert, undefined);
});

test('a completed revision becomes stable; an incomplete one leaves the stable revision unchanged', () => {
  const next = (change: Partial<RolloutMemory>) =>
    step({ memory: memory({ revision: 'q', ...change }) }).memory.stable;
  assert.equal(next({ completedAt: 1 }), 'q');
  assert.equal(next({ stable: 'p' }), 'p');
  assert.equal(next({ stable: 'r' }), undefined, 'it is the one that comes');
  const again = step({ memory: memory({ revision: 'bad', stable: 'r' }) }).memory;
  assert.deepEqual([again.stable, again.wasStable], [undefined, true]);
  const bad = step({ memory: again, revision: 'worse' }).memory;
  assert.deepEqual([bad.stable, bad.wasStable], ['r', undefined], 'though it was not completed once more');
  const requests = [request(1, 'abort', { reason: 'x' })];
  assert.equal(step({ memory: again, requests }).memory.wasStable, undefined, 'a person says that it is not');
  assert.equal(step({ previous: 'o' }).memory.stable, 'o');
});

test('late hosts that fail revert alone; a retry starts with them, not from the first wave', () => {
  const late = {
    spec: { ...SPEC, failureBudget: { action: 'RollBack' as const } },
    memory: memory({ wave: 2, completedAt: 1, stable: 'q' }),
    waves: [DONE, DONE, wave({ updated: 1, failed: 1, lateFailures: 1, onRevision: 2 })],
  };
  const first = step(late);
  assert.deepEqual([first.phase, first.revert, first.openUpTo], ['Failed', 'late', -1]);
  const again = step({
    ...late,
    memory: first.memory,
    waves: [DONE, DONE, wave({ updated: 1, deferred: 1, old: 1 })],
    requests: [request(1, 'retry')],
  });
  assert.deepEqual([again.phase, again.openUpTo, again.memory.completedAt], ['Completed', 2, 1]);
});
