/** The Pod's status, case by case. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podStatus } from '../../../agent/decisions/pods/agent-pod-status.js';
import type { PodView } from '../../../agent/decisions/pods/pod-view.js';
import type { PodStatus } from '../../../shared/kube/pods/pod-types.js';
import { attempt, failure, sandbox, viewOf } from '../../harness/pods/pod-views.js';

const NOW = 1_000_000;
const TIME = '1970-01-01T00:16:40Z';

function statusOf(view: PodView, previous?: PodStatus): PodStatus {
  return podStatus(view, {
    engine: 'docker',
    hostIP: '10.0.0.1',
    ...(previous ? { previous } : {}),
  });
}

function containerOf(view: PodView) {
  return statusOf(view).containerStatuses?.[0];
}

const ended = (changes: Parameters<typeof attempt>[0] = {}) =>
  attempt({ state: 'exited', exitCode: 1, finishedAt: NOW, ...changes });

describe('container state', () => {
  test('a container that never started: ContainerCreating', () => {
    assert.deepEqual(containerOf(viewOf({})), {
      name: 'app',
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: {},
      ready: false,
      restartCount: 0,
      image: 'app:1',
      imageID: '',
      started: false,
    });
  });

  test('running: ready, with its id and digest', () => {
    assert.deepEqual(containerOf(viewOf({ containers: [attempt({})] })), {
      name: 'app',
      state: { running: { startedAt: TIME } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: 'docker.io/library/app:1',
      imageID: 'sha256:app',
      containerID: 'docker://app-0',
      started: true,
    });
  });

  test('running again: the previous termination is the last state', () => {
    const status = containerOf(viewOf({ containers: [attempt({ attempt: 1 }), ended()] }));
    assert.deepEqual(
      [status?.restartCount, status?.lastState?.terminated],
      [1, { exitCode: 1, reason: 'Error', startedAt: TIME, finishedAt: TIME, containerID: 'docker://app-0' }],
    );
  });

  for (const [reason, changes] of [
    ['Completed', { exitCode: 0 }],
    ['Error', { exitCode: 3 }],
    ['OOMKilled', { exitCode: 137, oomKilled: true }],
  ] as const) {
    test(`completed: ${reason}`, () => {
      const status = containerOf(viewOf({ containers: [ended(changes)], spec: { restartPolicy: 'Never' } }));
      assert.equal(status?.state?.terminated?.reason, reason);
    });
  }

  test('in back-off: CrashLoopBackOff, the termination is the last state', () => {
    const status = containerOf(viewOf({ containers: [ended({ attempt: 3, backoffMs: 40_000 })] }));
    assert.deepEqual(status?.state?.waiting, {
      reason: 'CrashLoopBackOff',
      message: 'back-off 40s restarting failed container=app pod=pod_default(uid)',
    });
    assert.deepEqual([status?.lastState?.terminated?.exitCode, status?.restartCount], [1, 3]);
  });

  test('in the longest back-off the delay is shown as 5m0s', () => {
    const status = containerOf(viewOf({ containers: [ended({ attempt: 9, backoffMs: 300_000 })] }));
    assert.match(status?.state?.waiting?.message ?? '', /^back-off 5m0s /);
  });

  test('without a back-off the termination is shown until the next start', () => {
    assert.equal(containerOf(viewOf({ containers: [ended()] }))?.state?.terminated?.exitCode, 1);
  });

  const failed = { reason: 'ErrImagePull', message: 'manifest unknown', failedAt: NOW, failures: 1 };

  test("a failed pull: ErrImagePull with the engine's message", () => {
    const status = containerOf(viewOf({ images: { app: { kind: 'failed', failed } } }));
    assert.deepEqual(status?.state?.waiting, { reason: 'ErrImagePull', message: 'manifest unknown' });
  });

  test('a failed pull, later: ImagePullBackOff', () => {
    const view = viewOf({ images: { app: { kind: 'failed', failed } }, now: NOW + 5000 });
    assert.deepEqual(containerOf(view)?.state?.waiting, {
      reason: 'ImagePullBackOff',
      message: 'Back-off pulling image "app:1": ErrImagePull: manifest unknown',
    });
  });

  test('a rejected create: its reason', () => {
    const status = containerOf(viewOf({ failures: { app: failure({}) } }));
    assert.deepEqual(status?.state?.waiting, { reason: 'CreateContainerError', message: 'no' });
  });

  test('a start that the engine rejected is a termination', () => {
    const containers = [attempt({ state: 'created', error: 'not found', attempt: 1, backoffMs: 10_000 })];
    const status = containerOf(viewOf({ containers }));
    assert.equal(status?.state?.waiting?.reason, 'CrashLoopBackOff');
    assert.deepEqual(
      [status?.lastState?.terminated?.reason, status?.lastState?.terminated?.exitCode],
      ['StartError', 128],
    );
  });
});

describe('phase', () => {
  const TWO = [
    { name: 'app', image: 'app:1' },
    { name: 'side', image: 'side:1' },
  ];
  const side = (changes: Parameters<typeof attempt>[0] = {}) => attempt({ name: 'side', ...changes });
  const cases: [name: string, expected: string, changes: Parameters<typeof viewOf>[0]][] = [
    ['nothing started', 'Pending', {}],
    ['one of two containers started', 'Pending', { containers: [attempt({})] }],
    ['both run', 'Running', { containers: [attempt({}), side()] }],
    [
      'one container in back-off',
      'Running',
      { containers: [ended({ attempt: 2, backoffMs: 10_000 }), side()] },
    ],
    [
      'both containers crashed under Always',
      'Running',
      { containers: [ended(), side({ state: 'exited', exitCode: 1 })] },
    ],
    [
      'both containers completed under OnFailure',
      'Succeeded',
      {
        containers: [ended({ exitCode: 0 }), side({ state: 'exited', exitCode: 0 })],
        spec: { restartPolicy: 'OnFailure' },
      },
    ],
    [
      'one container failed under OnFailure',
      'Running',
      {
        containers: [ended({ exitCode: 1 }), side({ state: 'exited', exitCode: 0 })],
        spec: { restartPolicy: 'OnFailure' },
      },
    ],
    [
      'one container failed under Never',
      'Failed',
      {
        containers: [ended({ exitCode: 1 }), side({ state: 'exited', exitCode: 0 })],
        spec: { restartPolicy: 'Never' },
      },
    ],
    [
      'one container failed under Never, the other runs',
      'Running',
      { containers: [ended({ exitCode: 1 }), side()], spec: { restartPolicy: 'Never' } },
    ],
  ];
  for (const [name, expected, changes] of cases) {
    test(`${name}: ${expected}`, () => {
      const view = viewOf({ ...changes, spec: { containers: TWO, ...changes.spec } });
      assert.equal(statusOf(view).phase, expected);
    });
  }
});

describe('conditions', () => {
  const condition = (view: PodView, type: string, previous?: PodStatus) =>
    statusOf(view, previous).conditions?.find((each) => each.type === type);

  test('ready since its containers started, so that a restarted agent reports the same', () => {
    const view = viewOf({ containers: [attempt({ startedAt: NOW - 60_000 })] });
    assert.equal(condition(view, 'Ready')?.lastTransitionTime, '1970-01-01T00:15:40Z');
  });

  test("not ready, with the containers' names", () => {
    assert.deepEqual(condition(viewOf({}), 'ContainersReady'), {
      type: 'ContainersReady',
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [app]',
      lastProbeTime: null,
      lastTransitionTime: TIME,
    });
  });

  test('a completed Pod is not ready because it completed', () => {
    const view = viewOf({ containers: [ended({ exitCode: 0 })], spec: { restartPolicy: 'Never' } });
    assert.deepEqual(
      [condition(view, 'Ready')?.reason, condition(view, 'Initialized')?.reason],
      ['PodCompleted', 'PodCompleted'],
    );
  });

  test('the transition time is kept while the status is the same', () => {
    const previous = statusOf(viewOf({}));
    const later = condition(viewOf({ now: NOW + 60_000 }), 'Ready', previous);
    assert.equal(later?.lastTransitionTime, TIME);
  });

  test('a Pod that waits for the end of its predecessor is not initialized, with that reason', () => {
    const waits = viewOf({ waitsForPredecessor: true });
    assert.equal(statusOf(waits).startTime, undefined);
    assert.deepEqual(
      [condition(waits, 'PodReadyToStartContainers')].map((each) => [each?.status, each?.reason]),
      [['False', 'WaitsForPredecessor']],
    );
    const begins = { ...viewOf({ acceptedAt: NOW - 60_000 }), startableAt: NOW };
    assert.equal(statusOf(begins).startTime, TIME);
    assert.equal(condition(begins, 'PodReadyToStartContainers', statusOf(waits))?.reason, undefined);
  });

  test('a Pod on a host is scheduled, however it was assigned', () => {
    assert.equal(condition(viewOf({}), 'PodScheduled')?.status, 'True');
  });
});

describe('addresses', () => {
  test('with several containers the sandbox has the Pod address', () => {
    const view = viewOf({ containers: [sandbox({ ip: '172.17.0.2' }), attempt({})] });
    assert.deepEqual(statusOf(view).podIPs, [{ ip: '172.17.0.2' }]);
  });

  test("on the host network the Pod address is the host's", () => {
    const view = viewOf({ containers: [attempt({})], spec: { hostNetwork: true } });
    assert.deepEqual([statusOf(view).podIP, statusOf(view).hostIP], ['10.0.0.1', '10.0.0.1']);
  });
});
