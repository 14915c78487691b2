/** What the simulation found: short histories, each with what went wrong. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { after, daemonSet, KILLED, outcomesOf, SECOND, setImage, unbroken } from './cases.js';
import type { Policy, TurnRules } from './history.js';

/** Nothing holds it up, and nothing fails it. */
const PATIENT: Policy = {
  ...{ soakSeconds: 0, approval: 'Automatic', maxFailed: null, deadlineSeconds: 120, action: 'Pause' },
};
/** The host replaces the Pod as soon as it has the image. */
const AT_ONCE: TurnRules = { windowSeconds: null, confirmSeconds: 15, holdSeconds: null, prePulls: false };

describe('the simulation found', () => {
  test('a Pod that ended while it was deleted, on a host that lost what it held, was deleted for ever', () =>
    unbroken(
      1,
      [
        after(1, daemonSet('app:1', { selector: 'a' })),
        after(9, { kind: 'kill agent', node: 'host-1', doom: KILLED, downMs: SECOND, damagesCache: true }),
        after(9.9, { kind: 'delete pod', node: 'host-1', index: 0, force: false }),
      ],
      20,
    ));

  test('a Pod confirmed as stopped was started again by an agent whose disk had not heard of its deletion', () =>
    unbroken(
      2,
      [
        after(1, daemonSet('app:slow1')),
        after(0.02, {
          kind: 'kill agent',
          node: 'host-1',
          doom: { deed: 5, side: 'before' },
          downMs: 5 * SECOND,
          damagesCache: false,
        }),
        after(2.8, setImage('app:1')),
      ],
      20,
    ));

  test('a new copy started beside one whose agent had lost its cache', () =>
    unbroken(2, [
      after(1, daemonSet('app:stubborn', { graceSeconds: 10 })),
      after(10, {
        kind: 'kill agent',
        node: 'host-1',
        doom: KILLED,
        downMs: 60 * SECOND,
        damagesCache: true,
      }),
      after(12, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
    ]));

  test('a new copy started beside the one it waited for when both were orphaned', () =>
    unbroken(1, [
      after(1, daemonSet('app:stubborn', { graceSeconds: 30 })),
      after(10, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
      after(2, { kind: 'delete daemonset', name: 'alpha', policy: 'Orphan' }),
    ]));

  test('a coordinator whose clock was set back replaced all Pods at once', () =>
    unbroken(4, [
      after(1, daemonSet('app:1', { minReadySeconds: 5 })),
      after(30, { kind: 'jump clock', node: null, byMs: -3_600 * SECOND }),
      after(40, setImage('app:2')),
    ]));

  test('a restarted agent made its Pods look fresh, and a rollout went beyond its budget', () =>
    unbroken(5, [
      after(1, daemonSet('app:1', { minReadySeconds: 5 })),
      after(21, { kind: 'kill agent', node: 'host-5', doom: KILLED, downMs: SECOND, damagesCache: false }),
      after(8, setImage('app:stubborn')),
    ]));

  test('containers of a deleted Pod stayed when the engine was down at the hello of an agent that had lost its cache', () =>
    unbroken(1, [
      after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
      after(9, { kind: 'stop engine', node: 'host-1', forMs: 90 * SECOND, killsContainers: false }),
      after(1, { kind: 'kill agent', node: 'host-1', doom: KILLED, downMs: SECOND, damagesCache: true }),
      after(5, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
    ]));

  test('a Pod whose deletion a restore had undone ran on and was shown as ended', () =>
    unbroken(1, [
      after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' }),
      after(9, { kind: 'back up' }),
      after(5, { kind: 'delete pod', node: 'host-1', index: 0, force: false }),
      after(0.1, { kind: 'restore backup', back: 0, downMs: 10 * SECOND, confirmAfterMs: 5 * SECOND }),
    ]));

  test('a second restore undid what the host had said of a Pod that it had ended', () =>
    unbroken(
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
    unbroken(
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
    unbroken(1, [
      after(
        1,
        daemonSet('app:1', { strategy: { type: 'RollingUpdate', maxUnavailable: 0, maxSurge: '50%' } }),
      ),
      after(9, { kind: 'taint node', node: 'host-1', effect: 'NoSchedule' }),
      after(1, setImage('app:2')),
    ]));

  test('a Pod that its host had begun to end with its deleted Node did not run when the Node was there again', () =>
    unbroken(
      1,
      [
        after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:stubborn' }),
        after(9, { kind: 'delete node', node: 'host-1' }),
        after(0.5, { kind: 'stop agent', node: 'host-1', downMs: SECOND }),
      ],
      10,
    ));

  test('a host that had lost its cache named in its hello a Pod that had long gone: a restore kept it, and two copies ran', () =>
    unbroken(
      1,
      [
        after(1, daemonSet('app:1')),
        after(5, { kind: 'back up' }),
        after(1, { kind: 'kill agent', node: 'host-1', doom: KILLED, downMs: SECOND, damagesCache: true }),
        after(30, setImage('app:2')),
        after(30, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 5 * SECOND }),
      ],
      10,
    ));

  test('a Pod made after a restore, by a clock that was set back, was dropped as one that had ended before its host heard of it', () =>
    unbroken(
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
    unbroken(1, [
      after(1, daemonSet('app:1')),
      after(20, { kind: 'back up' }),
      after(1, setImage('app:2')),
      after(30, { kind: 'stop coordinator', downMs: 60 * SECOND }),
      after(1, { kind: 'kill agent', node: 'host-1', doom: KILLED, downMs: SECOND, damagesCache: true }),
      after(20, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 60 * SECOND }),
    ]));

  test('a copy that was orphaned before its host heard of it started beside the one it was made for', () =>
    unbroken(1, [
      after(1, daemonSet('app:stubborn', { graceSeconds: 30 })),
      after(9, { kind: 'cut cable', node: 'host-1', forMs: 30 * SECOND }),
      after(5, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
      after(5, { kind: 'delete daemonset', name: 'alpha', policy: 'Orphan' }),
    ]));

  test('a mirror was made again for ever for a deleted Node whose host was yet to hear of that', () =>
    unbroken(
      1,
      [
        after(1, { kind: 'write manifest', node: 'host-1', name: 'static-1', image: 'app:2' }),
        after(30, { kind: 'cut cable', node: 'host-1', forMs: 30 * SECOND }),
        after(1, { kind: 'delete node', node: 'host-1' }),
      ],
      3,
    ));

  test('a host whose disk had been full for long started a Pod of before beside its successor, of whom the engine alone knew', () =>
    unbroken(1, [
      after(1, daemonSet('app:1')),
      after(9, { kind: 'fill host disk', node: 'host-1', forMs: 90 * SECOND }),
      after(1, setImage('app:2')),
      after(20, { kind: 'kill agent', node: 'host-1', doom: KILLED, downMs: SECOND, damagesCache: false }),
      after(9, { kind: 'cut cable', node: 'host-1', forMs: 60 * SECOND }),
    ]));

  test('a Pod whose turn came before it had ever started made room for one that started beside its predecessor', () =>
    unbroken(
      1,
      [
        after(1, daemonSet('app:stubborn', { graceSeconds: 30 })),
        after(1, {
          kind: 'set host policy',
          policy: {
            soakSeconds: 0,
            approval: 'Automatic',
            maxFailed: null,
            deadlineSeconds: 120,
            action: 'Pause',
          },
          turns: { windowSeconds: null, confirmSeconds: 15, holdSeconds: null, prePulls: false },
        }),
        after(20, setImage('app:2')),
        after(8, setImage('app:3')),
      ],
      3,
    ));

  test('a deadline shorter than the old Pod’s grace failed good hosts, and took their Pods back', async () => {
    const outcomes = await outcomesOf(
      2,
      [
        after(1, daemonSet('app:stubborn', { graceSeconds: 60 })),
        after(1, {
          kind: 'set host policy',
          policy: {
            soakSeconds: 0,
            approval: 'Automatic',
            maxFailed: 0,
            deadlineSeconds: 30,
            action: 'RollBack',
          },
          turns: { windowSeconds: null, confirmSeconds: 15, holdSeconds: null, prePulls: false },
        }),
        after(30, setImage('app:2')),
        after(240, { kind: 'cut cable', node: 'host-1', forMs: SECOND }),
      ],
      3,
    );
    for (const { lines } of outcomes) {
      assert.ok(lines.some((line) => line.includes('begins its turn')));
      const broken = lines.filter((line) => /Rollout alpha .*(Failed|RolledBack)|taken back/.test(line));
      assert.deepEqual(broken, []);
    }
  });

  test('a host whose disk had been full started a Pod again that it had ended: what it held was never written', () =>
    unbroken(1, [
      after(1, daemonSet('app:1')),
      after(9, { kind: 'fill host disk', node: 'host-1', forMs: 20 * SECOND }),
      after(1, setImage('app:2')),
      after(60, { kind: 'kill agent', node: 'host-1', doom: KILLED, downMs: SECOND, damagesCache: false }),
    ]));

  test('a host with a full disk stopped a Pod for a turn that was nowhere written', () =>
    unbroken(1, [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set host policy', policy: PATIENT, turns: AT_ONCE }),
      after(60, { kind: 'fill host disk', node: 'host-1', forMs: 90 * SECOND }),
      after(1, setImage('app:2')),
      after(20, setImage('app:3')),
    ]));

  test('a Pod that was deleted after its host had given it back was given back again', () =>
    unbroken(
      2,
      [
        after(2, { kind: 'back up' }),
        after(10, { kind: 'create pod', name: 'bare-1', node: 'host-2', image: 'app:2' }),
        after(1, { kind: 'restore backup', back: 0, downMs: SECOND, confirmAfterMs: 150 * SECOND }),
        after(30, {
          kind: 'kill agent',
          node: 'host-2',
          doom: KILLED,
          downMs: 60 * SECOND,
          damagesCache: false,
        }),
        after(60, { kind: 'delete pod', node: 'host-2', index: 0, force: true }),
      ],
      3,
    ));

  test('a turn to a revision that was given up stayed with a Pod of the revision that came back', () =>
    unbroken(
      2,
      [
        after(1, daemonSet('app:1')),
        after(1, { kind: 'set host policy', policy: PATIENT, turns: AT_ONCE }),
        after(60, setImage('app:absent')),
        after(30, setImage('app:1')),
      ],
      3,
    ));

  test('a Pod whose host had lost what it was to confirm was unconfirmed for ever', () =>
    unbroken(
      1,
      [
        after(1, daemonSet('app:1')),
        after(1, { kind: 'set host policy', policy: PATIENT, turns: { ...AT_ONCE, confirmSeconds: 60 } }),
        after(60, setImage('app:2')),
        after(20, { kind: 'cut power', node: 'host-1', downMs: 10 * SECOND, damagesCache: true }),
      ],
      3,
    ));

  test('a revision failed at once for the time that its host had waited for the image of the one before', async () => {
    const policy: Policy = { ...PATIENT, maxFailed: 0, deadlineSeconds: 30, action: 'RollBack' };
    const outcomes = await outcomesOf(
      1,
      [
        after(1, daemonSet('app:1')),
        after(1, { kind: 'set host policy', policy, turns: { ...AT_ONCE, prePulls: true } }),
        after(60, setImage('app:absent')),
        after(100, setImage('app:slow2')),
      ],
      3,
    );
    for (const { lines } of outcomes) {
      const since = lines.slice(lines.findIndex((line) => line.includes('app:slow2')));
      const failures = since.filter((line) => line.endsWith('Rollout alpha changed: status (Failed)'));
      assert.deepEqual(failures, []);
    }
  });

  test('a Pod of the newer of two backups was dropped as ended by a host that had heard of the older one alone', () =>
    unbroken(
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
    unbroken(
      1,
      [
        after(20, { kind: 'stop engine', node: 'host-1', forMs: 8 * SECOND, killsContainers: false }),
        after(2, { kind: 'fill disk', forMs: 10 * SECOND }),
        after(0.1, { kind: 'stop agent', node: 'host-1', downMs: 0.5 * SECOND }),
      ],
      6,
    ));

  test('hosts that were late with a revision use none of the budget: the failure budget pays for them (as documented, kept)', () =>
    unbroken(
      3,
      [
        after(1, daemonSet('app:1')),
        after(1, { kind: 'set policy', policy: { ...PATIENT, maxFailed: 1, deadlineSeconds: 30 } }),
        after(60, setImage('app:broken')),
      ],
      3,
    ));

  test('nor do those that failed for want of the image, and keep their turn (as documented, kept)', () =>
    unbroken(
      3,
      [
        after(1, daemonSet('app:1')),
        after(1, {
          kind: 'set host policy',
          policy: { ...PATIENT, maxFailed: 1, deadlineSeconds: 30 },
          turns: { ...AT_ONCE, confirmSeconds: null, prePulls: true },
        }),
        after(60, setImage('app:absent')),
      ],
      3,
    ));

  test('a revision that was completed and is on its way again is what Pods of closed waves are made of (kept)', () =>
    unbroken(
      2,
      [
        after(1, daemonSet('app:1')),
        after(1, { kind: 'set policy', policy: { ...PATIENT, maxFailed: 1 } }),
        after(60, setImage('app:2')),
        after(0.5, { kind: 'cut cable', node: 'host-1', forMs: 90 * SECOND }),
        after(0.3, setImage('app:1')),
        after(35, { kind: 'delete pod', node: 'host-2', index: 0, force: false }),
      ],
      3,
    ));

  test('a revision that failed on all hosts of a wave, within the failure budget, goes no further by itself (as documented, kept)', () =>
    unbroken(
      2,
      [
        after(1, daemonSet('app:1')),
        after(1, { kind: 'set policy', policy: { ...PATIENT, soakSeconds: 60, maxFailed: 1 } }),
        after(30, setImage('app:2')),
        ...[10, 15, 15].map((seconds) =>
          after(seconds, { kind: 'end container', node: 'host-1', index: 0, code: 1 }),
        ),
      ],
      3,
    ));
});
