/** Faults reported for other systems, each as a short history with the issue number. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import { after, daemonSet, KILLED, outcomesOf, SECOND, setImage, starts } from './case-builders.js';
import { withWitness } from './case-witness.js';

describe('faults known from other systems', () => {
  test(
    'a second update over a failing one keeps the healthy Pods (kubernetes#123232, kruise#1323)',
    withWitness(
      [
        /"app:broken"/,
        /Pod (?<next>\S+) created/,
        { absent: /Pod \S+ marked for deletion/ },
        /"app:crash"/,
        /Pod <next> marked for deletion/,
      ],
      () =>
        outcomesOf(5, [
          after(1, daemonSet('app:1')),
          after(30, setImage('app:broken')),
          after(40, setImage('app:crash')),
          after(40, setImage('app:2')),
        ]),
    ),
  );

  test(
    'an agent that restarts does not restart healthy Pods (kubeedge#4048, nomad#10953)',
    withWitness(
      [
        /host-1 +the agent is killed/,
        /host-1 +the agent starts/,
        /agent disconnected .*"host-2"/,
        /host-2 +the agent is killed/,
        /desired cache is damaged/,
        /containers of unknown Pods found/,
        /coordinator +is told to stop/,
        /coordinator +starts/,
      ],
      async () => {
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
        return outcomes;
      },
    ),
  );

  test(
    'a Pod deleted and recreated while its host is unreachable runs once (moby#39130, nomad#9846, #12680)',
    withWitness(
      [
        /"cut cable"/,
        /Pod (?<old>\S+) removed/,
        /Pod (?<next>\S+) created on host-1/,
        /Pod <next> marked for deletion/,
        /Pod <next> removed/,
        /Pod (?<last>\S+) created on host-1/,
        /host-1 +a container of <last> runs/,
      ],
      () =>
        outcomesOf(2, [
          after(1, daemonSet('app:stubborn', { graceSeconds: 30 })),
          after(20, { kind: 'cut cable', node: 'host-1', forMs: 90 * SECOND }),
          after(5, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
          after(5, setImage('app:2')),
        ]),
    ),
  );

  test(
    'a deletion on a dead node completes when the node returns (kubernetes#49798, #23375)',
    withWitness(
      [
        /host-1 +power cut/,
        /Pod (?<old>\S+) marked for deletion/,
        /Pod bare-1 removed/,
        /DaemonSet alpha marked for deletion/,
        /host-1 +boots/,
        /coordinator +is killed/,
        /Pod <old> removed/,
        /DaemonSet alpha removed/,
      ],
      () =>
        outcomesOf(3, [
          after(1, daemonSet('app:1')),
          after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
          after(20, { kind: 'cut power', node: 'host-1', downMs: 120 * SECOND, damagesCache: false }),
          after(1, { kind: 'delete pod', node: 'host-1', index: 0, force: false }),
          after(1, { kind: 'delete pod', node: 'host-1', index: 1, force: true }),
          after(1, { kind: 'delete daemonset', name: 'alpha', policy: 'Foreground' }),
          after(60, {
            kind: 'kill coordinator',
            crashAt: { operation: 1, side: 'after' },
            downMs: 70 * SECOND,
          }),
        ]),
    ),
  );

  test('a rollout survives a kill of an agent or the coordinator at each of 26 operations', async () => {
    for (let deed = 1; deed <= 26; deed++) {
      const crashAt = { operation: deed, side: deed % 2 === 0 ? 'before' : 'after' } as const;
      const kill =
        deed % 3 === 0
          ? ({ kind: 'kill coordinator', crashAt, downMs: SECOND } as const)
          : ({
              kind: 'kill agent',
              node: 'host-1',
              crashAt,
              downMs: SECOND,
              damagesCache: false,
            } as const);
      const steps = [after(1, daemonSet('app:slow1')), after(20, kill), after(0, setImage('app:slow2'))];
      await withWitness([/is killed/, /starts/], () => outcomesOf(2, steps, 1))();
    }
  });
});
