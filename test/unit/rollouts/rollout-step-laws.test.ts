/** Laws of a single step of a rollout by waves. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { RolloutMemory } from '../../../coordinator/decisions/rollouts/rollout-memory.js';
import { judgeRollout } from '../../../coordinator/decisions/rollouts/rollout-verdict.js';
import { approval, memory, SPEC, step, wave } from '../../harness/controllers/rollout-inputs.js';

describe('any sequence of inputs', () => {
  const counts = fc
    .tuple(fc.nat(5), fc.nat(5), fc.nat(5), fc.nat(5))
    .map(([updated, failed, deferred, old]) => ({
      onRevision: updated + failed,
      nodes: updated + failed + deferred + old,
      updated,
      failed,
      failures: failed,
      lateFailures: 0,
      awaitingResync: 0,
      awaitingResyncUpdated: 0,
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

  test('no wave opens before those ahead of it are done, except by the record', () => {
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

  test('beyond the budget no wave is open', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const failed = input.waves.reduce((sum, one) => sum + one.failed, 0);
        const verdict = step(input);
        if (failed > 1 && verdict.phase !== 'Completed') assert.equal(verdict.openUpTo, -1);
      }),
    );
  });

  test('a repeated step gives the same result', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const first = step(input);
        assert.deepEqual(step({ ...input, memory: first.memory }), first);
      }),
    );
  });

  test('a rollout without failures ends once its waves are done, soaked and approved', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { minLength: 3, maxLength: 3 }), (sizes) => {
        const waves = sizes.map((nodes) => wave({ nodes, old: nodes }));
        let now = 0;
        let state: RolloutMemory | undefined = memory({ revision: 'q', completedAt: 0 });
        for (let round = 0; round < 20; round += 1) {
          const verdict = judgeRollout({
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
          now = verdict.requeueAt ?? now + 1;
        }
        assert.fail('it did not end');
      }),
    );
  });
});
