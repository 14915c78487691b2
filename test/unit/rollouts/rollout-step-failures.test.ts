/** What hosts that fail do to a rollout: when it stops, and who goes back. */
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

/** Aborted, with a stable revision of which no Pod can be made any more. */
const NO_WAY_BACK = {
  memory: memory({ failure: 'x', aborted: true, rolledBack: true, stable: 'gone' }),
  isKept: (hash: string) => hash !== 'gone',
};

testVerdicts([
  [
    'who has it stays with it where the stable revision is gone',
    { ...NO_WAY_BACK, waves: [wave({ updated: 1, onRevision: 1 }), DONE] },
    'Failed',
    -1,
  ],
  [
    'nobody need go back where nobody has it',
    { ...NO_WAY_BACK, waves: [wave({ old: 2 })] },
    'RolledBack',
    -1,
  ],
  [
    'nor one whose hosts have all failed, within the budget',
    {
      memory: memory({}),
      waves: [wave({ nodes: 1, failed: 1, onRevision: 1 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'AwaitingHosts',
    0,
  ],
  [
    'failures within the budget do not hold a wave',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ updated: 1, failed: 1 })] },
    'Completed',
    2,
  ],
  [
    'failures beyond it stop everything',
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
    'another revision begins anew',
    { memory: memory({ revision: 'bad', failure: 'x', wave: 2 }) },
    'Progressing',
    0,
  ],
  [
    'failures beyond the budget with hosts to bring back',
    {
      spec: { ...SPEC, failureBudget: { action: 'RollBack' } },
      memory: memory({ stable: 'q' }),
      waves: [wave({ failed: 1, onRevision: 1 }), OUTSTANDING, OUTSTANDING],
    },
    'Failed',
    -1,
  ],
  [
    'hosts brought back',
    {
      spec: { ...SPEC, failureBudget: { action: 'RollBack' } },
      memory: memory({ stable: 'q', failure: 'x' }),
      waves: [OUTSTANDING, OUTSTANDING, OUTSTANDING],
    },
    'RolledBack',
    -1,
  ],
  [
    'a host that turns out to have it later, and goes back as well',
    {
      spec: { ...SPEC, failureBudget: { action: 'RollBack' } },
      memory: memory({ stable: 'q', failure: 'x', rolledBack: true }),
      waves: [wave({ failed: 1, onRevision: 1 }), OUTSTANDING, OUTSTANDING],
    },
    'RolledBack',
    -1,
  ],
  [
    'what was rolled back under a policy that would not do so any more',
    { memory: memory({ stable: 'q', failure: 'x', rolledBack: true }), waves: [wave({ onRevision: 1 })] },
    'RolledBack',
    -1,
  ],
  [
    'a retry after it was rolled back',
    {
      memory: memory({ stable: 'q', failure: 'x', rolledBack: true }),
      waves: [wave({ failed: 2, onRevision: 2 }), OUTSTANDING, OUTSTANDING],
      requests: [request(1, 'retry')],
    },
    'Failed',
    -1,
  ],
  [
    'a wave with a budget of its own',
    {
      spec: BUDGETS_OF_WAVES,
      memory: memory({ wave: 1 }),
      waves: [wave({ updated: 1, failed: 1 }), DONE, OUTSTANDING],
    },
    'Failed',
    -1,
  ],
  [
    'within its own budget',
    {
      spec: BUDGETS_OF_WAVES,
      memory: memory({ wave: 1 }),
      waves: [DONE, wave({ updated: 1, failed: 1 }), OUTSTANDING],
    },
    'Progressing',
    2,
  ],
  [
    'failures so long ago that they count no more',
    {
      memory: memory({ wave: 1 }),
      waves: [DONE, wave({ nodes: 3, updated: 1, failed: 2, failures: 0 }), DONE],
    },
    'Completed',
    2,
  ],
  [
    'failures of those that follow late',
    {
      memory: memory({ wave: 2, completedAt: 1 }),
      waves: [DONE, DONE, wave({ nodes: 5, updated: 3, failed: 2, lateFailures: 2 })],
    },
    'Failed',
    -1,
  ],
  [
    'what fails once all have followed is not the rollout’s',
    {
      memory: memory({ wave: 2, completedAt: 1, caughtUp: true }),
      waves: [DONE, DONE, wave({ nodes: 5, updated: 3, failed: 2, lateFailures: 2 })],
    },
    'Completed',
    2,
  ],
  [
    'without a budget nothing is stopped',
    { spec: { selector: {} }, memory: memory({}), waves: [wave({ failed: 2 })] },
    'Completed',
    0,
  ],
]);

test('what was rolled back is remembered over a restart of the coordinator', () => {
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

test('hosts go back only where there is a revision to go back to', () => {
  const input = {
    spec: { ...SPEC, failureBudget: { action: 'RollBack' as const } },
    waves: [wave({ failed: 2, onRevision: 2 })],
  };
  assert.equal(step({ ...input, memory: memory({ stable: 'q' }) }).revert, 'all');
  assert.equal(step({ ...input, memory: memory({}) }).revert, undefined);
});

test('what was completed is stable; what was not leaves the stable one as it is', () => {
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

test('those that follow late and fail go back alone; a retry begins with them, not anew', () => {
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
