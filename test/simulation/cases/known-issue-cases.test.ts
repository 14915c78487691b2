/** What other systems broke: short histories, each with the issue it comes from. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  after,
  assertNoViolation,
  daemonSet,
  KILLED,
  outcomesOf,
  SECOND,
  setImage,
  starts,
} from './case-builders.js';

describe('other systems broke', () => {
  test('a second update over a bad one kills the healthy rest (kubernetes#123232, kruise#1323)', () =>
    assertNoViolation(5, [
      after(1, daemonSet('app:1')),
      after(30, setImage('app:broken')),
      after(40, setImage('app:crash')),
      after(40, setImage('app:2')),
    ]));

  test('an agent that is killed and comes back restarts healthy Pods (kubeedge#4048, nomad#10953)', async () => {
    const outcomes = await outcomesOf(
      2,
      [
        after(1, daemonSet('app:1')),
        after(20, {
          kind: 'kill agent',
          node: 'host-1',
          crashAt: KILLED,
          downMs: 90 * SECOND,
          damagesCache: false,
        }),
        after(150, { kind: 'cut cable', node: 'host-2', forMs: 90 * SECOND }),
        after(100, {
          kind: 'kill agent',
          node: 'host-2',
          crashAt: KILLED,
          downMs: SECOND,
          damagesCache: true,
        }),
        after(60, { kind: 'stop coordinator', downMs: 90 * SECOND }),
      ],
      5,
    );
    for (const outcome of outcomes) {
      assert.deepEqual([starts(outcome, 'host-1'), starts(outcome, 'host-2')], [1, 1]);
    }
  });

  test('a deletion and a creation decided while a host is away leave two copies (moby#39130, nomad#9846, #12680)', () =>
    assertNoViolation(2, [
      after(1, daemonSet('app:stubborn', { graceSeconds: 30 })),
      after(20, { kind: 'cut cable', node: 'host-1', forMs: 90 * SECOND }),
      after(5, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
      after(5, setImage('app:2')),
    ]));

  test('a deletion hangs on a dead node, or is forgotten when it is back (kubernetes#49798, #23375)', () =>
    assertNoViolation(3, [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
      after(20, { kind: 'cut power', node: 'host-1', downMs: 120 * SECOND, damagesCache: false }),
      after(1, { kind: 'delete pod', node: 'host-1', index: 0, force: false }),
      after(1, { kind: 'delete pod', node: 'host-1', index: 1, force: true }),
      after(1, { kind: 'delete daemonset', name: 'alpha', policy: 'Foreground' }),
      after(60, { kind: 'kill coordinator', crashAt: { operation: 1, side: 'after' }, downMs: 70 * SECOND }),
    ]));

  test('agents and coordinator killed at every step of a rollout', async () => {
    for (let deed = 1; deed <= 30; deed++) {
      const crashAt = { operation: deed, side: deed % 2 === 0 ? 'before' : 'after' } as const;
      const kill =
        deed % 3 === 0
          ? ({ kind: 'kill coordinator', crashAt: crashAt, downMs: SECOND } as const)
          : ({
              kind: 'kill agent',
              node: 'host-1',
              crashAt: crashAt,
              downMs: SECOND,
              damagesCache: false,
            } as const);
      await assertNoViolation(
        2,
        [after(1, daemonSet('app:slow1')), after(20, kill), after(0, setImage('app:slow2'))],
        1,
      );
    }
  });
});
