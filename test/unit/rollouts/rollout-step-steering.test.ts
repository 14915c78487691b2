/** The effect of steering requests: pause, freeze, promote, abort, retry, skip. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeRolloutState } from '../../../coordinator/decisions/rollouts/node-rollout-state.js';
import { stateText } from '../../harness/controllers/node-states.js';
import {
  DONE,
  memory,
  NOW,
  OUTSTANDING,
  request,
  SPEC,
  step,
  testVerdicts,
  wave,
} from '../../harness/controllers/rollout-inputs.js';

const stateOf = (...facts: Parameters<typeof nodeRolloutState>) => stateText(nodeRolloutState(...facts));

testVerdicts([
  [
    'it is promoted despite the approval',
    {
      memory: memory({}),
      waves: [wave({ deferred: 2, old: 2 }), OUTSTANDING, OUTSTANDING],
      requests: [request(1, 'promote', { targets: ['canary'] })],
    },
    'Progressing',
    1,
  ],
  ['a pause', { spec: { ...SPEC, paused: true }, memory: memory({}) }, 'Paused', -1],
  ['a frozen policy', { spec: { ...SPEC, frozen: true }, memory: memory({}) }, 'Frozen', -1],
  [
    'a frozen policy, when all waves are done',
    {
      spec: { ...SPEC, frozen: true },
      memory: memory({ completedAt: 1, wave: 2 }),
      waves: [DONE, DONE, DONE],
    },
    'Frozen',
    -1,
  ],
  ['a person pauses', { memory: memory({}), requests: [request(1, 'pause')] }, 'Paused', -1],
  [
    'and resumes',
    { memory: memory({}), requests: [request(1, 'pause'), request(2, 'resume')] },
    'Progressing',
    0,
  ],
  ['a person freezes', { memory: memory({}), requests: [request(1, 'freeze')] }, 'Frozen', -1],
  [
    'a pause outlasts its revision',
    { memory: memory({ revision: 'q', steering: { handled: 1, paused: true } }) },
    'Paused',
    -1,
  ],
  [
    'an approval does not outlast its revision',
    {
      memory: memory({
        revision: 'q',
        stable: 'p',
        steering: { handled: 1, approved: ['*'], promoted: ['*'] },
      }),
      waves: [wave({ nodes: 0 }), OUTSTANDING, OUTSTANDING],
      spec: { ...SPEC, waves: [{ name: 'canary' }, { name: 'half', approval: 'Manual' }] },
    },
    'AwaitingApproval',
    0,
  ],
  [
    'promoted while it soaks: the next wave opens, approved or not',
    {
      memory: memory({}),
      waves: [DONE, OUTSTANDING, OUTSTANDING],
      requests: [request(1, 'promote', { targets: ['canary'] })],
    },
    'Progressing',
    1,
  ],
  [
    'promoted before it is done',
    { memory: memory({}), requests: [request(1, 'promote', { targets: ['canary'] })] },
    'Progressing',
    0,
  ],
  [
    'aborted',
    {
      memory: memory({ stable: 'q' }),
      waves: [wave({ updated: 2, onRevision: 2 }), OUTSTANDING, OUTSTANDING],
      requests: [request(1, 'abort')],
    },
    'Failed',
    -1,
  ],
  [
    'aborted and reverted',
    { memory: memory({ stable: 'q' }), requests: [request(1, 'abort')] },
    'RolledBack',
    -1,
  ],
  [
    'aborted after it was completed',
    {
      memory: memory({ stable: 'q', wave: 2, completedAt: 1, caughtUp: true }),
      waves: [DONE, DONE, wave({ updated: 2, onRevision: 2 })],
      requests: [request(1, 'abort')],
    },
    'Failed',
    -1,
  ],
  [
    'an abort of another revision',
    { memory: memory({ stable: 'q' }), requests: [request(1, 'abort', { revision: 'q' })] },
    'Progressing',
    0,
  ],
  [
    'a retry of a barred revision',
    { memory: memory({ failure: 'x', stable: 'q', wave: 1 }), requests: [request(1, 'retry')] },
    'Progressing',
    0,
  ],
  [
    'a retry of a revision that has not failed',
    { memory: memory({ wave: 1 }), requests: [request(1, 'retry')] },
    'Progressing',
    1,
  ],
  [
    'skipped hosts do not block a wave',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ updated: 1, old: 1, skipped: 1 })] },
    'Completed',
    2,
  ],
]);

test('a retry requires new approvals; a pause stops automatic reverts, but not an abort', () => {
  const barred = memory({ failure: 'x', wave: 1, stable: 'q', steering: { handled: 0, approved: ['half'] } });
  const retried = step({ memory: barred, requests: [request(1, 'retry')] });
  assert.deepEqual([retried.memory.steering?.approved, retried.memory.retriedAt], [undefined, NOW]);
  const paused = {
    spec: { ...SPEC, paused: true, failureBudget: { action: 'RollBack' as const } },
    memory: memory({ stable: 'q' }),
    waves: [wave({ failed: 1, onRevision: 1 }), OUTSTANDING, OUTSTANDING],
  };
  assert.equal(step(paused).revert, undefined);
  assert.equal(step({ ...paused, requests: [request(1, 'abort')] }).revert, 'all');
});

test('rollout times in the future are treated as now', () => {
  const year = 365 * 86_400_000;
  const ahead = { startedAt: NOW + year, completedAt: NOW + year, retriedAt: NOW + year, wave: 2 };
  const { memory: first } = step({ memory: memory(ahead), waves: [DONE, DONE, DONE] });
  assert.deepEqual([first.startedAt, first.completedAt, first.retriedAt], [NOW, NOW + 1_000, NOW + 1_000]);
  const { memory: later } = step({ memory: first, waves: [DONE, DONE, DONE], now: NOW + 999 });
  assert.deepEqual(later, first, 'and stay where they are');
  const facts = { updateState: 'newUnavailable', contact: 'here', failureReason: 'x' } as const;
  const lane = (newPodAt: number) =>
    stateOf({ ...facts, newPodAt }, NOW + 2_000, { deadlineMs: 600, ...first });
  assert.deepEqual([lane(NOW + 999), lane(NOW + 1_001)], ['retryPending', 'failed']);
});

test('author and reason of a request are in the record and the message; an accepted request is not applied twice', () => {
  const requests = [request(7, 'abort', { reason: 'tills hang' })];
  const first = step({ memory: memory({ stable: 'q' }), requests });
  assert.match(first.message, /aborted by ann: tills hang/);
  assert.deepEqual(first.memory.steering, { handled: 7, requests });
  const retried = step({ memory: first.memory, requests: [...requests, request(8, 'retry')] });
  assert.equal(retried.phase, 'Progressing');
  assert.equal(retried.memory.steering?.handled, 8);
});
