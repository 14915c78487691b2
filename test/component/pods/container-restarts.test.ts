/** Exiting containers and unavailable images, and when they are retried. The real workers over the hollow engine. */
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { ImageBehaviourRow } from '../../../agent/runtime/hollow/image-behaviours.js';
import { PodFixture } from '../../harness/pods/pod-fixture.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

let fixture: PodFixture;
afterEach(() => fixture.close());

function open(images: ImageBehaviourRow[] = []): PodFixture {
  fixture = new PodFixture(images);
  return fixture;
}

async function running(name: string): Promise<void> {
  await fixture.until(`${name} runs`, () => fixture.state(name) === 'running');
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
    await fixture.pass(1000);
    await fixture.until('restarted', () => fixture.container('c')?.restartCount === 1);
    await fixture.pass(1000);
    await fixture.until('back-off', () => fixture.state('c') === 'CrashLoopBackOff');
  };

  test('restarts at once the first time, then after 10 s, then after 20 s', async () => {
    await crashedTwice();
    assert.equal(
      fixture.container('c')?.state?.waiting?.message,
      'back-off 10s restarting failed container=app pod=c_default(uid-c)',
    );
    assert.equal(fixture.container('c')?.lastState?.terminated?.exitCode, 1);
    assert.equal(fixture.statuses.get('uid-c')?.phase, 'Running');
    await fixture.pass(10_000);
    await fixture.until('third start', () => fixture.container('c')?.restartCount === 2);
    await fixture.pass(1000);
    await fixture.until('20 s', () => !!fixture.container('c')?.state?.waiting?.message?.includes('20s'));
    assert.ok(
      fixture.events.includes('BackOff: Back-off restarting failed container app in pod c_default(uid-c)'),
    );
  });

  test('keeps its back-off and restart count when the agent restarts', async () => {
    await crashedTwice();
    await fixture.restartAgent();
    await fixture.until('still in back-off', () => fixture.state('c') === 'CrashLoopBackOff');
    assert.equal(fixture.container('c')?.restartCount, 1);
    await fixture.pass(10_000);
    await fixture.until('third start', () => fixture.container('c')?.restartCount === 2);
  });

  test('restarts at once after a reboot, whatever its back-off', async () => {
    await crashedTwice();
    fixture.facts.bootMark = 'boot-2';
    await fixture.restartAgent();
    await fixture.until('started', () => fixture.container('c')?.restartCount === 2);
  });

  test('keeps only the newest two attempts', async () => {
    await giveCrashing();
    await fixture.pass(1000);
    await fixture.until('second start', () => fixture.container('c')?.restartCount === 1);
    for (const [restarts, backOffMs] of [
      [2, 10_000],
      [3, 20_000],
    ] as const) {
      await fixture.pass(1000);
      await fixture.until('back-off', () => fixture.state('c') === 'CrashLoopBackOff');
      await fixture.pass(backOffMs);
      await fixture.until('next start', () => fixture.container('c')?.restartCount === restarts);
    }
    await fixture.until('two left', async () => (await fixture.driver.inspectPod('uid-c')).length === 2);
  });

  for (const [restartPolicy, code, phase] of [
    ['Never', 1, 'Failed'],
    ['Never', 0, 'Succeeded'],
    ['OnFailure', 0, 'Succeeded'],
  ] as const) {
    test(`with exit code ${code} under ${restartPolicy} ends its Pod as ${phase}`, async () => {
      open([{ pattern: '*', exit: { afterMs: 1000, code } }]).assignPod(podOf('j', { restartPolicy }));
      await running('j');
      await fixture.pass(1000);
      await fixture.until(phase, () => fixture.statuses.get('uid-j')?.phase === phase);
      assert.equal((await fixture.driver.inspectPod('uid-j')).length, 1);
    });
  }
});

describe('an image', () => {
  test('whose image cannot be pulled shows ErrImagePull, then ImagePullBackOff, and is retried', async () => {
    open().assignPod(podOf('a', { containers: [{ name: 'app', image: 'foo:non-existent' }] }));
    await fixture.until('ErrImagePull', () => fixture.state('a') === 'ErrImagePull');
    await fixture.pass(5000);
    await fixture.until('ImagePullBackOff', () => fixture.state('a') === 'ImagePullBackOff');
    assert.equal(fixture.statuses.get('uid-a')?.phase, 'Pending');
    await fixture.pass(5000);
    await fixture.until(
      'second pull',
      () => fixture.events.filter((event) => event.startsWith('Pulling')).length === 2,
    );
  });

  test('whose image is missing under pull policy Never is not pulled', async () => {
    open().assignPod(podOf('a', { containers: [{ name: 'app', image: 'app:1', imagePullPolicy: 'Never' }] }));
    await fixture.until('ErrImageNeverPull', () => fixture.state('a') === 'ErrImageNeverPull');
    assert.equal(
      fixture.container('a')?.state?.waiting?.message,
      'Container image "app:1" is not present with pull policy of Never',
    );
    assert.ok(!fixture.events.some((event) => event.startsWith('Pulling')));
  });

  test('restarts when its spec changes, and not when a label changes', async () => {
    open().assignPod(podOf('a'));
    await running('a');
    fixture.assignPod(podOf('a', {}, { labels: { color: 'green' } }));
    await fixture.pass(0);
    assert.equal(fixture.container('a')?.restartCount, 0);
    fixture.assignPod(podOf('a', { containers: [{ name: 'app', image: 'app:2' }] }));
    await fixture.until('new image', () => fixture.container('a')?.image.endsWith('app:2') ?? false);
    assert.equal(fixture.container('a')?.restartCount, 1);
    const killed = fixture.events.filter((event) => event.startsWith('Killing: '));
    assert.deepEqual(killed, ['Killing: Container app definition changed, will be restarted']);
  });
});
