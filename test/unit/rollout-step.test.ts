import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { laneOf } from '../../coordinator/decisions/rollout-lane.js';
import {
  type RolloutInput,
  type RolloutMemory,
  rolloutStep,
  type WaveCounts,
} from '../../coordinator/decisions/rollout-step.js';
import type { RolloutPolicySpec } from '../../shared/kube/rollout.js';

const NOW = 1_000_000;
const SPEC: RolloutPolicySpec = {
  selector: {},
  waves: [
    { name: 'canary', nodes: 1, soakSeconds: 60 },
    { name: 'half', nodes: '50%', approval: 'Manual' },
  ],
  failureBudget: { maxFailed: 1 },
};
const wave = (change: Partial<WaveCounts>): WaveCounts => ({
  nodes: 2,
  updated: 0,
  failed: 0,
  deferred: 0,
  old: 0,
  touched: 0,
  ...change,
});
const TODO = wave({ old: 2 });
const DONE = wave({ updated: 2 });
const memory = (change: Partial<RolloutMemory>): RolloutMemory => ({
  revision: 'r',
  wave: 0,
  startedAt: 0,
  ...change,
});

const step = (change: Partial<RolloutInput>) =>
  rolloutStep({
    spec: SPEC,
    revision: 'r',
    waves: [TODO, TODO, TODO],
    approved: new Set(),
    now: NOW,
    ...change,
  });

/** Name, input, then phase, open wave, and what time changes. */
const CASES: [string, Partial<RolloutInput>, string, number, number?][] = [
  ['the first look opens the first wave', { previous: 'q' }, 'Progressing', 0],
  [
    'all nodes under way when the template changes',
    { memory: memory({ revision: 'q', wave: 2, completedAt: 1 }), waves: [wave({}), wave({}), wave({})] },
    'Progressing',
    0,
  ],
  ['a policy that comes when all is done', { previous: 'q', waves: [DONE, DONE, DONE] }, 'Completed', 2],
  [
    'a DaemonSet that is new has nothing to roll out',
    { waves: [wave({}), wave({}), wave({})] },
    'Completed',
    2,
  ],
  [
    'a wave that is done soaks',
    { memory: memory({}), waves: [DONE, TODO, TODO] },
    'Soaking',
    0,
    NOW + 60_000,
  ],
  [
    'a wave that has soaked, before one that needs approval',
    { memory: memory({ soakingSince: NOW - 60_000 }), waves: [DONE, TODO, TODO] },
    'AwaitingApproval',
    0,
  ],
  [
    'approved',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [DONE, TODO, TODO],
      approved: new Set(['half']),
    },
    'Progressing',
    1,
  ],
  [
    'the approval of another wave',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [DONE, TODO, TODO],
      approved: new Set(['rest']),
    },
    'AwaitingApproval',
    0,
  ],
  ['all done', { memory: memory({ wave: 2 }), waves: [DONE, DONE, DONE] }, 'Completed', 2],
  [
    'dark hosts do not hold a wave',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ updated: 1, deferred: 1 })] },
    'Completed',
    2,
  ],
  [
    'failures within the budget do not hold a wave',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ updated: 1, failed: 1 })] },
    'Completed',
    2,
  ],
  [
    'failures beyond it stop everything',
    { memory: memory({ wave: 1 }), waves: [DONE, wave({ failed: 2 }), TODO] },
    'Failed',
    -1,
  ],
  [
    'a failed revision stays barred when its hosts recover',
    { memory: memory({ failure: 'x' }), waves: [DONE, DONE, TODO] },
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
    'a first wave that needs approval',
    {
      spec: { selector: {}, waves: [{ name: 'a', approval: 'Manual' }] },
      previous: 'q',
      waves: [TODO, TODO],
    },
    'AwaitingApproval',
    -1,
  ],
  [
    'failures beyond the budget with hosts to bring back',
    {
      spec: { ...SPEC, failureBudget: { action: 'RollBack' } },
      memory: memory({ stable: 'q' }),
      waves: [wave({ failed: 1, touched: 1 }), TODO, TODO],
    },
    'Failed',
    -1,
  ],
  [
    'hosts brought back',
    {
      spec: { ...SPEC, failureBudget: { action: 'RollBack' } },
      memory: memory({ stable: 'q', failure: 'x' }),
      waves: [TODO, TODO, TODO],
    },
    'RolledBack',
    -1,
  ],
  ['a pause', { spec: { ...SPEC, paused: true }, memory: memory({}) }, 'Paused', -1],
  [
    'an earlier wave that has more to do holds the next',
    { memory: memory({ wave: 1 }), waves: [TODO, DONE, TODO] },
    'Progressing',
    1,
  ],
  [
    'waves taken out of the policy',
    { spec: { selector: {} }, memory: memory({ wave: 2 }), waves: [TODO] },
    'Progressing',
    0,
  ],
  [
    'without a budget nothing is stopped',
    { spec: { selector: {} }, memory: memory({}), waves: [wave({ failed: 2 })] },
    'Completed',
    0,
  ],
];

for (const [name, input, phase, openUpTo, lookAgainAt] of CASES) {
  test(`a rollout: ${name}`, () => {
    const verdict = step(input);
    assert.deepEqual([verdict.phase, verdict.openUpTo, verdict.lookAgainAt], [phase, openUpTo, lookAgainAt]);
  });
}

test('hosts go back only where there is a revision to go back to', () => {
  const input = {
    spec: { ...SPEC, failureBudget: { action: 'RollBack' as const } },
    waves: [wave({ failed: 2, touched: 2 })],
  };
  assert.equal(step({ ...input, memory: memory({ stable: 'q' }) }).revert, true);
  assert.equal(step({ ...input, memory: memory({}) }).revert, undefined);
});

test('what was completed is stable; what was not leaves the stable one as it is', () => {
  const next = (change: Partial<RolloutMemory>) =>
    step({ memory: memory({ revision: 'q', ...change }) }).memory.stable;
  assert.equal(next({ completedAt: 1 }), 'q');
  assert.equal(next({ stable: 'p' }), 'p');
  assert.equal(next({ stable: 'r' }), undefined, 'it is the one that comes');
  assert.equal(step({ previous: 'o' }).memory.stable, 'o');
});

test('a host that falls ill while a wave soaks begins the soak anew', () => {
  const ill = step({
    memory: memory({ soakingSince: NOW - 59_000 }),
    waves: [wave({ updated: 1 }), TODO, TODO],
  });
  assert.equal(ill.phase, 'Progressing');
  const well = step({ memory: ill.memory, waves: [DONE, TODO, TODO], now: NOW + 1_000 });
  assert.equal(well.lookAgainAt, NOW + 61_000);
});

describe('whatever happens', () => {
  const counts = fc
    .tuple(fc.nat(5), fc.nat(5), fc.nat(5), fc.nat(5))
    .map(([updated, failed, deferred, old]) => ({
      touched: updated + failed,
      nodes: updated + failed + deferred + old,
      updated,
      failed,
      deferred,
      old,
    }));
  const inputs = fc.record({
    waves: fc.tuple(counts, counts, counts).map((list) => [...list]),
    memory: fc.option(
      fc.record({
        revision: fc.constantFrom('r', 'q'),
        wave: fc.integer({ min: -1, max: 2 }),
        startedAt: fc.nat(9),
      }),
      { nil: undefined },
    ),
    approved: fc.constantFrom(new Set<string>(), new Set(['half'])),
    now: fc.nat(1e6),
  });

  test('no wave opens before those ahead of it are done, but by what is remembered', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { openUpTo, phase } = step(input);
        const before = input.memory?.revision === 'r' ? input.memory.wave : -1;
        if (phase === 'Completed' || openUpTo <= before) return;
        for (const { nodes, updated, failed, deferred } of input.waves.slice(0, openUpTo)) {
          assert.equal(updated + failed + deferred, nodes);
        }
      }),
    );
  });

  test('beyond the budget nothing is open', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const failed = input.waves.reduce((sum, one) => sum + one.failed, 0);
        const verdict = step(input);
        if (failed > 1 && verdict.phase !== 'Completed') assert.equal(verdict.openUpTo, -1);
      }),
    );
  });

  test('the same again says the same', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const first = step(input);
        assert.deepEqual(step({ ...input, memory: first.memory }), first);
      }),
    );
  });

  test('a rollout without failures ends, once its waves are done, soaked and approved', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { minLength: 3, maxLength: 3 }), (sizes) => {
        const waves = sizes.map((nodes) => wave({ nodes, old: nodes }));
        let now = 0;
        let state: RolloutMemory | undefined = memory({ revision: 'q', completedAt: 0 });
        for (let round = 0; round < 20; round += 1) {
          const verdict = rolloutStep({
            spec: SPEC,
            revision: 'r',
            waves,
            approved: new Set(['half']),
            now,
            memory: state,
          });
          if (verdict.phase === 'Completed') return;
          state = verdict.memory;
          const open = waves[verdict.openUpTo];
          if (open) Object.assign(open, { updated: open.nodes, old: 0 });
          now = verdict.lookAgainAt ?? now + 1;
        }
        assert.fail('it did not end');
      }),
    );
  });
});

const LANES: [string, Parameters<typeof laneOf>[0], string | undefined][] = [
  ['its link down before its turn', { situation: 'oldAvailable', contact: 'away' }, 'deferred'],
  ['lost before its turn', { situation: 'oldUnavailable', contact: 'lost' }, 'deferred'],
  ['its link down after its turn', { situation: 'newAvailable', contact: 'away' }, 'newAvailable'],
  ['lost before its turn, and its Pod is gone', { situation: 'empty', contact: 'lost' }, 'deferred'],
  ['lost after its turn', { situation: 'newUnavailable', contact: 'lost', newPodAt: 0 }, 'failed'],
  ['lost beside its old Pod', { situation: 'pairUnavailable', contact: 'lost' }, 'failed'],
  ['a crash loop', { situation: 'newUnavailable', contact: 'here', trouble: 'CrashLoopBackOff' }, 'failed'],
  [
    'an available Pod that keeps restarting',
    { situation: 'newAvailable', contact: 'here', trouble: 'Restarting' },
    'failed',
  ],
  [
    'the old Pod in trouble is not the new revision’s',
    { situation: 'oldUnavailable', contact: 'here', trouble: 'x' },
    'oldUnavailable',
  ],
  [
    'a new Pod within its time',
    { situation: 'newUnavailable', contact: 'here', newPodAt: 1 },
    'newUnavailable',
  ],
  ['a new Pod beyond it', { situation: 'newUnavailable', contact: 'here', newPodAt: 0 }, 'failed'],
  [
    'available, however long ago',
    { situation: 'newAvailable', contact: 'here', newPodAt: 0 },
    'newAvailable',
  ],
  ['retiring', { situation: 'retiringAvailable', contact: 'here' }, undefined],
];

for (const [name, facts, lane] of LANES) {
  test(`a node in a rollout: ${name}`, () => assert.equal(laneOf(facts, 600, 600), lane));
}

test('without a budget no node has failed: it holds its wave, as upstream', () => {
  const facts = {
    situation: 'newUnavailable',
    contact: 'lost',
    trouble: 'CrashLoopBackOff',
    newPodAt: 0,
  } as const;
  assert.equal(laneOf(facts, 600, undefined), 'newUnavailable');
});
