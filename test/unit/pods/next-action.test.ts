/** The next step of a Pod, case by case. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextAction } from '../../../agent/decisions/pods/pod-next-action.js';
import { attempt, failure, READY_IMAGES, sandbox, viewOf } from '../../harness/pods/pod-views.js';

const TWO = [
  { name: 'app', image: 'app:1' },
  { name: 'side', image: 'side:1' },
];
const NOW = 1_000_000;

describe('a starting Pod', () => {
  test('sets up volumes first', () => {
    assert.deepEqual(nextAction(viewOf({ volumes: { kind: 'unprepared' } })), { kind: 'prepare-volumes' });
  });

  test('retries an unavailable volume after its back-off', () => {
    const volumes = { kind: 'failed', failure: failure({ retryAt: NOW + 500 }) } as const;
    assert.deepEqual(nextAction(viewOf({ volumes })), { kind: 'wait', until: NOW + 500 });
    assert.deepEqual(nextAction(viewOf({ volumes, now: NOW + 500 })), { kind: 'prepare-volumes' });
  });

  test('then pulls the image', () => {
    assert.deepEqual(nextAction(viewOf({})), { kind: 'ensure-image', container: 'app' });
  });

  test('waits for a pull in progress', () => {
    assert.deepEqual(nextAction(viewOf({ images: { app: { kind: 'fetching' } } })), { kind: 'wait' });
  });

  test('then creates the first attempt, without a back-off', () => {
    assert.deepEqual(nextAction(viewOf({ images: READY_IMAGES })), {
      kind: 'create-container',
      container: 'app',
      attempt: 0,
      backoffMs: 0,
    });
  });

  test('then starts it', () => {
    assert.deepEqual(nextAction(viewOf({ containers: [attempt({ state: 'created' })] })), {
      kind: 'start-container',
      id: 'app-0',
      container: 'app',
      attempt: 0,
    });
  });

  test('then nothing', () => {
    assert.deepEqual(nextAction(viewOf({ containers: [attempt({})] })), { kind: 'wait' });
  });

  test('running containers skip the volume check: a restarted agent touches nothing', () => {
    const view = viewOf({ containers: [attempt({})], volumes: { kind: 'unprepared' } });
    assert.deepEqual(nextAction(view), { kind: 'wait' });
  });

  test('nothing starts while a predecessor still runs', () => {
    const view = viewOf({ images: READY_IMAGES, waitsForPredecessor: true });
    assert.deepEqual(nextAction(view), { kind: 'wait' });
  });

  test('a rejected create is retried only after its back-off', () => {
    const failures = { app: failure({ retryAt: NOW + 10_000 }) };
    assert.deepEqual(nextAction(viewOf({ images: READY_IMAGES, failures })), {
      kind: 'wait',
      until: NOW + 10_000,
    });
  });
});

describe('an exited container', () => {
  const ended = (changes: Parameters<typeof attempt>[0] = {}) =>
    attempt({ state: 'exited', exitCode: 1, finishedAt: NOW, ...changes });

  test('restarts at once the first time', () => {
    assert.deepEqual(nextAction(viewOf({ containers: [ended()], images: READY_IMAGES })), {
      kind: 'create-container',
      container: 'app',
      attempt: 1,
      backoffMs: 10_000,
    });
  });

  test('then restarts after the delay that it was created with', () => {
    const containers = [ended({ attempt: 1, backoffMs: 10_000 })];
    const view = { containers, images: READY_IMAGES };
    assert.deepEqual(nextAction(viewOf(view)), { kind: 'wait', until: NOW + 10_000 });
    assert.deepEqual(nextAction(viewOf({ ...view, now: NOW + 10_000 })), {
      kind: 'create-container',
      container: 'app',
      attempt: 2,
      backoffMs: 20_000,
    });
  });

  test('of another boot restarts at once', () => {
    const containers = [ended({ attempt: 4, backoffMs: 80_000, boot: 'boot-0' })];
    const action = nextAction(viewOf({ containers, images: READY_IMAGES }));
    assert.deepEqual([action.kind, 'backoffMs' in action && action.backoffMs], ['create-container', 10_000]);
  });

  test('that exited because of the engine restarts at once', () => {
    const containers = [ended({ attempt: 4, backoffMs: 80_000 })];
    const view = viewOf({ containers, images: READY_IMAGES, engineUpSince: NOW + 1, now: NOW + 2 });
    assert.equal(nextAction(view).kind, 'create-container');
  });

  for (const [restartPolicy, exitCode, kind] of [
    ['Always', 0, 'create-container'],
    ['Always', 1, 'create-container'],
    ['OnFailure', 0, 'wait'],
    ['OnFailure', 1, 'create-container'],
    ['Never', 0, 'wait'],
    ['Never', 1, 'wait'],
  ] as const) {
    test(`with code ${exitCode} under ${restartPolicy}: ${kind}`, () => {
      const containers = [ended({ exitCode })];
      assert.equal(
        nextAction(viewOf({ containers, images: READY_IMAGES, spec: { restartPolicy } })).kind,
        kind,
      );
    });
  }

  test('that could not be started counts as exited', () => {
    const containers = [attempt({ state: 'created', error: 'exec: "x": not found' })];
    assert.deepEqual(nextAction(viewOf({ containers, images: READY_IMAGES })), {
      kind: 'create-container',
      container: 'app',
      attempt: 1,
      backoffMs: 10_000,
    });
  });

  test('whose start was just rejected waits for its back-off only', () => {
    const containers = [attempt({ state: 'created', error: 'not found' })];
    const failures = { app: failure({ attempt: 0, retryAt: NOW + 10_000 }) };
    assert.equal(nextAction(viewOf({ containers, failures, images: READY_IMAGES })).kind, 'create-container');
  });

  test('keeps the newest two attempts, and older attempts are removed', () => {
    const containers = [attempt({ attempt: 2 }), ended({ attempt: 1 }), ended({ attempt: 0 })];
    assert.deepEqual(nextAction(viewOf({ containers })), { kind: 'remove-containers', ids: ['app-0'] });
  });

  test("does not block the start of the Pod's other containers", () => {
    const containers = [sandbox({}), ended({ attempt: 1, backoffMs: 10_000 })];
    const view = viewOf({ containers, images: { side: { kind: 'ready' } }, spec: { containers: TWO } });
    assert.deepEqual(nextAction(view), {
      kind: 'create-container',
      container: 'side',
      attempt: 0,
      backoffMs: 0,
      sandboxID: 'sandbox-0',
    });
  });
});

describe('a changed image', () => {
  const spec = { containers: [{ name: 'app', image: 'app:2' }] };

  test("stops the running container with the Pod's grace period", () => {
    const view = viewOf({ containers: [attempt({})], spec: { ...spec, terminationGracePeriodSeconds: 5 } });
    assert.deepEqual(nextAction(view), {
      kind: 'stop-containers',
      ids: ['app-0'],
      deadline: NOW + 5000,
      why: 'changed',
    });
  });

  test('starts the next attempt without back-off, even under Never', () => {
    const containers = [attempt({ state: 'exited', exitCode: 0, finishedAt: NOW })];
    const view = viewOf({ containers, images: READY_IMAGES, spec: { ...spec, restartPolicy: 'Never' } });
    assert.deepEqual(nextAction(view), {
      kind: 'create-container',
      container: 'app',
      attempt: 1,
      backoffMs: 0,
    });
  });
});

describe('a sandbox', () => {
  const spec = { containers: TWO };

  test('comes before the containers of a Pod that has several', () => {
    assert.deepEqual(nextAction(viewOf({ spec })), { kind: 'create-sandbox', attempt: 0, backoffMs: 0 });
  });

  test('that was created is started', () => {
    const view = viewOf({ spec, containers: [sandbox({ state: 'created' })] });
    assert.deepEqual(nextAction(view), {
      kind: 'start-container',
      id: 'sandbox-0',
      container: '',
      attempt: 0,
    });
  });

  test('that exited stops the containers, then is created again', () => {
    const dead = sandbox({ state: 'exited', exitCode: 137, finishedAt: NOW });
    const stop = nextAction(viewOf({ spec, containers: [dead, attempt({})] }));
    assert.deepEqual([stop.kind, 'why' in stop && stop.why], ['stop-containers', 'sandbox-lost']);
    const ended = attempt({ state: 'exited', exitCode: 0, finishedAt: NOW });
    assert.deepEqual(nextAction(viewOf({ spec, containers: [dead, ended] })), {
      kind: 'create-sandbox',
      attempt: 1,
      backoffMs: 10_000,
    });
  });

  test('that exited is not created again for completed containers', () => {
    const containers = [
      sandbox({ state: 'exited', exitCode: 137, finishedAt: NOW }),
      attempt({ state: 'exited', exitCode: 0, finishedAt: NOW }),
      attempt({ name: 'side', state: 'exited', exitCode: 0, finishedAt: NOW }),
    ];
    assert.deepEqual(nextAction(viewOf({ containers, spec: { ...spec, restartPolicy: 'Never' } })), {
      kind: 'wait',
    });
  });
});

describe('a terminating Pod', () => {
  const wish = { kind: 'stop', deadline: NOW + 30_000 } as const;

  test('stops its running containers together', () => {
    const containers = [attempt({}), attempt({ name: 'side' }), attempt({ name: 'x', state: 'exited' })];
    assert.deepEqual(nextAction(viewOf({ wish, containers })), {
      kind: 'stop-containers',
      ids: ['app-0', 'side-0'],
      deadline: wish.deadline,
      why: 'deletion',
    });
  });

  test('waits for containers that were already signalled', () => {
    const stopping = { 'app-0': wish.deadline };
    assert.deepEqual(nextAction(viewOf({ wish, containers: [attempt({})], stopping })), { kind: 'wait' });
  });

  test('signals containers again whose deadline is now earlier', () => {
    const stopping = { 'app-0': wish.deadline + 1 };
    assert.equal(nextAction(viewOf({ wish, containers: [attempt({})], stopping })).kind, 'stop-containers');
  });

  test('then removes containers, then volumes, then it is finished', () => {
    const containers = [attempt({ state: 'exited' }), attempt({ name: 'side', state: 'created' })];
    assert.deepEqual(nextAction(viewOf({ wish, containers })), {
      kind: 'remove-containers',
      ids: ['app-0', 'side-0'],
    });
    assert.deepEqual(nextAction(viewOf({ wish })), { kind: 'remove-volumes' });
    assert.deepEqual(nextAction(viewOf({ wish, volumes: { kind: 'removed' } })), { kind: 'finish' });
  });
});
