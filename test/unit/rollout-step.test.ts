import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { RolloutInput, RolloutMemory, WaveCounts } from '../../coordinator/decisions/rollout-memory.js';
import { rolloutStep } from '../../coordinator/decisions/rollout-step.js';
import type { RolloutPolicySpec } from '../../shared/kube/rollout-policy.js';
import type { SteeringRequest, SteeringVerb } from '../../shared/kube/rollout-steering.js';

const NOW = 1_000_000;
const SPEC: RolloutPolicySpec = {
  selector: {},
  waves: [
    { name: 'canary', nodes: 1, soakSeconds: 60 },
    { name: 'half', nodes: '50%', approval: 'Manual' },
  ],
  failureBudget: { maxFailed: 1 },
};
/** Failed nodes count against the budget unless it is said otherwise. */
const wave = (change: Partial<WaveCounts>): WaveCounts => ({
  failures: change.failed ?? 0,
  lateFailures: 0,
  awaited: 0,
  awaitedUpdated: 0,
  nodes: 2,
  updated: 0,
  failed: 0,
  deferred: 0,
  outsideWindow: 0,
  skipped: 0,
  old: 0,
  touched: 0,
  ...change,
});
const OUTSTANDING = wave({ old: 2 });
const DONE = wave({ updated: 2 });
const memory = (change: Partial<RolloutMemory>): RolloutMemory => ({
  revision: 'r',
  wave: 0,
  startedAt: 0,
  ...change,
});

const request = (id: number, verb: SteeringVerb, change: Partial<SteeringRequest> = {}): SteeringRequest => ({
  ...{ id, verb, user: 'ann', time: '2026-01-01T00:00:00Z', revision: 'r' },
  ...change,
});
const approval = (name: string) => request(1, 'approve', { targets: [name] });

const step = (change: Partial<RolloutInput>) =>
  rolloutStep({
    spec: SPEC,
    revision: 'r',
    waves: [OUTSTANDING, OUTSTANDING, OUTSTANDING],
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
    { memory: memory({}), waves: [DONE, OUTSTANDING, OUTSTANDING] },
    'Soaking',
    0,
    NOW + 60_000,
  ],
  [
    'a wave that has soaked, before one that needs approval',
    { memory: memory({ soakingSince: NOW - 60_000 }), waves: [DONE, OUTSTANDING, OUTSTANDING] },
    'AwaitingApproval',
    0,
  ],
  [
    'approved',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [DONE, OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'Progressing',
    1,
  ],
  [
    'the approval of another wave',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [DONE, OUTSTANDING, OUTSTANDING],
      requests: [approval('rest')],
    },
    'AwaitingApproval',
    0,
  ],
  [
    'hosts not heard since the start of the coordinator hold a wave: they may yet come',
    { memory: memory({}), waves: [wave({ updated: 1, old: 1, awaited: 1 }), OUTSTANDING, OUTSTANDING] },
    'Progressing',
    0,
  ],
  [
    'a soak that is over, with hosts of which nobody knows how they do since then',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ updated: 2, awaitedUpdated: 1 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'Soaking',
    0,
  ],
  [
    'before a person has approved the next wave, that is what is waited for',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ updated: 2, awaitedUpdated: 1 }), OUTSTANDING, OUTSTANDING],
    },
    'AwaitingApproval',
    0,
  ],
  [
    'nor is a rollout completed before its hosts were heard',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ updated: 2, awaitedUpdated: 2 })] },
    'Soaking',
    2,
  ],
  [
    'a soak that is not over, with such hosts',
    { memory: memory({ soakingSince: NOW }), waves: [wave({ updated: 2, awaitedUpdated: 2 }), DONE, DONE] },
    'Soaking',
    0,
    NOW + 60_000,
  ],
  [
    'a wave whose hosts are all dark proves nothing',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ deferred: 2, old: 2 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'AwaitingHosts',
    0,
  ],
  [
    'nor one whose hosts have all failed, within the budget',
    {
      memory: memory({}),
      waves: [wave({ nodes: 1, failed: 1, touched: 1 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'AwaitingHosts',
    0,
  ],
  [
    'it is promoted all the same',
    {
      memory: memory({}),
      waves: [wave({ deferred: 2, old: 2 }), OUTSTANDING, OUTSTANDING],
      requests: [request(1, 'promote', { targets: ['canary'] })],
    },
    'Progressing',
    1,
  ],
  [
    'a wave partly dark goes on',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ updated: 1, deferred: 1 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'Progressing',
    1,
  ],
  [
    'a wave without hosts, or whose hosts a person took out, holds nobody up',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ nodes: 0 }), wave({ skipped: 2, old: 2 }), OUTSTANDING],
      requests: [approval('half')],
    },
    'Progressing',
    2,
  ],
  [
    'the last wave all dark',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ deferred: 2, old: 2 })] },
    'Completed',
    2,
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
    'a first wave that needs approval',
    {
      spec: { selector: {}, waves: [{ name: 'a', approval: 'Manual' }] },
      previous: 'q',
      waves: [OUTSTANDING, OUTSTANDING],
    },
    'AwaitingApproval',
    -1,
  ],
  [
    'failures beyond the budget with hosts to bring back',
    {
      spec: { ...SPEC, failureBudget: { action: 'RollBack' } },
      memory: memory({ stable: 'q' }),
      waves: [wave({ failed: 1, touched: 1 }), OUTSTANDING, OUTSTANDING],
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
  ['a pause', { spec: { ...SPEC, paused: true }, memory: memory({}) }, 'Paused', -1],
  [
    'an earlier wave that has more to do holds the next',
    { memory: memory({ wave: 1 }), waves: [OUTSTANDING, DONE, OUTSTANDING] },
    'Progressing',
    1,
  ],
  [
    'waves taken out of the policy',
    { spec: { selector: {} }, memory: memory({ wave: 2 }), waves: [OUTSTANDING] },
    'Progressing',
    0,
  ],
  ['a frozen policy', { spec: { ...SPEC, frozen: true }, memory: memory({}) }, 'Frozen', -1],
  [
    'a frozen policy, when all is done',
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
    'an approval does not',
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
    'promoted while it soaks: on to the next, approved or not',
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
      waves: [wave({ updated: 2, touched: 2 }), OUTSTANDING, OUTSTANDING],
      requests: [request(1, 'abort')],
    },
    'Failed',
    -1,
  ],
  [
    'aborted and back',
    { memory: memory({ stable: 'q' }), requests: [request(1, 'abort')] },
    'RolledBack',
    -1,
  ],
  [
    'aborted after it was completed',
    {
      memory: memory({ stable: 'q', wave: 2, completedAt: 1, caughtUp: true }),
      waves: [DONE, DONE, wave({ updated: 2, touched: 2 })],
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
    'a barred revision that is tried again',
    { memory: memory({ failure: 'x', stable: 'q', wave: 1 }), requests: [request(1, 'retry')] },
    'Progressing',
    0,
  ],
  [
    'a retry of what has not failed',
    { memory: memory({ wave: 1 }), requests: [request(1, 'retry')] },
    'Progressing',
    1,
  ],
  [
    'all that is left is outside its window',
    { memory: memory({}), waves: [wave({ updated: 1, old: 1, outsideWindow: 1 }), OUTSTANDING, OUTSTANDING] },
    'AwaitingWindow',
    0,
  ],
  [
    'hosts that a person took out do not hold a wave',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ updated: 1, old: 1, skipped: 1 })] },
    'Completed',
    2,
  ],
  [
    'a wave with a budget of its own',
    {
      spec: {
        ...SPEC,
        waves: [
          { name: 'canary', nodes: 1, maxFailed: 0 },
          { name: 'half', maxFailed: '50%' },
        ],
      },
      memory: memory({ wave: 1 }),
      waves: [wave({ updated: 1, failed: 1 }), DONE, OUTSTANDING],
    },
    'Failed',
    -1,
  ],
  [
    'within its own budget',
    {
      spec: {
        ...SPEC,
        waves: [
          { name: 'canary', nodes: 1, maxFailed: 0 },
          { name: 'half', maxFailed: '50%' },
        ],
      },
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
    waves: [DONE, DONE, wave({ updated: 1, failed: 1, lateFailures: 1, touched: 2 })],
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

test('a retry asks for approvals anew; a pause stops hosts from going back by themselves, not by a person', () => {
  const barred = memory({ failure: 'x', wave: 1, stable: 'q', steering: { handled: 0, approved: ['half'] } });
  const retried = step({ memory: barred, requests: [request(1, 'retry')] });
  assert.deepEqual([retried.memory.steering?.approved, retried.memory.retriedAt], [undefined, NOW]);
  const paused = {
    spec: { ...SPEC, paused: true, failureBudget: { action: 'RollBack' as const } },
    memory: memory({ stable: 'q' }),
    waves: [wave({ failed: 1, touched: 1 }), OUTSTANDING, OUTSTANDING],
  };
  assert.equal(step(paused).revert, undefined);
  assert.equal(step({ ...paused, requests: [request(1, 'abort')] }).revert, 'all');
});

test('who asked and why stands in the record and in the message; what was taken in is not done twice', () => {
  const requests = [request(7, 'abort', { reason: 'tills hang' })];
  const first = step({ memory: memory({ stable: 'q' }), requests });
  assert.match(first.message, /aborted by ann: tills hang/);
  assert.deepEqual(first.memory.steering, { handled: 7, requests });
  const retried = step({ memory: first.memory, requests: [...requests, request(8, 'retry')] });
  assert.equal(retried.phase, 'Progressing');
  assert.equal(retried.memory.steering?.handled, 8);
});

test('the message of the end names who has not been updated, and that of a soak its end', () => {
  const messageOf = (...waves: WaveCounts[]) => step({ memory: memory({ wave: 2 }), waves }).message;
  assert.equal(messageOf(DONE, DONE, DONE), 'all nodes are updated');
  const aside = wave({ nodes: 4, updated: 2, failed: 1, skipped: 1 });
  assert.equal(messageOf(DONE, DONE, aside), '6 nodes are updated, 1 failed, 1 skipped');
  const soak = step({ memory: memory({ soakingSince: NOW }), waves: [DONE, OUTSTANDING, OUTSTANDING] });
  assert.equal(soak.message, 'wave canary is updated and watched until 1970-01-01T00:17:40Z');
});

test('a soak that lies in the future, for the clock was set back, begins now', () => {
  const ahead = memory({ soakingSince: NOW + 99 * 60_000 });
  const { memory: next, lookAgainAt } = step({ memory: ahead, waves: [DONE, OUTSTANDING, OUTSTANDING] });
  assert.deepEqual([next.soakingSince, lookAgainAt], [NOW, NOW + 60_000]);
});

test('a host that falls ill while a wave soaks begins the soak anew', () => {
  const ill = step({
    memory: memory({ soakingSince: NOW - 59_000 }),
    waves: [wave({ updated: 1 }), OUTSTANDING, OUTSTANDING],
  });
  assert.equal(ill.phase, 'Progressing');
  const well = step({ memory: ill.memory, waves: [DONE, OUTSTANDING, OUTSTANDING], now: NOW + 1_000 });
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
      failures: failed,
      lateFailures: 0,
      awaited: 0,
      awaitedUpdated: 0,
      deferred,
      outsideWindow: 0,
      skipped: 0,
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
    requests: fc.constantFrom([], [approval('half')]),
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
            requests: [approval('half')],
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
