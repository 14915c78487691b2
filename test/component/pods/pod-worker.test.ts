/** The lifecycle of Pods on one host: the real workers over the hollow engine. */
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { ImageBehaviourRow } from '../../../agent/runtime/hollow/image-behaviours.js';
import { RuntimeError, SANDBOX } from '../../../agent/runtime/runtime-driver.js';
import { PodFixture } from '../../harness/pods/pod-fixture.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

const OWNED = {
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'ds', controller: true }],
};
const DELETED = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };

let fixture: PodFixture;
afterEach(() => fixture.close());

function open(images: ImageBehaviourRow[] = []): PodFixture {
  fixture = new PodFixture(images);
  return fixture;
}

async function running(name: string, container = 'app'): Promise<void> {
  await fixture.until(`${name} runs`, () => fixture.state(name, container) === 'running');
}

describe('an assigned Pod', () => {
  test('gets the host port of a deleted Pod when that has ended, though the coordinator cannot be notified', async () => {
    const ports = [{ containerPort: 80, hostPort: 80 }];
    const listening = (image: string) => ({ containers: [{ name: 'app', image, ports }] });
    open([{ pattern: '*slow*', stop: { afterMs: 5000 } }]);
    fixture.assignPod(podOf('old', listening('slow:1')));
    await running('old');
    fixture.assignPod(podOf('old', listening('slow:1'), DELETED));
    fixture.assignPod(podOf('new', listening('app:1')));
    await fixture.pass(4000);
    assert.equal(fixture.workers.hasContainers('uid-new'), false);
    await fixture.pass(1000);
    await running('new');
    assert.ok(fixture.assignedPods.has('uid-old'), 'nobody has let go of it');
  });

  test("is pulled, created, started and reported with a kubelet's Events", async () => {
    open().assignPod(podOf('a'));
    assert.equal(fixture.workers.hasContainers('uid-a'), false);
    await running('a');
    assert.equal(fixture.workers.hasContainers('uid-a'), true);
    assert.deepEqual(
      fixture.events.map((event) => event.replace(/ in .*/, '')),
      [
        'Pulling: Pulling image "app:1"',
        'Pulled: Successfully pulled image "app:1"',
        'Created: Created container: app',
        'Started: Started container app',
      ],
    );
    const status = fixture.statuses.get('uid-a');
    assert.equal(status?.phase, 'Running');
    assert.deepEqual(
      status?.conditions?.map(({ type, status: is }) => `${type}=${is}`),
      [
        'PodReadyToStartContainers=True',
        'Initialized=True',
        'Ready=True',
        'ContainersReady=True',
        'PodScheduled=True',
      ],
    );
  });

  test('starts without querying the engine again about created containers', async () => {
    const { driver, firstEvent } = open();
    await firstEvent;
    const calls: string[] = [];
    for (const name of ['inspectPod', 'create', 'start'] as const) {
      const call = driver[name].bind(driver) as (...args: unknown[]) => Promise<never>;
      Object.assign(driver, {
        [name]: (...args: unknown[]) => {
          calls.push(name);
          return call(...args);
        },
      });
    }
    fixture.assignPod(podOf('a'));
    await running('a');
    assert.equal(calls[calls.indexOf('create') + 1], 'start');
  });

  test('with several containers gets a sandbox that they join', async () => {
    const containers = [
      { name: 'app', image: 'app:1' },
      { name: 'side', image: 'side:1' },
    ];
    open().assignPod(podOf('a', { containers }));
    await running('a', 'side');
    const seen = await fixture.driver.inspectPod('uid-a');
    assert.deepEqual(seen.map(({ identity }) => identity.container).sort(), [SANDBOX, 'app', 'side']);
    assert.ok(fixture.statuses.get('uid-a')?.podIP?.startsWith('10.'));
  });

  test('starts only after the containers of its removed predecessor have stopped', async () => {
    open([{ pattern: '*slow*', stop: { afterMs: 5000 } }]);
    fixture.assignPod(podOf('old', { containers: [{ name: 'app', image: 'slow:1' }] }, OWNED));
    await running('old');
    fixture.deletePod('uid-old');
    fixture.assignPod(podOf('new', {}, OWNED));
    await fixture.pass(4000);
    assert.deepEqual(await fixture.driver.inspectPod('uid-new'), []);
    await fixture.pass(1500);
    await running('new');
    assert.deepEqual(await fixture.driver.inspectPod('uid-old'), []);
    assert.equal(fixture.assignedPods.has('uid-old'), false);
  });
});

describe('a deleted Pod', () => {
  test('gets SIGTERM and its grace period, and is reported as removed when nothing is left', async () => {
    open([{ pattern: '*', stop: { afterMs: 60_000 } }]).assignPod(podOf('a'));
    await running('a');
    fixture.assignPod(podOf('a', {}, DELETED));
    await fixture.pass(29_000);
    assert.deepEqual(fixture.removed, []);
    await fixture.pass(1000);
    await fixture.until('removed', () => fixture.removed.includes('uid-a'));
    assert.deepEqual(await fixture.driver.inspectPod('uid-a'), []);
    assert.equal(fixture.container('a')?.state?.terminated?.exitCode, 137);
    assert.ok(fixture.events.includes('Killing: Stopping container app'));
    assert.ok(fixture.assignedPods.has('uid-a'), 'held until the hub lets go');
  });

  test('uses a shorter grace period that arrives while it stops', async () => {
    open([{ pattern: '*', stop: { afterMs: 60_000 } }]).assignPod(podOf('a'));
    await running('a');
    fixture.assignPod(podOf('a', {}, DELETED));
    await fixture.pass(1000);
    fixture.assignPod(podOf('a', {}, { ...DELETED, deletionGracePeriodSeconds: 5 }));
    await fixture.pass(5000);
    await fixture.until('removed', () => fixture.removed.includes('uid-a'));
  });

  test('counts its grace period from the arrival of the deletion, also over a restart of the agent', async () => {
    open([{ pattern: '*', stop: { afterMs: 60_000 } }]).assignPod(podOf('a'));
    await running('a');
    fixture.assignPod(podOf('a', {}, DELETED));
    await fixture.pass(20_000);
    await fixture.restartAgent();
    await fixture.pass(10_000);
    await fixture.until('removed', () => fixture.removed.includes('uid-a'));
  });

  test('during a pull does not wait for it', async () => {
    open([{ pattern: '*', pull: { afterMs: 600_000 } }]).assignPod(podOf('a'));
    await fixture.until('pulling', () => fixture.events.length === 1);
    fixture.assignPod(podOf('a', {}, DELETED));
    await fixture.until('removed', () => fixture.removed.includes('uid-a'));
  });
});

describe('a restarted agent', () => {
  test('a restarted agent touches no running container', async () => {
    open().assignPod(podOf('a'));
    await running('a');
    const [before] = await fixture.driver.inspectPod('uid-a');
    await fixture.restartAgent();
    await running('a');
    const [after] = await fixture.driver.inspectPod('uid-a');
    assert.deepEqual([after?.id, after?.startedAt], [before?.id, before?.startedAt]);
  });

  test('a Pod that only the engine knows is left alone until it is reported as deleted', async () => {
    open().assignPod(podOf('a'));
    await running('a');
    fixture.assignedPods.clear();
    await fixture.restartAgent();
    await fixture.until('found', () => fixture.remainingFiles().includes('uid-a'));
    assert.equal((await fixture.driver.inspectPod('uid-a')).length, 1);
    fixture.deletePod('uid-a');
    await fixture.until('ended', async () => (await fixture.driver.inspectPod('uid-a')).length === 0);
  });

  test('after the deletion of its Node it stops Pods that a stopped engine lists only later', async () => {
    open().assignPod(podOf('a'));
    await running('a');
    fixture.engine.command({ command: 'engine-down', message: 'no socket' });
    fixture.assignedPods.clear();
    await fixture.restartAgent();
    fixture.workers.stopOrphans();
    fixture.engine.command({ command: 'engine-up' });
    await fixture.until('ended', async () => (await fixture.driver.inspectPod('uid-a')).length === 0);
    assert.deepEqual(fixture.remainingFiles(), []);
  });

  test('no second copy starts next to a Pod that only the engine knows, until that is assigned or has ended', async () => {
    open().assignPod(podOf('stranger', {}, OWNED));
    await running('stranger');
    fixture.assignedPods.clear();
    await fixture.restartAgent();
    await fixture.until('found', () => fixture.remainingFiles().includes('uid-stranger'));
    fixture.assignPod(podOf('old', {}, OWNED));
    fixture.assignPod(podOf('other'));
    await running('other');
    assert.deepEqual(await fixture.driver.inspectPod('uid-old'), []);
    fixture.engine.command({ command: 'exit', podUid: 'uid-stranger', code: 0 });
    await running('old');
  });
});

test('Pods wait while the engine is down and continue when it is back', async () => {
  open();
  fixture.engine.command({ command: 'engine-down', message: 'no socket' });
  fixture.assignPod(podOf('a'));
  await fixture.pass(0);
  assert.equal(fixture.statuses.size, 0);
  fixture.engine.command({ command: 'engine-up' });
  await running('a');
});

test('an engine that fails during an image query is retried with a back-off', async () => {
  open();
  let asked = 0;
  fixture.driver.findImage = async () => {
    asked += 1;
    fixture.engine.command({ command: 'engine-down', message: 'no socket' });
    throw new RuntimeError('EngineDown', 'no socket', true);
  };
  fixture.assignPod(podOf('a'));
  for (let pass = 0; pass < 20; pass++) await fixture.pass(0);
  assert.equal(asked, 1);
});

test('the command unready clears Ready of a Pod and leaves it running', async () => {
  open().assignPod(podOf('a'));
  await running('a');
  fixture.engine.command({ command: 'unready', podUid: 'uid-a' });
  await fixture.until('unready', () => fixture.container('a')?.ready === false);
  const ready = fixture.statuses.get('uid-a')?.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual(
    [ready?.status, ready?.reason, ready?.message],
    ['False', 'ContainersNotReady', 'containers with unready status: [app]'],
  );
});

test('the command fail makes the Pod Failed', async () => {
  open().assignPod(podOf('a'));
  await running('a');
  fixture.engine.command({ command: 'fail', podUid: 'uid-a' });
  await fixture.until('Failed', () => fixture.statuses.get('uid-a')?.phase === 'Failed');
});

describe('a Pod that the host terminates', () => {
  test('for a forbidden sysctl ends Failed before any container starts, also after a restart of the agent', async () => {
    open().assignPod(podOf('a', { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }));
    const failed = (): boolean => fixture.statuses.get('uid-a')?.phase === 'Failed';
    await fixture.until('it is refused', failed);
    const message = 'forbidden sysctl: "kernel.msgmax" not allowlisted';
    const { reason, message: told, containerStatuses } = fixture.statuses.get('uid-a') ?? {};
    assert.deepEqual(
      [reason, told, containerStatuses],
      ['SysctlForbidden', `Pod was rejected: ${message}`, undefined],
    );
    assert.deepEqual(fixture.events, [`SysctlForbidden: ${message}`]);
    fixture.facts.isolation = { ...fixture.facts.isolation, allowedUnsafeSysctls: ['kernel.msg*'] };
    await fixture.restartAgent();
    await fixture.until('it is still refused', failed);
    assert.deepEqual(await fixture.driver.list(), []);
    fixture.assignPod(podOf('a', {}, DELETED));
    await fixture.until('it is gone', () => fixture.removed.includes('uid-a'));
  });

  test('is stopped, stays Failed with its last states, and is not started again', async () => {
    open().assignPod(podOf('a'));
    await running('a');
    const why = { reason: 'DeadlineExceeded', message: 'too long', graceSeconds: 1 };
    fixture.workers.terminate('uid-a', why, {
      type: 'Normal',
      reason: 'DeadlineExceeded',
      message: 'too long',
    });
    await fixture.until('it has ended', () => fixture.state('a') === 'Completed');
    const { phase, reason, message, conditions } = fixture.statuses.get('uid-a') ?? {};
    assert.deepEqual([phase, reason, message], ['Failed', 'DeadlineExceeded', 'too long']);
    assert.equal(conditions?.find(({ type }) => type === 'Ready')?.reason, 'PodFailed');
    await fixture.pass(600_000);
    assert.equal((await fixture.driver.inspectPod('uid-a')).length, 1);
    assert.equal(fixture.state('a'), 'Completed');
  });

  test('is not finished, and keeps its ports, until its containers have ended', async () => {
    open();
    const withPort = {
      containers: [{ name: 'app', image: 'app:1', ports: [{ containerPort: 80, hostPort: 80 }] }],
    };
    fixture.assignPod(podOf('a', withPort));
    await running('a');
    const stop = fixture.driver.stop.bind(fixture.driver);
    let letGo: () => void = () => undefined;
    const hung = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    fixture.driver.stop = (id, seconds) => hung.then(() => stop(id, seconds));
    const why = { reason: 'Evicted', message: 'too much. ', graceSeconds: 60, isDisruption: true as const };
    fixture.workers.terminate('uid-a', why, { type: 'Warning', reason: 'Evicted', message: 'too much. ' });
    fixture.assignPod(podOf('b', withPort));
    await fixture.until('b is rejected', () => fixture.statuses.get('uid-b')?.reason === 'NodePorts');
    const before = fixture.statuses.get('uid-a');
    assert.deepEqual([before?.phase, before?.reason, before?.message], ['Running', undefined, undefined]);
    assert.ok(!before?.conditions?.some(({ type }) => type === 'DisruptionTarget'));
    letGo();
    await fixture.until('a is over', () => fixture.statuses.get('uid-a')?.phase === 'Failed');
    const { reason, conditions } = fixture.statuses.get('uid-a') ?? {};
    assert.equal(reason, 'Evicted');
    assert.ok(conditions?.some(({ type, status }) => type === 'DisruptionTarget' && status === 'True'));
    fixture.assignPod(podOf('c', withPort));
    await running('c');
  });

  test('as Evicted leaves nothing in the engine, and its container states are still reported', async () => {
    open().assignPod(podOf('a'));
    await running('a');
    const why = { reason: 'Evicted', message: 'too much. ', graceSeconds: 1 };
    fixture.workers.terminate('uid-a', why, { type: 'Warning', reason: 'Evicted', message: 'too much. ' });
    await fixture.until('its container is gone', async () => (await fixture.driver.list()).length === 0);
    assert.equal(fixture.statuses.get('uid-a')?.reason, 'Evicted');
    assert.equal(fixture.state('a'), 'Completed');
    await fixture.restartAgent();
    await fixture.until('it is still Failed', () => fixture.statuses.get('uid-a')?.phase === 'Failed');
    assert.deepEqual(await fixture.driver.list(), []);
  });
});
