import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseAttempt } from '../../../agent/decisions/containers/log-attempt.js';
import {
  type AssignedPod,
  afterAssign,
  afterContainersRemoved,
  afterUnassign,
  desiredPodState,
  isUnassigned,
  podFromOrphanedContainers,
  stopDeadlineOf,
} from '../../../agent/decisions/pods/assigned-pod.js';
import { orphanedPodUids } from '../../../agent/decisions/pods/orphaned-containers.js';
import {
  isPredecessor,
  keepsPortFrom,
  startableAfterEndOf,
} from '../../../agent/decisions/pods/pod-predecessors.js';
import { statusEvents } from '../../../agent/decisions/pods/pod-status-events.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { qualityOfService } from '../../../shared/kube/pods/quality-of-service.js';
import { attempt } from '../../harness/pods/pod-views.js';

function podOf(meta: Partial<Pod['metadata']> = {}, grace?: number): Pod {
  const spec = { containers: [], ...(grace === undefined ? {} : { terminationGracePeriodSeconds: grace }) };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', uid: 'u', ...meta }, spec };
}

const given = (pod: Pod) => ({ uid: pod.metadata.uid ?? '', digest: 'd', pod });
const deleted = (deletionGracePeriodSeconds: number) =>
  podOf({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds });
const owned = (uid: string, owner: string) =>
  podOf({
    uid,
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: owner, controller: true }],
  });

const terminating = (pod: AssignedPod): AssignedPod => ({
  ...pod,
  lifecycle: { kind: 'terminating', deadline: 1, containersRemoved: false },
});
const handedOver = (pod: AssignedPod, replacedBy: string): AssignedPod => ({
  ...pod,
  lifecycle: { kind: 'handedOver', deadline: 9, containersRemoved: false, replacedBy },
});

describe('an assigned Pod', () => {
  test('is accepted once, however often it changes', () => {
    const first = afterAssign(undefined, given(podOf()), 5);
    const changed = afterAssign(first, given(podOf({ labels: { a: 'b' } })), 9);
    assert.deepEqual([changed.acceptedAt, desiredPodState(changed)], [5, { kind: 'run' }]);
  });

  test('has its grace period from the arrival of the deletion', () => {
    const held = afterAssign(undefined, given(deleted(30)), 1000);
    assert.deepEqual(desiredPodState(held), { kind: 'stop', deadline: 31_000 });
  });

  test('keeps its deadline when the same deletion arrives again, and takes a shorter one', () => {
    const held = afterAssign(undefined, given(deleted(30)), 1000);
    assert.equal(stopDeadlineOf(afterAssign(held, given(deleted(30)), 5000)), 31_000);
    assert.equal(stopDeadlineOf(afterAssign(held, given(deleted(5)), 5000)), 10_000);
  });

  test('has at least two seconds of grace, even with a grace period of 0', () => {
    assert.equal(stopDeadlineOf(afterAssign(undefined, given(deleted(0)), 0)), 2000);
  });

  test('ends with the grace period of its spec when it was removed from the desired state', () => {
    const held = afterUnassign(afterAssign(undefined, given(podOf({}, 7)), 0), 1000);
    assert.deepEqual([isUnassigned(held), stopDeadlineOf(held)], [true, 8000]);
  });

  test('keeps the nearer deadline when it is removed while it is being deleted', () => {
    const held = afterAssign(undefined, given(deleted(5)), 0);
    assert.equal(stopDeadlineOf(afterUnassign(held, 1000)), 5000);
  });

  test('keeps terminating when a restored backup does not contain its deletion', () => {
    const held = afterAssign(afterAssign(undefined, given(deleted(30)), 1000), given(podOf()), 2000);
    assert.deepEqual(
      [desiredPodState(held), isUnassigned(held)],
      [{ kind: 'stop', deadline: 31_000 }, false],
    );
  });

  test('keeps running when it was removed and returns in the same epoch: its Node was deleted and created again', () => {
    const [first, later] = ['one', 'two'].map((epoch) => ({ objectMac: { epoch, revision: 1, tag: '' } }));
    const gone = afterUnassign(afterAssign(undefined, { ...given(podOf()), ...first }, 0), 0, 'two');
    assert.deepEqual(desiredPodState(afterAssign(gone, { ...given(podOf()), ...later }, 1)), { kind: 'run' });
  });

  test('keeps the epoch of its removal when it is removed again without one', () => {
    const gone = afterUnassign(afterAssign(undefined, given(podOf()), 0), 0, 'one');
    const again = afterUnassign(gone, 1);
    assert.deepEqual(again.lifecycle, { ...gone.lifecycle, epoch: 'one' });
  });

  test('keeps terminating when it was removed and returns by a restore, until the coordinator removes it again', () => {
    const gone = afterUnassign(afterAssign(undefined, given(podOf()), 0), 0, 'one');
    const back = afterAssign(
      gone,
      { ...given(podOf()), objectMac: { epoch: 'two', revision: 1, tag: '' } },
      1,
    );
    assert.deepEqual(
      [desiredPodState(back), isUnassigned(back)],
      [{ kind: 'stop', deadline: 30_000 }, false],
    );
  });
});

describe('predecessors', () => {
  const successor = afterAssign(undefined, given(owned('new', 'ds')), 0);
  const old = (owner: string) => afterAssign(undefined, given(owned('old', owner)), 0);

  test('are removed Pods of the same owner', () => {
    assert.equal(isPredecessor(afterUnassign(old('ds'), 0), successor), true);
  });

  test('have the same controller, though the successor was orphaned meanwhile', () => {
    const orphan = afterAssign(successor, given(podOf({ uid: 'new' })), 0);
    assert.equal(isPredecessor(afterUnassign(old('ds'), 0), orphan), true);
  });

  test('have names of one prefix when the successor was orphaned before it arrived', () => {
    const prefixed = (uid: string, generateName: string) =>
      afterAssign(undefined, given(podOf({ uid, generateName })), 0);
    const gone = afterUnassign(prefixed('old', 'web-'), 0);
    assert.equal(isPredecessor(gone, prefixed('new', 'web-')), true);
    assert.equal(isPredecessor(gone, prefixed('new', 'other-')), false);
  });

  test('include Pods of which only containers are left, by their labels', () => {
    const labels = { 'everynode.dev/controller-uid': 'ds' };
    const left = podFromOrphanedContainers([{ ...attempt({}), labels }], 0);
    assert.equal(left && isPredecessor(afterUnassign(left, 0), successor), true);
  });

  test('include Pods that an earlier handover replaced and that still run, whatever Pods came between', () => {
    const first = handedOver(old('ds'), 'between');
    assert.equal(isPredecessor(first, successor), true);
    assert.equal(isPredecessor(afterContainersRemoved(first), successor), false);
    assert.equal(isPredecessor(handedOver(old('other'), 'between'), successor), false);
  });

  test('include Pods that a handover created and that the hub, after a newer handover, has not sent yet', () => {
    const ours = { ...old('ds'), digest: '' };
    assert.equal(isPredecessor(ours, successor), true);
    assert.equal(isPredecessor({ ...ours, digest: 'given' }, successor), false);
    assert.equal(isPredecessor({ ...old('other'), digest: '' }, successor), false);
    const next = { ...successor, digest: '' };
    assert.equal(isPredecessor(ours, next), false, 'that came by a turn, too');
    assert.equal(isPredecessor(ours, handedOver(successor, 'old')), false, 'whose place it takes');
  });

  test('are not Pods of another owner, not Pods still assigned, and not the Pod itself', () => {
    assert.equal(isPredecessor(afterUnassign(old('other'), 0), successor), false);
    assert.equal(isPredecessor(old('ds'), successor), false);
    assert.equal(isPredecessor(afterUnassign(successor, 0), successor), false);
  });
});

describe('the time when a Pod could start', () => {
  const uidsOf = (pods: AssignedPod[]) => pods.map(({ uid, startableAt }) => [uid, startableAt]);
  const one = (uid: string, change: Partial<AssignedPod> = {}): AssignedPod => ({
    ...afterAssign(undefined, given(owned(uid, 'ds')), 0),
    ...change,
  });
  const first = handedOver(one('first'), 'second');

  test('is when its predecessor has ended', () => {
    assert.deepEqual(uidsOf(startableAfterEndOf(first, [first, one('second')], 7)), [['second', 7]]);
    assert.deepEqual(uidsOf(startableAfterEndOf(one('second'), [first, one('second')], 7)), []);
  });

  test('is not when a Pod in between ended that never started', () => {
    const second = handedOver(one('second'), 'third');
    const all = [first, second, one('third')];
    assert.deepEqual(uidsOf(startableAfterEndOf(second, all, 5)), []);
    const left = [first, afterContainersRemoved(second), one('third')];
    assert.deepEqual(uidsOf(startableAfterEndOf(first, left, 7)), [['third', 7]]);
  });

  test('is when a removed predecessor has ended', () => {
    const gone = afterUnassign(one('first'), 0);
    assert.deepEqual(uidsOf(startableAfterEndOf(gone, [gone, one('second')], 7)), [['second', 7]]);
  });

  test('is kept, whatever the hub sends about the Pod later', () => {
    const again = afterAssign(one('second', { startableAt: 7 }), given(owned('second', 'ds')), 9);
    assert.equal(again.startableAt, 7);
  });
});

describe('orphaned containers', () => {
  test('are Pods that only the engine knows', () => {
    assert.deepEqual(
      orphanedPodUids([attempt({}), attempt({ name: 'side' })], () => false),
      ['uid'],
    );
    assert.deepEqual(
      orphanedPodUids([attempt({})], (uid) => uid === 'uid'),
      [],
    );
  });

  test('can be ended by the information in their labels', () => {
    const container = { ...attempt({}), labels: { 'everynode.dev/grace-seconds': '7' } };
    const held = podFromOrphanedContainers([container], 0);
    assert.deepEqual([held?.pod.metadata.name, held?.pod.spec.terminationGracePeriodSeconds], ['pod', 7]);
  });
});

describe('the attempt of a requested log', () => {
  const [first, second] = [attempt({ state: 'exited' }), attempt({ attempt: 1 })];

  test('is the newest that has started', () => {
    const waiting = attempt({ attempt: 2, state: 'created' });
    assert.deepEqual(chooseAttempt([first, second, waiting], 'app', false), { kind: 'attempt', id: 'app-1' });
  });

  test('with previous, is the attempt before it that ended', () => {
    assert.deepEqual(chooseAttempt([first, second], 'app', true), { kind: 'attempt', id: 'app-0' });
  });

  test("is rejected with the kubelet's message when there is none", () => {
    assert.deepEqual(chooseAttempt([second], 'app', true), {
      kind: 'none',
      message: 'previous terminated container "app" in pod "pod" not found',
    });
    assert.deepEqual(chooseAttempt([attempt({ state: 'created' })], 'app', false), {
      kind: 'none',
      message: 'container "app" in pod "pod" is waiting to start: ContainerCreating',
    });
  });
});

describe('Events from a status', () => {
  const pod = { ...podOf({ namespace: 'ns' }), spec: { containers: [{ name: 'app', image: 'a:1' }] } };
  const waiting = (reason: string, message = 'why') => ({
    containerStatuses: [
      {
        name: 'app',
        ready: false,
        restartCount: 0,
        image: '',
        imageID: '',
        state: { waiting: { reason, message } },
      },
    ],
  });
  const texts = (reason: string) =>
    statusEvents(pod, undefined, waiting(reason)).map(
      (event) => `${event.type} ${event.reason}: ${event.message}`,
    );

  for (const [reason, expected] of [
    ['ContainerCreating', []],
    [
      'ErrImagePull',
      ['Warning Failed: Failed to pull image "a:1": why', 'Warning Failed: Error: ErrImagePull'],
    ],
    [
      'ImagePullBackOff',
      ['Normal BackOff: Back-off pulling image "a:1"', 'Warning Failed: Error: ImagePullBackOff'],
    ],
    ['ErrImageNeverPull', ['Warning ErrImageNeverPull: why', 'Warning Failed: Error: ErrImageNeverPull']],
    ['CreateContainerError', ['Warning Failed: Error: why']],
    ['CrashLoopBackOff', ['Warning BackOff: Back-off restarting failed container app in pod p_ns(u)']],
  ] as const) {
    test(`${reason}: ${expected.length} events`, () => assert.deepEqual(texts(reason), expected));
  }

  test('a repeated status emits no Event again', () => {
    const status = waiting('CrashLoopBackOff');
    assert.deepEqual(statusEvents(pod, status, status), []);
  });
});

describe('the quality of service class', () => {
  const both = { cpu: '1', memory: '1Gi' };
  for (const [name, resources, expected] of [
    ['nothing named', {}, 'BestEffort'],
    ['a request', { requests: { cpu: '1' } }, 'Burstable'],
    ['limits of both resources', { limits: both }, 'Guaranteed'],
    ['limits above requests', { limits: both, requests: { cpu: '500m', memory: '1Gi' } }, 'Burstable'],
    [
      'equal quantities in different notation',
      { limits: both, requests: { cpu: '1000m', memory: '1024Mi' } },
      'Guaranteed',
    ],
  ] as const) {
    test(`${name}: ${expected}`, () => {
      assert.equal(qualityOfService({ containers: [{ name: 'a', image: 'a', resources }] }), expected);
    });
  }
});

describe('a host port', () => {
  const ports = [{ containerPort: 80, hostPort: 80 }];
  const at = (uid: string, acceptedAt: number): AssignedPod => {
    const pod = podOf({ uid });
    pod.spec.containers = [{ name: 'app', image: 'app:1', ports }];
    return afterAssign(undefined, given(pod), acceptedAt);
  };

  test('belongs to the Pod that claimed it first', () => {
    assert.equal(keepsPortFrom(at('a', 0), at('b', 1)), true);
    assert.equal(keepsPortFrom(at('b', 1), at('a', 0)), false);
    assert.equal(keepsPortFrom(at('a', 0), at('b', 0)), true);
    assert.equal(keepsPortFrom(at('b', 0), at('a', 0)), false);
  });

  test('is waited for while the owning Pod terminates', () => {
    const leaving = terminating(at('a', 0));
    assert.equal(keepsPortFrom(leaving, at('b', 1)), false);
    assert.equal(isPredecessor(leaving, at('b', 1)), true);
  });

  test('is free when its containers are gone, though the hub has not removed the Pod yet', () => {
    const ended = afterContainersRemoved(terminating(at('a', 0)));
    assert.equal(isPredecessor(ended, at('b', 1)), false);
  });
});
