/** Exiting containers and unavailable images, and when they are retried. The real workers over the hollow engine. */
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { ImageBehaviourRow } from '../../../agent/runtime/hollow/image-behaviours.js';
import { PodFixture } from '../../harness/pods/pod-fixture.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

let bench: PodFixture;
afterEach(() => bench.close());

function open(images: ImageBehaviourRow[] = []): PodFixture {
  bench = new PodFixture(images);
  return bench;
}

async function running(name: string): Promise<void> {
  await bench.until(`${name} runs`, () => bench.state(name) === 'running');
}

describe('an exited container', () => {
  const CRASHING = [{ pattern: '*crash*', exit: { afterMs: 1000, code: 1 } }];
  const giveCrashing = async () => {
    open(CRASHING).assignPod(podOf('c', { containers: [{ name: 'app', image: 'crash:1' }] }));
    await running('c');
  };
  /** It has been restarted at once, and waits for its back-off. */
  const crashedTwice = async () => {
    await giveCrashing();
    await bench.pass(1000);
    await bench.until('restarted', () => bench.container('c')?.restartCount === 1);
    await bench.pass(1000);
    await bench.until('back-off', () => bench.state('c') === 'CrashLoopBackOff');
  };

  test('restarts at once the first time, then after 10 s, then after 20 s', async () => {
    await crashedTwice();
    assert.equal(
      bench.container('c')?.state?.waiting?.message,
      'back-off 10s restarting failed container=app pod=c_default(uid-c)',
    );
    assert.equal(bench.container('c')?.lastState?.terminated?.exitCode, 1);
    assert.equal(bench.statuses.get('uid-c')?.phase, 'Running');
    await bench.pass(10_000);
    await bench.until('third start', () => bench.container('c')?.restartCount === 2);
    await bench.pass(1000);
    await bench.until('20 s', () => !!bench.container('c')?.state?.waiting?.message?.includes('20s'));
    assert.ok(
      bench.events.includes('BackOff: Back-off restarting failed container app in pod c_default(uid-c)'),
    );
  });

  test('keeps its back-off and restart count when the agent restarts', async () => {
    await crashedTwice();
    await bench.restartAgent();
    await bench.until('still in back-off', () => bench.state('c') === 'CrashLoopBackOff');
    assert.equal(bench.container('c')?.restartCount, 1);
    await bench.pass(10_000);
    await bench.until('third start', () => bench.container('c')?.restartCount === 2);
  });

  test('restarts at once after a reboot, whatever its back-off', async () => {
    await crashedTwice();
    bench.facts.bootMark = 'boot-2';
    await bench.restartAgent();
    await bench.until('started', () => bench.container('c')?.restartCount === 2);
  });

  test('keeps only the newest two attempts', async () => {
    await giveCrashing();
    await bench.pass(1000);
    await bench.until('second start', () => bench.container('c')?.restartCount === 1);
    for (const [restarts, backOffMs] of [
      [2, 10_000],
      [3, 20_000],
    ] as const) {
      await bench.pass(1000);
      await bench.until('back-off', () => bench.state('c') === 'CrashLoopBackOff');
      await bench.pass(backOffMs);
      await bench.until('next start', () => bench.container('c')?.restartCount === restarts);
    }
    await bench.until('two left', async () => (await bench.driver.inspectPod('uid-c')).length === 2);
  });

  for (const [restartPolicy, code, phase] of [
    ['Never', 1, 'Failed'],
    ['Never', 0, 'Succeeded'],
    ['OnFailure', 0, 'Succeeded'],
  ] as const) {
    test(`with exit code ${code} under ${restartPolicy} ends its Pod as ${phase}`, async () => {
      open([{ pattern: '*', exit: { afterMs: 1000, code } }]).assignPod(podOf('j', { restartPolicy }));
      await running('j');
      await bench.pass(1000);
      await bench.until(phase, () => bench.statuses.get('uid-j')?.phase === phase);
      assert.equal((await bench.driver.inspectPod('uid-j')).length, 1);
    });
  }
});

describe('an image', () => {
  test('whose image cannot be pulled shows ErrImagePull, then ImagePullBackOff, and is retried', async () => {
    open().assignPod(podOf('a', { containers: [{ name: 'app', image: 'foo:non-existent' }] }));
    await bench.until('ErrImagePull', () => bench.state('a') === 'ErrImagePull');
    await bench.pass(5000);
    await bench.until('ImagePullBackOff', () => bench.state('a') === 'ImagePullBackOff');
    assert.equal(bench.statuses.get('uid-a')?.phase, 'Pending');
    await bench.pass(5000);
    await bench.until(
      'second pull',
      () => bench.events.filter((event) => event.startsWith('Pulling')).length === 2,
    );
  });

  test('whose image is missing under pull policy Never is not pulled', async () => {
    open().assignPod(podOf('a', { containers: [{ name: 'app', image: 'app:1', imagePullPolicy: 'Never' }] }));
    await bench.until('ErrImageNeverPull', () => bench.state('a') === 'ErrImageNeverPull');
    assert.equal(
      bench.container('a')?.state?.waiting?.message,
      'Container image "app:1" is not present with pull policy of Never',
    );
    assert.ok(!bench.events.some((event) => event.startsWith('Pulling')));
  });

  test('restarts when its spec changes, and not when a label changes', async () => {
    open().assignPod(podOf('a'));
    await running('a');
    bench.assignPod(podOf('a', {}, { labels: { color: 'green' } }));
    await bench.pass(0);
    assert.equal(bench.container('a')?.restartCount, 0);
    bench.assignPod(podOf('a', { containers: [{ name: 'app', image: 'app:2' }] }));
    await bench.until('new image', () => bench.container('a')?.image.endsWith('app:2') ?? false);
    assert.equal(bench.container('a')?.restartCount, 1);
    const killed = bench.events.filter((event) => event.startsWith('Killing: '));
    assert.deepEqual(killed, ['Killing: Container app definition changed, will be restarted']);
  });
});
