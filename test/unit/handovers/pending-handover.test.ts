/** A host's record of a handover, step by step. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  afterBoot,
  afterConfirmation,
  afterHandoverAcknowledged,
  afterHandoverStart,
  afterRevertCleared,
  afterRevertStart,
  confirmationOf,
  effectivePod,
  pendingHandover,
  podsNeededBy,
} from '../../../agent/decisions/handovers/assigned-pod-handover.js';
import { openHandoverOf, revertOf } from '../../../agent/decisions/handovers/handover-record.js';
import {
  type AssignedPod,
  afterAssign,
  afterContainersRemoved,
  afterUnassign,
  desiredPodState,
  stopDeadlineOf,
  successorUidOf,
} from '../../../agent/decisions/pods/assigned-pod.js';
import { isPredecessor } from '../../../agent/decisions/pods/pod-predecessors.js';
import { HANDOVER_ANNOTATION, type HostHandover } from '../../../shared/kube/handovers/host-handover.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

const NOW = 1_000;
const REVERT = { reason: 'NotReady', message: 'not ready within 5 s' } as const;
const seal = { epoch: 'e', revision: 7, tag: 'm' };

const MAKER = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'web', uid: 'ds', controller: true };

function podOf(uid: string, image: string, turn?: HostHandover): Pod {
  const annotations = turn && { [HANDOVER_ANNOTATION]: JSON.stringify(turn) };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `web-${uid}`,
      namespace: 'shop',
      uid,
      ownerReferences: [MAKER],
      ...(annotations && { annotations }),
    },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image }], terminationGracePeriodSeconds: 4 },
  };
}

const TURN: HostHandover = { successor: podOf('new', 'app:2'), confirmSeconds: 5 };

function heldOf(pod: Pod, change: Partial<AssignedPod> = {}): AssignedPod {
  const uid = pod.metadata.uid ?? '';
  return { uid, digest: 'd', pod, objectMac: seal, acceptedAt: 0, lifecycle: { kind: 'running' }, ...change };
}

function begun(turn = TURN, old = heldOf(podOf('old', 'app:1', turn))) {
  return afterHandoverStart(old, turn, { now: NOW, linkWasLive: true, bootMark: 'boot-1' });
}

const imageOf = (held: AssignedPod) => effectivePod(held).pod.spec.containers[0]?.image;

describe('a handover that has started', () => {
  test('ends the old Pod by its own grace period, and the new Pod waits for that', () => {
    const { old, successor } = begun();
    assert.deepEqual(desiredPodState(old), { kind: 'stop', deadline: NOW + 4_000 });
    assert.deepEqual(desiredPodState(successor), { kind: 'run' });
    assert.equal(isPredecessor(old, successor), true);
    assert.equal(isPredecessor(afterContainersRemoved(old), successor), false);
    assert.equal(isPredecessor(successor, old), false);
  });

  test('is not started again, nor for a terminating Pod', () => {
    assert.equal(pendingHandover(begun().old), undefined);
    const pod = podOf('old', 'app:1', TURN);
    assert.deepEqual(pendingHandover(heldOf(pod))?.confirmSeconds, 5);
    assert.equal(
      pendingHandover(
        heldOf(pod, { lifecycle: { kind: 'terminating', deadline: 5, containersRemoved: false } }),
      ),
      undefined,
    );
    assert.equal(pendingHandover(afterUnassign(heldOf(pod), 0)), undefined);
  });

  test('is kept, whatever the hub sends about either Pod', () => {
    const { old, successor } = begun();
    const again = afterAssign(
      old,
      { uid: 'old', digest: 'x', pod: podOf('old', 'app:1'), objectMac: seal },
      NOW + 1,
    );
    assert.deepEqual([successorUidOf(again), stopDeadlineOf(again)], ['new', NOW + 4_000]);
    const known = afterAssign(
      successor,
      { uid: 'new', digest: 'y', pod: podOf('new', 'app:2'), objectMac: seal },
      NOW + 1,
    );
    assert.deepEqual([openHandoverOf(known)?.startedAt, known.acceptedAt], [NOW, NOW]);
  });

  test('keeps what a revert needs until the confirmation', () => {
    const { successor } = begun();
    const images = (held: AssignedPod) => podsNeededBy(held).map(({ spec }) => spec.containers[0]?.image);
    assert.deepEqual(images(successor), ['app:2', 'app:1']);
    assert.ok(openHandoverOf(afterHandoverAcknowledged(successor)), 'told, not confirmed');
    assert.ok(openHandoverOf(afterConfirmation(successor)), 'confirmed, not told');
    const settled = afterConfirmation(afterHandoverAcknowledged(successor));
    assert.deepEqual(settled.handover, { stage: 'confirmed' });
    assert.deepEqual([successor, settled].map(confirmationOf), [false, true]);
    assert.deepEqual(afterHandoverAcknowledged(afterConfirmation(successor)).handover, {
      stage: 'confirmed',
    });
  });

  test('without a confirmation is finished when it is reported', () => {
    const { successor } = begun({ successor: TURN.successor });
    assert.equal(afterHandoverAcknowledged(successor).handover, undefined);
  });
});

describe('a reverted handover', () => {
  const clearing = afterRevertStart(begun().successor, REVERT, NOW + 5_000);
  const back = afterRevertCleared(clearing);

  test('first ends all containers of the new revision, then runs the old one under its name', () => {
    assert.deepEqual(desiredPodState(clearing), { kind: 'stop', deadline: NOW + 9_000 });
    assert.equal(imageOf(clearing), 'app:2');
    assert.deepEqual(desiredPodState(back), { kind: 'run' });
    assert.equal(imageOf(back), 'app:1');
    const { uid, name, namespace } = effectivePod(back).pod.metadata;
    assert.deepEqual([uid, name, namespace], ['new', 'web-new', 'shop']);
  });

  test('is not confirmed or reverted twice, and is kept once it is reported', () => {
    assert.equal(afterConfirmation(back), back);
    assert.equal(afterRevertStart(back, REVERT, NOW + 9_000), back);
    assert.equal(imageOf(afterHandoverAcknowledged(back)), 'app:1');
  });

  test('is the revision that the next handover reverts to', () => {
    const bearing = { ...back, pod: podOf('new', 'app:2', { ...TURN, successor: podOf('third', 'app:3') }) };
    const next = pendingHandover(bearing);
    assert.ok(next);
    const { successor } = afterHandoverStart(bearing, next, {
      now: NOW + 20_000,
      linkWasLive: true,
      bootMark: 'boot-1',
    });
    assert.equal(imageOf(afterRevertCleared(afterRevertStart(successor, REVERT, 0))), 'app:1');
    assert.equal(openHandoverOf(successor)?.predecessor.pod, bearing.pod, 'the hub is shown what it gave');
  });

  test('ends like any Pod when it is deleted', () => {
    const pod = podOf('new', 'app:2');
    pod.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    const leaving = afterAssign(back, { uid: 'new', digest: 'z', pod }, NOW + 30_000);
    assert.equal(desiredPodState(leaving).kind, 'stop');
    assert.equal(imageOf(leaving), 'app:1', 'what runs is what is stopped');
    assert.equal(effectivePod(leaving).pod.metadata.deletionTimestamp, '2026-01-01T00:00:00Z');
  });
});

describe('a host that reboots before its new Pod is confirmed', () => {
  const boots = (held: AssignedPod, ...marks: string[]) =>
    marks.reduce((each, mark) => afterBoot(each, mark, NOW), held);

  test('counts boots of the host, not starts of the agent', () => {
    const { successor } = begun();
    assert.equal(boots(successor, 'boot-1'), successor);
    const once = boots(successor, 'boot-2', 'boot-2', 'boot-2');
    assert.deepEqual(openHandoverOf(once)?.boot, { mark: 'boot-2', reboots: 1 });
  });

  test('keeps the new Pod after two power cuts, and reverts before starting it after the third', () => {
    const { successor } = begun();
    const twice = boots(successor, 'boot-2', 'boot-3');
    assert.deepEqual(desiredPodState(twice), { kind: 'run' });
    const third = boots(twice, 'boot-4');
    assert.deepEqual(desiredPodState(third), { kind: 'stop', deadline: NOW + 4_000 });
    assert.equal(revertOf(third)?.reason, 'HostRebooted');
    assert.match(revertOf(third)?.message ?? '', /rebooted 3 times before it was confirmed/);
    assert.equal(imageOf(afterRevertCleared(third)), 'app:1');
    assert.equal(boots(third, 'boot-5'), third, 'decided once');
  });

  test('counts nothing where nothing needs a confirmation, or everything is confirmed', () => {
    const { confirmSeconds: _, ...plain } = TURN;
    const { successor } = begun(plain);
    assert.equal(boots(successor, 'boot-2'), successor);
    const confirmed = afterConfirmation(begun().successor);
    assert.equal(boots(confirmed, 'boot-2'), confirmed);
  });
});
