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

let bench: PodFixture;
afterEach(() => bench.close());

function open(images: ImageBehaviourRow[] = []): PodFixture {
  bench = new PodFixture(images);
  return bench;
}

async function running(name: string, container = 'app'): Promise<void> {
  await bench.until(`${name} runs`, () => bench.state(name, container) === 'running');
}

describe('an assigned Pod', () => {
  test('gets the host port of a deleted Pod when that has ended, though the coordinator cannot be notified', async () => {
    const ports = [{ containerPort: 80, hostPort: 80 }];
    const listening = (image: string) => ({ containers: [{ name: 'app', image, ports }] });
    open([{ pattern: '*slow*', stop: { afterMs: 5000 } }]);
    bench.assignPod(podOf('old', listening('slow:1')));
    await running('old');
    bench.assignPod(podOf('old', listening('slow:1'), DELETED));
    bench.assignPod(podOf('new', listening('app:1')));
    await bench.pass(4000);
    assert.equal(bench.workers.hasContainers('uid-new'), false);
    await bench.pass(1000);
    await running('new');
    assert.ok(bench.assignedPods.has('uid-old'), 'nobody has let go of it');
  });

  test("is pulled, created, started and reported with a kubelet's Events", async () => {
    open().assignPod(podOf('a'));
    assert.equal(bench.workers.hasContainers('uid-a'), false);
    await running('a');
    assert.equal(bench.workers.hasContainers('uid-a'), true);
    assert.deepEqual(
      bench.events.map((event) => event.replace(/ in .*/, '')),
      [
        'Pulling: Pulling image "app:1"',
        'Pulled: Successfully pulled image "app:1"',
        'Created: Created container: app',
        'Started: Started container app',
      ],
    );
    const status = bench.statuses.get('uid-a');
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
    bench.assignPod(podOf('a'));
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
    const seen = await bench.driver.inspectPod('uid-a');
    assert.deepEqual(seen.map(({ identity }) => identity.container).sort(), [SANDBOX, 'app', 'side']);
    assert.ok(bench.statuses.get('uid-a')?.podIP?.startsWith('10.'));
  });

  test('starts only after the containers of its removed predecessor have stopped', async () => {
    open([{ pattern: '*slow*', stop: { afterMs: 5000 } }]);
    bench.assignPod(podOf('old', { containers: [{ name: 'app', image: 'slow:1' }] }, OWNED));
    await running('old');
    bench.deletePod('uid-old');
    bench.assignPod(podOf('new', {}, OWNED));
    await bench.pass(4000);
    assert.deepEqual(await bench.driver.inspectPod('uid-new'), []);
    await bench.pass(1500);
    await running('new');
    assert.deepEqual(await bench.driver.inspectPod('uid-old'), []);
    assert.equal(bench.assignedPods.has('uid-old'), false);
  });
});

describe('a deleted Pod', () => {
  test('gets SIGTERM and its grace period, and is reported as removed when nothing is left', async () => {
    open([{ pattern: '*', stop: { afterMs: 60_000 } }]).assignPod(podOf('a'));
    await running('a');
    bench.assignPod(podOf('a', {}, DELETED));
    await bench.pass(29_000);
    assert.deepEqual(bench.removed, []);
    await bench.pass(1000);
    await bench.until('removed', () => bench.removed.includes('uid-a'));
    assert.deepEqual(await bench.driver.inspectPod('uid-a'), []);
    assert.equal(bench.container('a')?.state?.terminated?.exitCode, 137);
    assert.ok(bench.events.includes('Killing: Stopping container app'));
    assert.ok(bench.assignedPods.has('uid-a'), 'held until the hub lets go');
  });

  test('uses a shorter grace period that arrives while it stops', async () => {
    open([{ pattern: '*', stop: { afterMs: 60_000 } }]).assignPod(podOf('a'));
    await running('a');
    bench.assignPod(podOf('a', {}, DELETED));
    await bench.pass(1000);
    bench.assignPod(podOf('a', {}, { ...DELETED, deletionGracePeriodSeconds: 5 }));
    await bench.pass(5000);
    await bench.until('removed', () => bench.removed.includes('uid-a'));
  });

  test('counts its grace period from the arrival of the deletion, also over a restart of the agent', async () => {
    open([{ pattern: '*', stop: { afterMs: 60_000 } }]).assignPod(podOf('a'));
    await running('a');
    bench.assignPod(podOf('a', {}, DELETED));
    await bench.pass(20_000);
    await bench.restartAgent();
    await bench.pass(10_000);
    await bench.until('removed', () => bench.removed.includes('uid-a'));
  });

  test('during a pull does not wait for it', async () => {
    open([{ pattern: '*', pull: { afterMs: 600_000 } }]).assignPod(podOf('a'));
    await bench.until('pulling', () => bench.events.length === 1);
    bench.assignPod(podOf('a', {}, DELETED));
    await bench.until('removed', () => bench.removed.includes('uid-a'));
  });
});

describe('a restarted agent', () => {
  test('a restarted agent touches no running container', async () => {
    open().assignPod(podOf('a'));
    await running('a');
    const [before] = await bench.driver.inspectPod('uid-a');
    await bench.restartAgent();
    await running('a');
    const [after] = await bench.driver.inspectPod('uid-a');
    assert.deepEqual([after?.id, after?.startedAt], [before?.id, before?.startedAt]);
  });

  test('a Pod that only the engine knows is left alone until it is reported as deleted', async () => {
    open().assignPod(podOf('a'));
    await running('a');
    bench.assignedPods.clear();
    await bench.restartAgent();
    await bench.until('found', () => bench.remainingFiles().includes('uid-a'));
    assert.equal((await bench.driver.inspectPod('uid-a')).length, 1);
    bench.deletePod('uid-a');
    await bench.until('ended', async () => (await bench.driver.inspectPod('uid-a')).length === 0);
  });

  test('no second copy starts next to a Pod that only the engine knows, until that is assigned or has ended', async () => {
    open().assignPod(podOf('stranger', {}, OWNED));
    await running('stranger');
    bench.assignedPods.clear();
    await bench.restartAgent();
    await bench.until('found', () => bench.remainingFiles().includes('uid-stranger'));
    bench.assignPod(podOf('old', {}, OWNED));
    bench.assignPod(podOf('other'));
    await running('other');
    assert.deepEqual(await bench.driver.inspectPod('uid-old'), []);
    bench.engine.command({ command: 'exit', podUid: 'uid-stranger', code: 0 });
    await running('old');
  });
});

test('Pods wait while the engine is down and continue when it is back', async () => {
  open();
  bench.engine.command({ command: 'engine-down', message: 'no socket' });
  bench.assignPod(podOf('a'));
  await bench.pass(0);
  assert.equal(bench.statuses.size, 0);
  bench.engine.command({ command: 'engine-up' });
  await running('a');
});

test('an engine that fails during an image query is retried with a back-off', async () => {
  open();
  let asked = 0;
  bench.driver.findImage = async () => {
    asked += 1;
    bench.engine.command({ command: 'engine-down', message: 'no socket' });
    throw new RuntimeError('EngineDown', 'no socket', true);
  };
  bench.assignPod(podOf('a'));
  for (let pass = 0; pass < 20; pass++) await bench.pass(0);
  assert.equal(asked, 1);
});

test('the command unready clears Ready of a Pod and leaves it running', async () => {
  open().assignPod(podOf('a'));
  await running('a');
  bench.engine.command({ command: 'unready', podUid: 'uid-a' });
  await bench.until('unready', () => bench.container('a')?.ready === false);
  const ready = bench.statuses.get('uid-a')?.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual(
    [ready?.status, ready?.reason, ready?.message],
    ['False', 'ContainersNotReady', 'containers with unready status: [app]'],
  );
});

test('the command fail makes the Pod Failed', async () => {
  open().assignPod(podOf('a'));
  await running('a');
  bench.engine.command({ command: 'fail', podUid: 'uid-a' });
  await bench.until('Failed', () => bench.statuses.get('uid-a')?.phase === 'Failed');
});

describe('a Pod that the host terminates', () => {
  test('for a forbidden sysctl ends Failed before any container starts, also after a restart of the agent', async () => {
    open().assignPod(podOf('a', { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }));
    const failed = (): boolean => bench.statuses.get('uid-a')?.phase === 'Failed';
    await bench.until('it is refused', failed);
    const message = 'forbidden sysctl: "kernel.msgmax" not allowlisted';
    const { reason, message: told, containerStatuses } = bench.statuses.get('uid-a') ?? {};
    assert.deepEqual(
      [reason, told, containerStatuses],
      ['SysctlForbidden', `Pod was rejected: ${message}`, undefined],
    );
    assert.deepEqual(bench.events, [`SysctlForbidden: ${message}`]);
    bench.facts.isolation = { ...bench.facts.isolation, allowedUnsafeSysctls: ['kernel.msg*'] };
    await bench.restartAgent();
    await bench.until('it is still refused', failed);
    assert.deepEqual(await bench.driver.list(), []);
    bench.assignPod(podOf('a', {}, DELETED));
    await bench.until('it is gone', () => bench.removed.includes('uid-a'));
  });

  test('is stopped, stays Failed with its last states, and is not started again', async () => {
    open().assignPod(podOf('a'));
    await running('a');
    const why = { reason: 'DeadlineExceeded', message: 'too long', graceSeconds: 1 };
    bench.workers.terminate('uid-a', why, {
      type: 'Normal',
      reason: 'DeadlineExceeded',
      message: 'too long',
    });
    await bench.until('it has ended', () => bench.state('a') === 'Completed');
    const { phase, reason, message, conditions } = bench.statuses.get('uid-a') ?? {};
    assert.deepEqual([phase, reason, message], ['Failed', 'DeadlineExceeded', 'too long']);
    assert.equal(conditions?.find(({ type }) => type === 'Ready')?.reason, 'PodFailed');
    await bench.pass(600_000);
    assert.equal((await bench.driver.inspectPod('uid-a')).length, 1);
    assert.equal(bench.state('a'), 'Completed');
  });

  test('is not finished, and keeps its ports, until its containers have ended', async () => {
    open();
    const withPort = {
      containers: [{ name: 'app', image: 'app:1', ports: [{ containerPort: 80, hostPort: 80 }] }],
    };
    bench.assignPod(podOf('a', withPort));
    await running('a');
    const stop = bench.driver.stop.bind(bench.driver);
    let letGo: () => void = () => undefined;
    const hung = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    bench.driver.stop = (id, seconds) => hung.then(() => stop(id, seconds));
    const why = { reason: 'Evicted', message: 'too much. ', graceSeconds: 60, isDisruption: true as const };
    bench.workers.terminate('uid-a', why, { type: 'Warning', reason: 'Evicted', message: 'too much. ' });
    bench.assignPod(podOf('b', withPort));
    await bench.until('b is rejected', () => bench.statuses.get('uid-b')?.reason === 'NodePorts');
    const before = bench.statuses.get('uid-a');
    assert.deepEqual([before?.phase, before?.reason, before?.message], ['Running', undefined, undefined]);
    assert.ok(!before?.conditions?.some(({ type }) => type === 'DisruptionTarget'));
    letGo();
    await bench.until('a is over', () => bench.statuses.get('uid-a')?.phase === 'Failed');
    const { reason, conditions } = bench.statuses.get('uid-a') ?? {};
    assert.equal(reason, 'Evicted');
    assert.ok(conditions?.some(({ type, status }) => type === 'DisruptionTarget' && status === 'True'));
    bench.assignPod(podOf('c', withPort));
    await running('c');
  });

  test('as Evicted leaves nothing in the engine, and its container states are still reported', async () => {
    open().assignPod(podOf('a'));
    await running('a');
    const why = { reason: 'Evicted', message: 'too much. ', graceSeconds: 1 };
    bench.workers.terminate('uid-a', why, { type: 'Warning', reason: 'Evicted', message: 'too much. ' });
    await bench.until('its container is gone', async () => (await bench.driver.list()).length === 0);
    assert.equal(bench.statuses.get('uid-a')?.reason, 'Evicted');
    assert.equal(bench.state('a'), 'Completed');
    await bench.restartAgent();
    await bench.until('it is still Failed', () => bench.statuses.get('uid-a')?.phase === 'Failed');
    assert.deepEqual(await bench.driver.list(), []);
  });
});
