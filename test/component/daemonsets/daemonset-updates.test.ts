/** Updates by the DaemonSet controller over the real registry and informers. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { podKind } from '../../../coordinator/kinds/index.js';
import type { DaemonSetSpec } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { DaemonFleet, type FleetOptions } from '../../harness/controllers/daemon-fleet.js';

const ROLLING = (maxUnavailable: number, maxSurge: number): Partial<DaemonSetSpec> => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } },
});

let fleet: DaemonFleet;

async function start(nodes: number, options: FleetOptions = {}): Promise<DaemonFleet> {
  const names = Array.from({ length: nodes }, (_, index) => `n${index}`);
  fleet = await DaemonFleet.start(names, options);
  return fleet;
}

afterEach(() => fleet.stop());

/** Returns the highest number of simultaneously unavailable nodes from now on. */
function watchUnavailable(): () => number {
  let worst = 0;
  fleet.informers.pods.onChange(() => {
    const available = fleet.pods().filter((pod) => {
      return !pod.metadata.deletionTimestamp && isConditionTrue(pod.status?.conditions, 'Ready');
    });
    worst = Math.max(worst, fleet.informers.nodes.size - available.length);
  });
  return () => worst;
}

for (const maxUnavailable of [1, 2]) {
  test(`a rolling update replaces all Pods, never more than ${maxUnavailable} at once`, async () => {
    await start(5);
    await fleet.create('web', ROLLING(maxUnavailable, 0));
    await fleet.rolledOut('web');
    const worst = watchUnavailable();
    await fleet.setImage('web', 'app:2');
    await fleet.rolledOut('web');
    assert.deepEqual(new Set(Object.values(fleet.images())), new Set(['app:2']));
    assert.equal(worst(), maxUnavailable);
  });
}

test('a new Pod that never becomes ready stops the update within its budget', async () => {
  await start(4, { agents: { ready: (pod) => pod.spec.containers[0]?.image !== 'app:broken' } });
  await fleet.create('web', ROLLING(1, 0));
  await fleet.rolledOut('web');
  await fleet.setImage('web', 'app:broken');
  await until(() => fleet.status('web')?.numberUnavailable === 1 && fleet.pods().length === 4);
  await fleet.setImage('web', 'app:1');
  await fleet.rolledOut('web');
  assert.deepEqual(new Set(Object.values(fleet.images())), new Set(['app:1']));
});

test('a Pod with an ephemeral container stays in its revision, and an update replaces it like any other', async () => {
  await start(3);
  await fleet.create('web', ROLLING(1, 0));
  await fleet.rolledOut('web');
  const uids = () => fleet.pods().map(({ metadata }) => metadata.uid);
  const before = uids();
  const [first] = fleet.pods();
  assert.ok(first);
  const add = (pod: Pod): undefined => {
    pod.spec.ephemeralContainers = [{ name: 'dbg', image: 'b:1' }];
  };
  await fleet.registry.modify(podKind, first.metadata, add, { subresource: 'ephemeralcontainers' });
  await fleet.settle();
  assert.deepEqual(uids(), before);
  assert.equal(fleet.pods().filter(({ spec }) => spec.ephemeralContainers).length, 1);
  await fleet.setImage('web', 'app:2');
  await fleet.rolledOut('web');
  assert.deepEqual(new Set(Object.values(fleet.images())), new Set(['app:2']));
  assert.deepEqual(
    fleet.pods().filter(({ spec }) => spec.ephemeralContainers),
    [],
  );
});

test('with surge the new Pod runs next to the old one before that is deleted', async () => {
  await start(3);
  await fleet.create('web', ROLLING(0, 1));
  await fleet.rolledOut('web');
  let [fewest, pairs] = [3, 0];
  fleet.informers.pods.onChange(() => {
    const live = fleet.pods().filter((pod) => !pod.metadata.deletionTimestamp);
    fewest = Math.min(fewest, live.filter((pod) => pod.status?.conditions).length);
    pairs = Math.max(pairs, live.length - 3);
  });
  await fleet.setImage('web', 'app:2');
  await fleet.rolledOut('web');
  assert.deepEqual({ fewest, pairs }, { fewest: 3, pairs: 1 });
});

test('under OnDelete only a deleted Pod returns with the new template', async () => {
  await start(2);
  await fleet.create('web', { updateStrategy: { type: 'OnDelete' } });
  await fleet.rolledOut('web');
  await fleet.setImage('web', 'app:2');
  await until(() => fleet.status('web')?.observedGeneration === 2);
  assert.deepEqual(fleet.images(), { n0: 'app:1', n1: 'app:1' });
  const pod = fleet.pods().find((one) => one.spec.nodeName === 'n0');
  assert.ok(pod);
  await fleet.delete(pod);
  await until(() => fleet.images().n0 === 'app:2');
  await until(() => fleet.status('web')?.updatedNumberScheduled === 1);
});

test('a Pod is available after being ready for minReadySeconds', async () => {
  await start(2);
  await fleet.create('web', { minReadySeconds: 30, ...ROLLING(1, 0) });
  await until(() => fleet.status('web')?.numberReady === 2);
  assert.equal(fleet.status('web')?.numberAvailable, undefined);
  fleet.clock.advance(29_000);
  fleet.clock.advance(1_000);
  await until(() => fleet.status('web')?.numberAvailable === 2);
});

test('an update that a controller stopped in the middle is continued by the next controller, within the budget', async () => {
  await start(6);
  await fleet.create('web', ROLLING(1, 0));
  await fleet.rolledOut('web');
  const worst = watchUnavailable();
  await fleet.setImage('web', 'app:2');
  for (const updated of [1, 3, 5]) {
    await until(() => Object.values(fleet.images()).filter((image) => image === 'app:2').length >= updated);
    await fleet.restartController();
  }
  await fleet.rolledOut('web');
  assert.deepEqual(new Set(Object.values(fleet.images())), new Set(['app:2']));
  assert.equal(worst(), 1);
});

test('a second update during the first one respects the budget', async () => {
  await start(6);
  await fleet.create('web', ROLLING(2, 0));
  await fleet.rolledOut('web');
  const worst = watchUnavailable();
  for (const image of ['app:2', 'app:3', 'app:2', 'app:4']) {
    await fleet.setImage('web', image);
    await until(() => Object.values(fleet.images()).includes(image));
  }
  await fleet.rolledOut('web');
  assert.deepEqual(new Set(Object.values(fleet.images())), new Set(['app:4']));
  assert.ok(worst() <= 2, `${worst()} at once`);
});
