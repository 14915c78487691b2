import assert from 'node:assert/strict';
import { test } from 'node:test';
import { steeringWarnings } from '../../../coordinator/kinds/rollouts/steering-warnings.js';
import type { Rollout, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import type { SteeringRequest } from '../../../shared/kube/rollouts/steering-requests.js';

const WAVES = [{ name: 'lab' }, { name: 'tenth' }, { name: 'rest' }];

function remarks(request: Partial<SteeringRequest>, change: Partial<RolloutStatus> = {}): string[] {
  const present = { revision: 'r2', policy: 'gentle', phase: 'Soaking', wave: 'tenth', stableRevision: 'r1' };
  const status = { ...present, waves: WAVES, ...change } as RolloutStatus;
  const requests = [{ id: 1, user: 'ann', time: 't', ...request } as SteeringRequest];
  return steeringWarnings({ spec: { requests }, status } as Rollout);
}

const CASES: [string, Partial<SteeringRequest>, Partial<RolloutStatus>, string[]][] = [
  ['the next wave', { verb: 'approve', targets: ['rest'] }, {}, []],
  ['any wave', { verb: 'approve', targets: ['*'] }, {}, []],
  ['one that is open', { verb: 'approve', targets: ['lab'] }, {}, ['approve: wave lab is already open']],
  [
    'a wave of a finished rollout',
    { verb: 'approve', targets: ['rest'] },
    { phase: 'RolledBack' },
    ['approve: revision r2 is RolledBack: no wave opens'],
  ],
  ['the open wave', { verb: 'promote', targets: ['tenth'] }, {}, []],
  [
    'a former and a later wave',
    { verb: 'promote', targets: ['lab', 'rest'] },
    {},
    [
      'promote: the rollout has already passed wave lab',
      'promote: wave rest is not open yet: the rollout will not wait for it once it opens',
    ],
  ],
  ['a running rollout', { verb: 'pause' }, {}, []],
  [
    'a paused rollout',
    { verb: 'pause' },
    { steering: { handled: 0, paused: true } },
    ['pause: the rollout is already paused'],
  ],
  [
    'a finished rollout',
    { verb: 'pause' },
    { phase: 'Completed', caughtUp: true },
    ['pause: revision r2 is Completed: the next revision will be paused'],
  ],
  ['a rollout that reverts', { verb: 'pause' }, { phase: 'Failed' }, []],
  [
    'a frozen rollout',
    { verb: 'freeze' },
    { steering: { handled: 0, frozen: true } },
    ['freeze: the rollout is already frozen'],
  ],
  ['a pause', { verb: 'resume' }, { phase: 'Paused', steering: { handled: 0, paused: true } }, []],
  [
    'a rollout that its policy pauses',
    { verb: 'resume' },
    { phase: 'Paused' },
    ['resume: RolloutPolicy gentle pauses or freezes the rollout (spec.paused, spec.frozen)'],
  ],
  ['nothing', { verb: 'resume' }, {}, ['resume: the rollout is neither paused nor frozen']],
  ['what goes on', { verb: 'abort' }, {}, []],
  ['twice', { verb: 'abort' }, { aborted: true }, ['abort: the rollout was already aborted']],
  [
    'a completed rollout',
    { verb: 'abort' },
    { phase: 'Completed' },
    ['abort: revision r2 is already completed: its hosts still roll back to revision r1'],
  ],
  ['what failed', { verb: 'retry' }, { phase: 'Failed', failure: '2 hosts failed; the limit is 1' }, []],
  ['what did not', { verb: 'retry' }, {}, ['retry: revision r2 has not failed: there is nothing to retry']],
  ['one of them', { verb: 'unskip', targets: ['a'] }, { steering: { handled: 0, skipped: ['a'] } }, []],
  [
    'another',
    { verb: 'unskip', targets: ['b'] },
    { steering: { handled: 0, skipped: ['a'] } },
    ['unskip: b was not skipped by name'],
  ],
  ['a skipped host', { verb: 'resume' }, { steering: { handled: 1 } }, []],
];

for (const [what, request, change, expected] of CASES) {
  test(`${request.verb} ${what}: ${expected.join('; ') || 'no remark'}`, () => {
    assert.deepEqual(remarks(request, change), expected);
  });
}

test('a first revision has no earlier revision to revert to', () => {
  const status = {
    revision: 'r1',
    phase: 'Progressing',
    wave: 'lab',
    waves: WAVES,
  } as unknown as RolloutStatus;
  const requests = [{ id: 1, verb: 'abort', user: 'ann', time: 't' } as SteeringRequest];
  const [remark] = steeringWarnings({ spec: { requests }, status } as Rollout);
  assert.equal(remark, 'abort: there is no earlier revision to roll back to: hosts keep their current Pods');
});
