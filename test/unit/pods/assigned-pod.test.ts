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

describe('a Pod that is held', () => {
  test('is accepted once, however often it changes', () => {
    const first = afterAssign(undefined, given(podOf()), 5);
    const changed = afterAssign(first, given(podOf({ labels: { a: 'b' } })), 9);
    assert.deepEqual([changed.acceptedAt, desiredPodState(changed)], [5, { kind: 'run' }]);
  });

  test('is given its grace from the arrival of the deletion', () => {
    const held = afterAssign(undefined, given(deleted(30)), 1000);
    assert.deepEqual(desiredPodState(held), { kind: 'stop', deadline: 31_000 });
  });

  test('keeps its deadline when the same deletion comes again, and takes a shorter one', () => {
    const held = afterAssign(undefined, given(deleted(30)), 1000);
    assert.equal(stopDeadlineOf(afterAssign(held, given(deleted(30)), 5000)), 31_000);
    assert.equal(stopDeadlineOf(afterAssign(held, given(deleted(5)), 5000)), 10_000);
  });

  test('gets two seconds even with a grace of none', () => {
    assert.equal(stopDeadlineOf(afterAssign(undefined, given(deleted(0)), 0)), 2000);
  });

  test('when gone, ends with the grace of its spec', () => {
    const held = afterUnassign(afterAssign(undefined, given(podOf({}, 7)), 0), 1000);
    assert.deepEqual([isUnassigned(held), stopDeadlineOf(held)], [true, 8000]);
  });

  test('when gone while it is being deleted, keeps the nearer deadline', () => {
    const held = afterAssign(undefined, given(deleted(5)), 0);
    assert.equal(stopDeadlineOf(afterUnassign(held, 1000)), 5000);
  });

  test('goes on ending when a restored backup knows nothing of its deletion', () => {
    const held = afterAssign(afterAssign(undefined, given(deleted(30)), 1000), given(podOf()), 2000);
    assert.deepEqual(
      [desiredPodState(held), isUnassigned(held)],
      [{ kind: 'stop', deadline: 31_000 }, false],
    );
  });

  test('that was gone and comes back in the same epoch runs on: its Node was deleted, and is there again', () => {
    const [first, later] = ['one', 'two'].map((epoch) => ({ objectMac: { epoch, revision: 1, tag: '' } }));
    const gone = afterUnassign(afterAssign(undefined, { ...given(podOf()), ...first }, 0), 0, 'two');
    assert.deepEqual(desiredPodState(afterAssign(gone, { ...given(podOf()), ...later }, 1)), { kind: 'run' });
  });

  test('that was gone and comes back by a restore goes on ending, and is for the coordinator to let go again', () => {
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

  test('are gone Pods of the same owner', () => {
    assert.equal(isPredecessor(afterUnassign(old('ds'), 0), successor), true);
  });

  test('are those of the same maker, though the successor was orphaned meanwhile', () => {
    const orphan = afterAssign(successor, given(podOf({ uid: 'new' })), 0);
    assert.equal(isPredecessor(afterUnassign(old('ds'), 0), orphan), true);
  });

  test('are those with names of one prefix, when the successor was orphaned before it came here', () => {
    const prefixed = (uid: string, generateName: string) =>
      afterAssign(undefined, given(podOf({ uid, generateName })), 0);
    const gone = afterUnassign(prefixed('old', 'web-'), 0);
    assert.equal(isPredecessor(gone, prefixed('new', 'web-')), true);
    assert.equal(isPredecessor(gone, prefixed('new', 'other-')), false);
  });

  test('are those of which only containers are left, by their labels', () => {
    const labels = { 'everynode.dev/controller-uid': 'ds' };
    const left = podFromOrphanedContainers([{ ...attempt({}), labels }], 0);
    assert.equal(left && isPredecessor(afterUnassign(left, 0), successor), true);
  });

  test('are those that made room by an earlier turn and have not ended, whoever stands in between', () => {
    const first = handedOver(old('ds'), 'between');
    assert.equal(isPredecessor(first, successor), true);
    assert.equal(isPredecessor(afterContainersRemoved(first), successor), false);
    assert.equal(isPredecessor(handedOver(old('other'), 'between'), successor), false);
  });

  test('are those that came by a turn and that the hub, which made another meanwhile, has not given yet', () => {
    const ours = { ...old('ds'), digest: '' };
    assert.equal(isPredecessor(ours, successor), true);
    assert.equal(isPredecessor({ ...ours, digest: 'given' }, successor), false);
    assert.equal(isPredecessor({ ...old('other'), digest: '' }, successor), false);
    const next = { ...successor, digest: '' };
    assert.equal(isPredecessor(ours, next), false, 'that came by a turn, too');
    assert.equal(isPredecessor(ours, handedOver(successor, 'old')), false, 'whose place it takes');
  });

  test('are not those of another owner, nor those still held, nor the Pod itself', () => {
    assert.equal(isPredecessor(afterUnassign(old('other'), 0), successor), false);
    assert.equal(isPredecessor(old('ds'), successor), false);
    assert.equal(isPredecessor(afterUnassign(successor, 0), successor), false);
  });
});

describe('when a Pod could begin', () => {
  const uidsOf = (pods: AssignedPod[]) => pods.map(({ uid, startableAt }) => [uid, startableAt]);
  const one = (uid: string, change: Partial<AssignedPod> = {}): AssignedPod => ({
    ...afterAssign(undefined, given(owned(uid, 'ds')), 0),
    ...change,
  });
  const first = handedOver(one('first'), 'second');

  test('is when the one whose place it takes has ended', () => {
    assert.deepEqual(uidsOf(startableAfterEndOf(first, [first, one('second')], 7)), [['second', 7]]);
    assert.deepEqual(uidsOf(startableAfterEndOf(one('second'), [first, one('second')], 7)), []);
  });

  test('is not when the one in between has, which never began', () => {
    const second = handedOver(one('second'), 'third');
    const all = [first, second, one('third')];
    assert.deepEqual(uidsOf(startableAfterEndOf(second, all, 5)), []);
    const left = [first, afterContainersRemoved(second), one('third')];
    assert.deepEqual(uidsOf(startableAfterEndOf(first, left, 7)), [['third', 7]]);
  });

  test('is when one that was let go of has', () => {
    const gone = afterUnassign(one('first'), 0);
    assert.deepEqual(uidsOf(startableAfterEndOf(gone, [gone, one('second')], 7)), [['second', 7]]);
  });

  test('is kept, whatever the hub still sends of it', () => {
    const again = afterAssign(one('second', { startableAt: 7 }), given(owned('second', 'ds')), 9);
    assert.equal(again.startableAt, 7);
  });
});

describe('leftovers', () => {
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

  test('can be ended by what their labels say', () => {
    const container = { ...attempt({}), labels: { 'everynode.dev/grace-seconds': '7' } };
    const held = podFromOrphanedContainers([container], 0);
    assert.deepEqual([held?.pod.metadata.name, held?.pod.spec.terminationGracePeriodSeconds], ['pod', 7]);
  });
});

describe('the attempt whose log is meant', () => {
  const [first, second] = [attempt({ state: 'exited' }), attempt({ attempt: 1 })];

  test('is the newest that has started', () => {
    const waiting = attempt({ attempt: 2, state: 'created' });
    assert.deepEqual(chooseAttempt([first, second, waiting], 'app', false), { kind: 'attempt', id: 'app-1' });
  });

  test('with previous, the one that ended before', () => {
    assert.deepEqual(chooseAttempt([first, second], 'app', true), { kind: 'attempt', id: 'app-0' });
  });

  test("is refused in a kubelet's words when there is none", () => {
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

describe('events of a status', () => {
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

  test('nothing is said twice', () => {
    const status = waiting('CrashLoopBackOff');
    assert.deepEqual(statusEvents(pod, status, status), []);
  });
});

describe('quality of service', () => {
  const both = { cpu: '1', memory: '1Gi' };
  for (const [name, resources, expected] of [
    ['nothing named', {}, 'BestEffort'],
    ['a request', { requests: { cpu: '1' } }, 'Burstable'],
    ['limits of both', { limits: both }, 'Guaranteed'],
    ['limits above requests', { limits: both, requests: { cpu: '500m', memory: '1Gi' } }, 'Burstable'],
    ['equal in other words', { limits: both, requests: { cpu: '1000m', memory: '1024Mi' } }, 'Guaranteed'],
  ] as const) {
    test(`${name}: ${expected}`, () => {
      assert.equal(qualityOfService({ containers: [{ name: 'a', image: 'a', resources }] }), expected);
    });
  }
});

describe('a port of the host', () => {
  const ports = [{ containerPort: 80, hostPort: 80 }];
  const at = (uid: string, acceptedAt: number): AssignedPod => {
    const pod = podOf({ uid });
    pod.spec.containers = [{ name: 'app', image: 'app:1', ports }];
    return afterAssign(undefined, given(pod), acceptedAt);
  };

  test('is kept by who came first', () => {
    assert.equal(keepsPortFrom(at('a', 0), at('b', 1)), true);
    assert.equal(keepsPortFrom(at('b', 1), at('a', 0)), false);
    assert.equal(keepsPortFrom(at('a', 0), at('b', 0)), true);
    assert.equal(keepsPortFrom(at('b', 0), at('a', 0)), false);
  });

  test('is waited for when who has it leaves', () => {
    const leaving = terminating(at('a', 0));
    assert.equal(keepsPortFrom(leaving, at('b', 1)), false);
    assert.equal(isPredecessor(leaving, at('b', 1)), true);
  });

  test('is free when its containers are gone, though the hub has yet to let go of the Pod', () => {
    const ended = afterContainersRemoved(terminating(at('a', 0)));
    assert.equal(isPredecessor(ended, at('b', 1)), false);
  });
});
