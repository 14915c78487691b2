/** What the simulation found in rollouts by a policy, and in turns: short histories, each with what went wrong. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HandoverRules, Policy } from '../histories/history.js';
import {
  after,
  assertNoViolation,
  assertNoViolationIn,
  daemonSet,
  outcomesOf,
  SECOND,
  setImage,
} from './case-builders.js';

/** Nothing holds it up, and nothing fails it. */
const PATIENT: Policy = {
  ...{ soakSeconds: 0, approval: 'Automatic', maxFailed: null, deadlineSeconds: 120, action: 'Pause' },
};
/** The host replaces the Pod as soon as it has the image. */
const AT_ONCE: HandoverRules = {
  windowSeconds: null,
  confirmSeconds: 15,
  lockSeconds: null,
  prePulls: false,
};

describe('the simulation found', () => {
  test('a Pod whose turn came before it had ever started made room for one that started beside its predecessor', () =>
    assertNoViolation(
      1,
      [
        after(1, daemonSet('app:stubborn', { graceSeconds: 30 })),
        after(1, {
          kind: 'set host policy',
          policy: PATIENT,
          turns: AT_ONCE,
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
          policy: { ...PATIENT, maxFailed: 0, deadlineSeconds: 30, action: 'RollBack' },
          turns: AT_ONCE,
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

  test('a host with a full disk stopped a Pod for a turn that was nowhere written', () =>
    assertNoViolation(1, [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set host policy', policy: PATIENT, turns: AT_ONCE }),
      after(60, { kind: 'fill host disk', node: 'host-1', forMs: 90 * SECOND }),
      after(1, setImage('app:2')),
      after(20, setImage('app:3')),
    ]));

  test('a turn to a revision that was given up stayed with a Pod of the revision that came back', () =>
    assertNoViolation(
      2,
      [
        after(1, daemonSet('app:1')),
        after(1, { kind: 'set host policy', policy: PATIENT, turns: AT_ONCE }),
        after(60, setImage('app:absent')),
        after(30, setImage('app:1')),
      ],
      3,
    ));

  test('a host went by the time that the coordinator had shown before it was set back, and found its windows over for ever', () =>
    assertNoViolation(
      1,
      [
        after(1, daemonSet('app:1')),
        after(1, { kind: 'set host policy', policy: PATIENT, turns: { ...AT_ONCE, windowSeconds: 60 } }),
        after(20, { kind: 'jump clock', node: null, byMs: -1_767_000_000 * SECOND }),
        after(20, setImage('app:2')),
      ],
      3,
    ));

  test('a Pod that was orphaned while its host had a turn kept that for ever', () =>
    assertNoViolation(
      1,
      [
        after(1, daemonSet('app:1')),
        after(1, { kind: 'set host policy', policy: PATIENT, turns: AT_ONCE }),
        after(60, setImage('app:absent')),
        after(30, { kind: 'delete daemonset', name: 'alpha', policy: 'Orphan' }),
      ],
      3,
    ));

  test('a Pod that was orphaned after its host had begun its turn in the dark was collected', async () => {
    const outcomes = await outcomesOf(
      1,
      [
        after(1, daemonSet('app:1')),
        after(1, { kind: 'set host policy', policy: PATIENT, turns: { ...AT_ONCE, lockSeconds: 30 } }),
        after(20, { kind: 'busy host', node: 'host-1', forMs: 60 * SECOND }),
        after(3, setImage('app:2')),
        after(5, { kind: 'cut cable', node: 'host-1', forMs: 90 * SECOND }),
        after(1, { kind: 'delete daemonset', name: 'alpha', policy: 'Orphan' }),
      ],
      3,
    );
    for (const { lines } of outcomes) {
      assert.ok(lines.some((line) => line.includes('begins its turn')));
      assert.equal(lines.filter((line) => /Pod alpha-\w+ removed/.test(line)).length, 1, 'the old one alone');
    }
  });

  test('a Pod whose host had lost what it was to confirm was unconfirmed for ever', () =>
    assertNoViolation(
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

  test('hosts that were late with a revision use none of the budget: the failure budget pays for them (as documented, kept)', () =>
    assertNoViolation(
      3,
      [
        after(1, daemonSet('app:1')),
        after(1, { kind: 'set policy', policy: { ...PATIENT, maxFailed: 1, deadlineSeconds: 30 } }),
        after(60, setImage('app:broken')),
      ],
      3,
    ));

  test('nor do those that failed for want of the image, and keep their turn (as documented, kept)', () =>
    assertNoViolation(
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
    assertNoViolation(
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
    assertNoViolation(
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

  test('a Pod given back after a restore is of a later revision and is replaced (as documented, kept)', () =>
    assertNoViolationIn({
      ...{ seed: 'everything-100073', nodes: 1, speed: 0 },
      steps: [
        after(0.1, daemonSet('app:1')),
        after(0.1, {
          kind: 'set host policy',
          policy: { ...PATIENT, soakSeconds: 10, approval: 'Manual', maxFailed: 0 },
          turns: { windowSeconds: 60, confirmSeconds: null, lockSeconds: null, prePulls: true },
        }),
        after(0.24, { kind: 'back up' }),
        after(3.673, setImage('app:3')),
        after(0.004, { kind: 'restore backup', back: 0, downMs: 5_507, confirmAfterMs: 60 * SECOND }),
      ],
    }));

  test('of a wave whose only Pod is to go for good, a percentage is of that one (as documented, kept)', () =>
    assertNoViolation(
      3,
      [
        after(1, daemonSet('app:1', { strategy: { type: 'RollingUpdate', maxUnavailable: '50%' } })),
        after(1, { kind: 'set host policy', policy: PATIENT, turns: { ...AT_ONCE, windowSeconds: 100 } }),
        after(30, { kind: 'taint node', node: 'host-2', effect: 'NoSchedule' }),
        // Long before the next window, so that everybody knows.
        after(80, { kind: 'set selector', name: 'alpha', selector: 'b' }),
      ],
      3,
    ));

  test('a host that took its Pod back has failed at once, and uses no budget of its wave (as documented, kept)', async () => {
    const outcomes = await outcomesOf(
      3,
      [
        after(1, daemonSet('app:1')),
        after(1, {
          kind: 'set host policy',
          policy: { ...PATIENT, maxFailed: 1 },
          turns: { ...AT_ONCE, windowSeconds: 100 },
        }),
        // Just before the window closes: the next host has its turn in the next one.
        after(93, setImage('app:broken')),
      ],
      3,
    );
    for (const { lines } of outcomes) assert.ok(lines.some((line) => / takes alpha-\w+ back: /.test(line)));
  });

  test('a busy host begins its turn to the millisecond when it has put it off for long enough (as documented, kept)', () =>
    assertNoViolationIn({
      ...{ seed: 'turns-100163', nodes: 3, speed: 0 },
      steps: [
        after(0.038, daemonSet('app:broken', { name: 'beta', minReadySeconds: 5, graceSeconds: 10 })),
        after(3.572, { kind: 'reset connections', node: 'host-3' }),
        after(50.775, {
          kind: 'set host policy',
          policy: { ...PATIENT, soakSeconds: 10, maxFailed: 1, action: 'RollBack' },
          turns: { windowSeconds: null, confirmSeconds: 60, lockSeconds: 120, prePulls: false },
        }),
        after(58.566, { kind: 'busy host', node: 'host-3', forMs: 150 * SECOND }),
        after(2.481, daemonSet('app:absent', { minReadySeconds: 5, graceSeconds: 30, selector: 'a' })),
        after(11.163, { kind: 'kill coordinator', crashAt: { operation: 13, side: 'after' }, downMs: 298 }),
        after(0.163, { kind: 'set image', name: 'beta', image: 'app:stubborn' }),
      ],
    }));

  test('a Pod that was force-deleted while its host began its turn: the next one ran beside the successor, which the hub had yet to refuse', () =>
    assertNoViolationIn({
      ...{ seed: 'reverts-110061', nodes: 1, speed: 1 },
      steps: [
        after(0.1, daemonSet('app:stubborn', { graceSeconds: 30 })),
        after(0.1, {
          kind: 'set host policy',
          policy: { ...PATIENT, soakSeconds: 10, maxFailed: 0, deadlineSeconds: 30, action: 'RollBack' },
          turns: { windowSeconds: 60, confirmSeconds: 60, lockSeconds: 120, prePulls: false },
        }),
        after(0.121, { kind: 'spoil turn', node: 'host-1', by: 'cut', forMs: 150 * SECOND }),
        after(2.963, { kind: 'spoil turn', node: 'host-2', by: 'cut', forMs: 8 * SECOND }),
        after(0.225, setImage('app:3')),
        after(1.271, { kind: 'end container', node: 'host-1', index: 2, code: 1 }),
        after(0.015, { kind: 'delete pod', node: 'host-1', index: 1, force: true }),
        after(0.084, setImage('app:1')),
        after(0.514, daemonSet('app:slow1', { name: 'beta', graceSeconds: 10 })),
      ],
    }));

  test('the turn of a Pod that the host had evicted left its place empty for a moment: another was made there and ran beside the successor', () =>
    assertNoViolationIn({
      ...{ seed: 'everything-120210', nodes: 2, speed: 0 },
      steps: [
        after(
          0.1,
          daemonSet('app:1', { name: 'beta', strategy: { type: 'RollingUpdate', maxUnavailable: '50%' } }),
        ),
        after(0.1, {
          kind: 'set host policy',
          policy: { ...PATIENT, soakSeconds: 10, deadlineSeconds: 30 },
          turns: { windowSeconds: 100, confirmSeconds: 15, lockSeconds: null, prePulls: true },
        }),
        after(3 + 0.141, { kind: 'hang engine', node: 'host-2', forMs: 90 * SECOND }),
        after(33.75, { kind: 'end container', node: 'host-2', index: 3, code: 137 }),
        after(5.987, { kind: 'approve wave', name: 'alpha', wave: 'first' }),
        after(21.489, { kind: 'write manifest', node: 'host-1', name: 'static-2', image: 'app:1' }),
        after(4.622, { kind: 'evict pod', node: 'host-1', index: 2 }),
        after(0.419, { kind: 'set image', name: 'beta', image: 'app:2' }),
        after(16.873, { kind: 'stop coordinator', downMs: 600 }),
        after(0.809, { kind: 'starve host', node: 'host-1', of: 'disk', forMs: 60 * SECOND }),
        after(1.855, { kind: 'write manifest', node: 'host-2', name: 'static-2', image: 'app:1' }),
        after(0.002, {
          kind: 'create tolerant pod',
          name: 'bare-1',
          node: 'host-1',
          image: 'app:1',
          seconds: 60,
        }),
        after(9.612, { kind: 'set image', name: 'beta', image: 'app:slow2' }),
      ],
    }));
});
