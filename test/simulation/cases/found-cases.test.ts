/** What the simulation found where no policy is: short histories, each with what went wrong. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  after,
  assertNoViolation,
  assertNoViolationIn,
  daemonSet,
  KILLED,
  outcomesOf,
  SECOND,
  setImage,
} from './case-builders.js';

describe('the simulation found', () => {
  test('a Pod that ended while it was deleted, on a host that lost what it held, was deleted for ever', () =>
    assertNoViolation(
      1,
      [
        after(1, daemonSet('app:1', { selector: 'a' })),
        after(9, { kind: 'kill agent', node: 'host-1', crashAt: KILLED, downMs: SECOND, damagesCache: true }),
        after(9.9, { kind: 'delete pod', node: 'host-1', index: 0, force: false }),
      ],
      20,
    ));

  test('a Pod confirmed as stopped was started again by an agent whose disk had not heard of its deletion', () =>
    assertNoViolation(
      2,
      [
        after(1, daemonSet('app:slow1')),
        after(0.02, {
          kind: 'kill agent',
          node: 'host-1',
          crashAt: { operation: 5, side: 'before' },
          downMs: 5 * SECOND,
          damagesCache: false,
        }),
        after(2.8, setImage('app:1')),
      ],
      20,
    ));

  test('a Pod told of as ended was started again beside its successor: its deletion was not on disk yet', async () => {
    const steps = [
      after(1, daemonSet('app:1')),
      after(20, {
        kind: 'kill agent',
        node: 'host-1',
        crashAt: KILLED,
        downMs: 60 * SECOND,
        damagesCache: false,
      }),
      after(9.2, { kind: 'delete pod', node: 'host-1', index: 0, force: false }),
    ];
    // The disk has to be slow at the right moment.
    for (const seed of ['case-167', 'case-292'])
      await assertNoViolationIn({ seed, nodes: 1, speed: 2, steps });
  });

  test('a Pod that had run before a power cut started beside the one before it, of whose end the disk had not heard', () =>
    // The disk has to be slow at the right moment.
    assertNoViolationIn({
      ...{ seed: 'all-57', nodes: 2, speed: 2 },
      steps: [
        after(
          0.1,
          daemonSet('app:broken', { name: 'beta', strategy: { type: 'OnDelete' }, graceSeconds: 10 }),
        ),
        after(1.581, { kind: 'cut cable', node: 'host-1', forMs: 90 * SECOND }),
        after(0.002, { kind: 'cut power', node: 'host-1', downMs: 10 * SECOND, damagesCache: false }),
        after(17.153, { kind: 'stop engine', node: 'host-1', forMs: 30 * SECOND, killsContainers: true }),
        after(86.812, { kind: 'stop coordinator', downMs: 60_939 }),
        after(0.018, { kind: 'reset connections', node: 'host-1' }),
        after(79.918, { kind: 'delete pod', node: 'host-1', index: 1, force: true }),
        after(1.866, { kind: 'cut power', node: 'host-1', downMs: 10 * SECOND, damagesCache: false }),
      ],
    }));

  test('a Pod that came back with its Node was taken for ended: its host told of its first end late', () =>
    assertNoViolationIn({
      ...{ seed: 'all-3004885', nodes: 1, speed: 1 },
      steps: [
        after(
          0.1,
          daemonSet('app:slow2', {
            name: 'beta',
            strategy: { type: 'RollingUpdate', maxUnavailable: 2 },
            graceSeconds: 10,
          }),
        ),
        after(5.539, { kind: 'set strategy', name: 'beta', strategy: { type: 'OnDelete' } }),
        after(2.678, { kind: 'delete node', node: 'host-1' }),
        after(0.148, { kind: 'stop engine', node: 'host-1', forMs: 8 * SECOND, killsContainers: true }),
        after(0.796, { kind: 'set selector', name: 'beta', selector: 'b' }),
        after(0.295, {
          kind: 'kill agent',
          node: 'host-1',
          crashAt: { operation: 8, side: 'before' },
          downMs: 5_413,
          damagesCache: false,
        }),
      ],
    }));

  test('a new copy started beside one whose agent had lost its cache', () =>
    assertNoViolation(2, [
      after(1, daemonSet('app:stubborn', { graceSeconds: 10 })),
      after(10, {
        kind: 'kill agent',
        node: 'host-1',
        crashAt: KILLED,
        downMs: 60 * SECOND,
        damagesCache: true,
      }),
      after(12, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
    ]));

  test('a new copy started beside the one it waited for when both were orphaned', () =>
    assertNoViolation(1, [
      after(1, daemonSet('app:stubborn', { graceSeconds: 30 })),
      after(10, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
      after(2, { kind: 'delete daemonset', name: 'alpha', policy: 'Orphan' }),
    ]));

  test('a coordinator whose clock was set back replaced all Pods at once', () =>
    assertNoViolation(4, [
      after(1, daemonSet('app:1', { minReadySeconds: 5 })),
      after(30, { kind: 'jump clock', node: null, byMs: -3_600 * SECOND }),
      after(40, setImage('app:2')),
    ]));

  test('a clock that was set back within minReadySeconds made a Pod available at once, and one too many was stopped', () =>
    assertNoViolation(3, [
      after(1, daemonSet('app:1', { minReadySeconds: 20 })),
      after(60, setImage('app:2')),
      after(12, { kind: 'jump clock', node: null, byMs: -3_600 * SECOND }),
    ]));

  test('a restarted agent made its Pods look fresh, and a rollout went beyond its budget', () =>
    assertNoViolation(5, [
      after(1, daemonSet('app:1', { minReadySeconds: 5 })),
      after(21, { kind: 'kill agent', node: 'host-5', crashAt: KILLED, downMs: SECOND, damagesCache: false }),
      after(8, setImage('app:stubborn')),
    ]));

  test('containers of a deleted Pod stayed when the engine was down at the hello of an agent that had lost its cache', () =>
    assertNoViolation(1, [
      after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
      after(9, { kind: 'stop engine', node: 'host-1', forMs: 90 * SECOND, killsContainers: false }),
      after(1, { kind: 'kill agent', node: 'host-1', crashAt: KILLED, downMs: SECOND, damagesCache: true }),
      after(5, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
    ]));

  test('a Pod whose deletion a restore had undone ran on and was shown as ended', () =>
    assertNoViolation(1, [
      after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
      after(9, { kind: 'back up' }),
      after(5, { kind: 'delete pod', node: 'host-1', index: 0, force: false }),
      after(0.1, { kind: 'restore backup', back: 0, downMs: 10 * SECOND, confirmAfterMs: 5 * SECOND }),
    ]));

  test('a second restore undid what the host had said of a Pod that it had ended', () =>
    assertNoViolation(
      2,
      [
        after(1, daemonSet('app:1')),
        after(9, { kind: 'back up' }),
        after(5, setImage('app:2')),
        after(0.2, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 90 * SECOND }),
        after(40, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 60 * SECOND }),
      ],
      10,
    ));

  test('after a restore a Pod was made for a host that then gave one back: two copies ran', () =>
    assertNoViolation(
      2,
      [
        after(1, daemonSet('app:slow1')),
        after(20, { kind: 'back up' }),
        after(1, setImage('app:slow2')),
        after(25, { kind: 'cut cable', node: 'host-1', forMs: 60 * SECOND }),
        after(1, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 5 * SECOND }),
      ],
      10,
    ));

  test('with all Nodes tainted, a surge of half of nothing replaces no Pod that serves (upstream, kept)', () =>
    assertNoViolation(1, [
      after(
        1,
        daemonSet('app:1', { strategy: { type: 'RollingUpdate', maxUnavailable: 0, maxSurge: '50%' } }),
      ),
      after(9, { kind: 'taint node', node: 'host-1', effect: 'NoSchedule' }),
      after(1, setImage('app:2')),
    ]));

  test('a Pod that its host had begun to end with its deleted Node did not run when the Node was there again', () =>
    assertNoViolation(
      1,
      [
        after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:stubborn' }),
        after(9, { kind: 'delete node', node: 'host-1' }),
        after(0.5, { kind: 'stop agent', node: 'host-1', downMs: SECOND }),
      ],
      10,
    ));

  test('a host that had lost its cache named in its hello a Pod that had long gone: a restore kept it, and two copies ran', () =>
    assertNoViolation(
      1,
      [
        after(1, daemonSet('app:1')),
        after(5, { kind: 'back up' }),
        after(1, { kind: 'kill agent', node: 'host-1', crashAt: KILLED, downMs: SECOND, damagesCache: true }),
        after(30, setImage('app:2')),
        after(30, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 5 * SECOND }),
      ],
      10,
    ));

  test('a Pod made after a restore, by a clock that was set back, was dropped as one that had ended before its host heard of it', () =>
    assertNoViolation(
      1,
      [
        after(1, daemonSet('app:1')),
        after(20, { kind: 'back up' }),
        after(1, { kind: 'jump clock', node: null, byMs: -3_600 * SECOND }),
        after(1, setImage('app:2')),
        after(20, { kind: 'cut cable', node: 'host-1', forMs: 60 * SECOND }),
        after(1, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 5 * SECOND }),
        after(20, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
      ],
      3,
    ));

  test('a Pod that a restore had brought back started beside its successor, of whom its host knew the containers alone', () =>
    assertNoViolation(1, [
      after(1, daemonSet('app:1')),
      after(20, { kind: 'back up' }),
      after(1, setImage('app:2')),
      after(30, { kind: 'stop coordinator', downMs: 60 * SECOND }),
      after(1, { kind: 'kill agent', node: 'host-1', crashAt: KILLED, downMs: SECOND, damagesCache: true }),
      after(20, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 60 * SECOND }),
    ]));

  test('a copy that was orphaned before its host heard of it started beside the one it was made for', () =>
    assertNoViolation(1, [
      after(1, daemonSet('app:stubborn', { graceSeconds: 30 })),
      after(9, { kind: 'cut cable', node: 'host-1', forMs: 30 * SECOND }),
      after(5, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
      after(5, { kind: 'delete daemonset', name: 'alpha', policy: 'Orphan' }),
    ]));

  test('a mirror was made again for ever for a deleted Node whose host was yet to hear of that', () =>
    assertNoViolation(
      1,
      [
        after(1, { kind: 'write manifest', node: 'host-1', name: 'static-1', image: 'app:2' }),
        after(30, { kind: 'cut cable', node: 'host-1', forMs: 30 * SECOND }),
        after(1, { kind: 'delete node', node: 'host-1' }),
      ],
      3,
    ));

  test('a host whose disk had been full for long started a Pod of before beside its successor, of whom the engine alone knew', () =>
    assertNoViolation(1, [
      after(1, daemonSet('app:1')),
      after(9, { kind: 'fill host disk', node: 'host-1', forMs: 90 * SECOND }),
      after(1, setImage('app:2')),
      after(20, { kind: 'kill agent', node: 'host-1', crashAt: KILLED, downMs: SECOND, damagesCache: false }),
      after(9, { kind: 'cut cable', node: 'host-1', forMs: 60 * SECOND }),
    ]));

  test('a host whose disk had been full started a Pod again that it had ended: what it held was never written', () =>
    assertNoViolation(1, [
      after(1, daemonSet('app:1')),
      after(9, { kind: 'fill host disk', node: 'host-1', forMs: 20 * SECOND }),
      after(1, setImage('app:2')),
      after(60, { kind: 'kill agent', node: 'host-1', crashAt: KILLED, downMs: SECOND, damagesCache: false }),
    ]));

  test('a Pod that was deleted after its host had given it back was given back again', () =>
    assertNoViolation(
      2,
      [
        after(2, { kind: 'back up' }),
        after(10, { kind: 'create pod', name: 'bare-1', node: 'host-2', image: 'app:2' }),
        after(1, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 150 * SECOND }),
        after(30, {
          kind: 'kill agent',
          node: 'host-2',
          crashAt: KILLED,
          downMs: 60 * SECOND,
          damagesCache: false,
        }),
        after(60, { kind: 'delete pod', node: 'host-2', index: 0, force: true }),
      ],
      3,
    ));

  test('a Pod of the newer of two backups was dropped as ended by a host that had heard of the older one alone', () =>
    assertNoViolation(
      1,
      [
        after(5, { kind: 'back up' }),
        after(5, { kind: 'cut cable', node: 'host-1', forMs: 90 * SECOND }),
        after(5, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
        after(5, { kind: 'back up' }),
        after(5, { kind: 'restore backup', back: 1, downMs: SECOND, confirmAfterMs: 5 * SECOND }),
        after(120, { kind: 'create pod', name: 'bare-2', node: 'host-1', image: 'app:1' }),
        after(20, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 60 * SECOND }),
      ],
      3,
    ));

  test('what a host said at its hello was written over what it said later, once the coordinator’s disk had room', () =>
    assertNoViolation(
      1,
      [
        after(20, { kind: 'stop engine', node: 'host-1', forMs: 8 * SECOND, killsContainers: false }),
        after(2, { kind: 'fill disk', forMs: 10 * SECOND }),
        after(0.1, { kind: 'stop agent', node: 'host-1', downMs: 0.5 * SECOND }),
      ],
      6,
    ));

  test('an adopted Pod of the same image and another grace period counted as updated, in the rule alone (all-91001424)', async () => {
    const outcomes = await outcomesOf(
      1,
      [
        after(1, daemonSet('app:1', { graceSeconds: 10 })),
        // The Pod is then of template generation 2, so the successor's generation 1 does not match it either.
        after(10, setImage('app:3')),
        after(30, { kind: 'delete daemonset', name: 'alpha', policy: 'Orphan' }),
        after(10, daemonSet('app:3', { graceSeconds: 30, strategy: { type: 'OnDelete' } })),
      ],
      3,
    );
    for (const { lines } of outcomes) {
      const status = lines.findLast((line) => line.includes('DaemonSet alpha changed: status')) ?? '';
      assert.match(status, /"currentNumberScheduled":1,.*"numberAvailable":1/, 'the Pod was adopted');
      assert.doesNotMatch(status, /updatedNumberScheduled/);
    }
  });

  test('a Node that is not ready and then silent drives a Pod out by the time of both (as upstream, kept)', () =>
    assertNoViolationIn({
      ...{ seed: 'zones-100124', nodes: 5, speed: 0 },
      steps: [
        after(0.082, {
          kind: 'create tolerant pod',
          name: 'bare-2',
          node: 'host-4',
          image: 'app:1',
          seconds: 60,
        }),
        after(1.14, { kind: 'fill disk', forMs: 10 * SECOND }),
        after(0.195, { kind: 'stop engine', node: 'host-4', forMs: 90 * SECOND, killsContainers: true }),
        after(3.318, { kind: 'cut zone', zone: null, forMs: 150 * SECOND }),
        after(1.341, { kind: 'cut cable', node: 'host-5', forMs: 8 * SECOND }),
      ],
    }));
});
