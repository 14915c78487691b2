/** Faults that the simulation found in rollouts and handovers, each as a short history. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import type { HandoverRules, Policy } from '../histories/history.js';
import { after, daemonSet, outcomesNear, outcomesOf, SECOND, setImage } from './case-builders.js';
import { withWitness } from './case-witness.js';

/** A policy that does not delay or fail a rollout. */
const PATIENT: Policy = {
  ...{ soakSeconds: 0, approval: 'Automatic', maxFailed: null, deadlineSeconds: 120, action: 'Pause' },
};
/** A host starts the handover as soon as it has the image. */
const AT_ONCE: HandoverRules = {
  windowSeconds: null,
  confirmSeconds: 15,
  lockSeconds: null,
  prePulls: false,
};

describe('faults that the simulation found in rollouts', () => {
  test(
    'a Pod handed over before its first start does not let its successor run next to its predecessor',
    withWitness(
      [
        /begins its turn: (?<old>\S+) makes room for (?<next>\S+)/,
        /begins its turn: <next> makes room for (?<last>\S+)/,
        /Pod <next> removed/,
        /Pod <old> removed/,
        /host-1 +a container of <last> runs/,
      ],
      () =>
        outcomesOf(
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
        ),
    ),
  );

  test(
    'a progress deadline shorter than the old Pod’s grace period does not fail healthy hosts',
    withWitness(
      [
        /begins its turn: (?<old>\S+) makes room for (?<next>\S+)/,
        /Pod <next> changed: status \(Pending/,
        /Pod <old> changed: status \(Failed/,
        /a container of <next> runs/,
      ],
      async () => {
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
        return outcomes;
      },
    ),
  );

  test(
    'a host with a full disk does not stop a Pod for a handover that is not stored',
    withWitness(
      [
        /the disk is full/,
        { absent: /begins its turn/ },
        /handover could not be checked; retrying/,
        /"app:3"/,
        /withdrawal of a handover not stored/,
        /the disk has room/,
        /begins its turn/,
      ],
      () =>
        outcomesOf(1, [
          after(1, daemonSet('app:1')),
          after(1, { kind: 'set host policy', policy: PATIENT, turns: AT_ONCE }),
          after(60, { kind: 'fill host disk', node: 'host-1', forMs: 90 * SECOND }),
          after(1, setImage('app:2')),
          after(20, setImage('app:3')),
        ]),
    ),
  );

  test(
    'a withdrawn handover does not stay on a Pod when its revision becomes current again',
    withWitness(
      [
        /"app:absent"/,
        /Pod (?<old>\S+) changed: metadata/,
        { absent: /begins its turn/ },
        /"app:1"/,
        /Pod <old> changed: metadata/,
        /Rollout alpha changed: status \(Completed/,
      ],
      () =>
        outcomesOf(
          2,
          [
            after(1, daemonSet('app:1')),
            after(1, { kind: 'set host policy', policy: PATIENT, turns: AT_ONCE }),
            after(60, setImage('app:absent')),
            after(30, setImage('app:1')),
          ],
          3,
        ),
    ),
  );

  test(
    'a host uses the coordinator’s time after a clock step and still finds an open window',
    withWitness([/clock step on this machine/, /"app:2"/, /begins its turn/, /handover confirmed/], () =>
      outcomesOf(
        1,
        [
          after(1, daemonSet('app:1')),
          after(1, { kind: 'set host policy', policy: PATIENT, turns: { ...AT_ONCE, windowSeconds: 60 } }),
          after(20, { kind: 'jump clock', node: null, byMs: -1_767_000_000 * SECOND }),
          after(20, setImage('app:2')),
        ],
        3,
      ),
    ),
  );

  test(
    'a handover is withdrawn from a Pod that is orphaned before the handover starts',
    withWitness(
      [
        /"app:absent"/,
        /Pod (?<old>\S+) changed: metadata/,
        { absent: /begins its turn/ },
        /DaemonSet alpha removed/,
      ],
      () =>
        outcomesOf(
          1,
          [
            after(1, daemonSet('app:1')),
            after(1, { kind: 'set host policy', policy: PATIENT, turns: AT_ONCE }),
            after(60, setImage('app:absent')),
            after(30, { kind: 'delete daemonset', name: 'alpha', policy: 'Orphan' }),
          ],
          3,
        ),
    ),
  );

  test(
    'a Pod orphaned after its unreachable host started the handover is not garbage-collected',
    withWitness(
      [
        /"app:2"/,
        /"cut cable"/,
        /DaemonSet alpha removed/,
        /begins its turn: (?<old>\S+) makes room for (?<next>\S+)/,
        /handover stored .*"<next>"/,
        /Pod <old> removed/,
      ],
      async () => {
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
          assert.equal(
            lines.filter((line) => /Pod alpha-\w+ removed/.test(line)).length,
            1,
            'the old one alone',
          );
        }
        return outcomes;
      },
    ),
  );

  test(
    'a Pod whose host lost the pending confirmation does not stay unconfirmed',
    withWitness(
      [
        /begins its turn: (?<old>\S+) makes room for (?<next>\S+)/,
        { absent: /handover confirmed/ },
        /host-1 +power cut/,
        /host-1 +boots/,
        /desired cache is damaged/,
        /host-1 +a container of <next> runs/,
      ],
      () =>
        outcomesOf(
          1,
          [
            after(1, daemonSet('app:1')),
            after(1, { kind: 'set host policy', policy: PATIENT, turns: { ...AT_ONCE, confirmSeconds: 60 } }),
            after(60, setImage('app:2')),
            after(20, { kind: 'cut power', node: 'host-1', downMs: 10 * SECOND, damagesCache: true }),
          ],
          3,
        ),
    ),
  );

  test(
    'a revision does not fail for the time that its host waited for the previous image',
    withWitness(
      [
        /"app:absent"/,
        /Rollout alpha changed: status \(Failed/,
        /"app:slow2"/,
        /begins its turn/,
        /Rollout alpha changed: status \(Completed/,
      ],
      async () => {
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
        return outcomes;
      },
    ),
  );

  test(
    'hosts that miss the progress deadline use the failure budget, not the update budget (as documented, kept)',
    withWitness(
      [
        /"app:broken"/,
        /Pod (?<old>\S+) marked for deletion/,
        { absent: /Rollout alpha changed: status \(Failed/ },
        /Pod \S+ marked for deletion/,
        /Rollout alpha changed: status \(Failed/,
      ],
      () =>
        outcomesOf(
          3,
          [
            after(1, daemonSet('app:1')),
            after(1, { kind: 'set policy', policy: { ...PATIENT, maxFailed: 1, deadlineSeconds: 30 } }),
            after(60, setImage('app:broken')),
          ],
          3,
        ),
    ),
  );

  test(
    'hosts that fail without the image keep their handover and use no update budget (as documented, kept)',
    withWitness(
      [
        /"app:absent"/,
        /Pod (?<old>\S+) changed: metadata/,
        { absent: /begins its turn/ },
        /Pod (?!<old>)\S+ changed: metadata/,
        { absent: /begins its turn/ },
        /Rollout alpha changed: status \(Failed/,
      ],
      () =>
        outcomesOf(
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
        ),
    ),
  );

  test(
    'closed waves create Pods of a completed revision that is rolled out again (kept)',
    withWitness(
      [
        /"app:2"/,
        /"cut cable"/,
        /"app:1"/,
        /agent disconnected .*"host-1"/,
        /"delete pod"/,
        /Pod \S+ created on host-2/,
      ],
      () =>
        outcomesOf(
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
        ),
    ),
  );

  test(
    'a revision that failed on all hosts of a wave stops there, within the failure budget (as documented, kept)',
    withWitness(
      [
        /ends with 1/,
        /ends with 1/,
        /Rollout alpha changed: status \(AwaitingHosts/,
        { absent: /created on host-2/ },
        /ends with 1/,
        { absent: /created on host-2/ },
        /everyone +faults end/,
      ],
      () =>
        outcomesOf(
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
        ),
    ),
  );

  test(
    'a Pod returned after a restore is of a later revision and is replaced (as documented, kept)',
    withWitness(
      [
        /begins its turn: (?<old>\S+) makes room for (?<next>\S+)/,
        /handover stored/,
        /the restore is not confirmed/,
        /returned Pod stored .*"<next>"/,
        /begins its turn: <next> makes room/,
      ],
      () =>
        outcomesNear({
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
        }),
    ),
  );

  test(
    'a percentage budget counts the only Pod of a wave when that Pod is removed (as documented, kept)',
    withWitness(
      [
        /"taint node"/,
        /"set selector"/,
        /Pod \S+ marked for deletion/,
        /Pod \S+ marked for deletion/,
        /Pod \S+ marked for deletion/,
      ],
      () =>
        outcomesOf(
          3,
          [
            after(1, daemonSet('app:1', { strategy: { type: 'RollingUpdate', maxUnavailable: '50%' } })),
            after(1, { kind: 'set host policy', policy: PATIENT, turns: { ...AT_ONCE, windowSeconds: 100 } }),
            after(30, { kind: 'taint node', node: 'host-2', effect: 'NoSchedule' }),
            // Long before the next window, so that every host receives the change in time.
            after(80, { kind: 'set selector', name: 'alpha', selector: 'b' }),
          ],
          3,
        ),
    ),
  );

  test(
    'a host that reverted its Pod has failed and uses no update budget of its wave (as documented, kept)',
    withWitness(
      [
        /begins its turn: (?<old>\S+) makes room for (?<next>\S+)/,
        /takes <next> back: NotReady/,
        /begins its turn: \S+ makes room for (?<last>\S+)/,
        /takes <last> back: NotReady/,
        /Rollout alpha changed: status \(Failed/,
      ],
      async () => {
        const outcomes = await outcomesOf(
          3,
          [
            after(1, daemonSet('app:1')),
            after(1, {
              kind: 'set host policy',
              policy: { ...PATIENT, maxFailed: 1 },
              turns: { ...AT_ONCE, windowSeconds: 100 },
            }),
            // Shortly before the window closes, so that the next host waits for the next window.
            after(93, setImage('app:broken')),
          ],
          3,
        );
        for (const { lines } of outcomes)
          assert.ok(lines.some((line) => / takes alpha-\w+ back: /.test(line)));
        return outcomes;
      },
    ),
  );

  test(
    'a busy host starts its handover exactly when its lock expires (as documented, kept)',
    withWitness(
      [/host-3 +is busy/, /"app:stubborn"/, { absent: /host-3 +is not busy/ }, /host-3 +begins its turn/],
      () =>
        outcomesNear({
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
            after(11.163, {
              kind: 'kill coordinator',
              crashAt: { operation: 13, side: 'after' },
              downMs: 298,
            }),
            after(0.163, { kind: 'set image', name: 'beta', image: 'app:stubborn' }),
          ],
        }),
    ),
  );

  test(
    'a Pod force-deleted while its handover starts gets no replacement next to the successor',
    withWitness(
      [
        /begins its turn: (?<old>\S+) makes room for (?<next>\S+)/,
        /Pod <old> removed/,
        /Pod (?!<next>)\S+ created on host-1/,
        /host-1 +a container of <next> runs/,
        /takes <next> back/,
      ],
      () =>
        outcomesNear({
          ...{ seed: 'reverts-110063', nodes: 1, speed: 1 },
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
        }),
    ),
  );

  test(
    'a handover of an evicted Pod leaves no moment in which a replacement can start next to the successor',
    withWitness(
      [
        /"evict pod"/,
        /Pod \S+ marked for deletion/,
        /"app:2"/,
        /begins its turn: (?<old>\S+) makes room for (?<next>\S+)/,
        /Pod <old> marked for deletion/,
        /Pod <next> created on host-1/,
      ],
      () =>
        outcomesNear({
          ...{ seed: 'everything-120210', nodes: 2, speed: 0 },
          steps: [
            after(
              0.1,
              daemonSet('app:1', {
                name: 'beta',
                strategy: { type: 'RollingUpdate', maxUnavailable: '50%' },
              }),
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
        }),
    ),
  );
});
