/** Deletion of DaemonSets, and adoption of the remains by a new one with the same selector. */
import assert from 'node:assert/strict';
import { startControllers } from '../../../coordinator/controllers/index.js';
import { daemonSetKind } from '../../../coordinator/kinds/index.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import {
  type ControlPlane,
  joinNode,
  withControlPlane,
} from '../../harness/controllers/control-plane-fixture.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';

const WEB = { namespace: 'default', name: 'web' };

function withFleet(rule: string, check: (plane: ControlPlane) => Promise<void>): void {
  withControlPlane(rule, async (plane) => {
    const controllers = await startControllers(plane);
    for (const name of ['n1', 'n2']) await joinNode(plane, name);
    try {
      await apply(plane);
      await check(plane);
    } finally {
      await controllers.stop();
    }
  });
}

async function apply(plane: ControlPlane, image = 'app:1'): Promise<string | undefined> {
  const { spec } = daemonSet('web');
  spec.template.spec.containers = [{ name: 'app', image }];
  const record = await plane.registry.create(daemonSetKind, 'default', { metadata: { name: 'web' }, spec });
  await plane.settle();
  return record.object().metadata.uid;
}

async function remove(plane: ControlPlane, propagationPolicy: 'Foreground' | 'Orphan'): Promise<void> {
  await plane.registry.delete(daemonSetKind, WEB, { propagationPolicy });
  await plane.settle();
}

const podsOf = (plane: ControlPlane) => [...plane.informers.pods.list()];
const uidsOf = (plane: ControlPlane) => podsOf(plane).map(({ metadata }) => metadata.uid);
const ownersOf = (plane: ControlPlane) =>
  new Set(
    [...podsOf(plane), ...plane.informers.controllerRevisions.list()].map(
      ({ metadata }) => controllerOf(metadata)?.uid,
    ),
  );

withFleet('orphaned, Pods and revisions are kept without an owner', async (plane) => {
  const before = uidsOf(plane);
  await remove(plane, 'Orphan');
  assert.equal(plane.informers.daemonSets.size, 0);
  assert.deepEqual(uidsOf(plane), before);
  assert.deepEqual(ownersOf(plane), new Set([undefined]));
});

withFleet('a recreated DaemonSet adopts orphans and their revision unchanged', async (plane) => {
  const before = uidsOf(plane);
  const [revision] = plane.informers.controllerRevisions.list();
  await remove(plane, 'Orphan');
  const uid = await apply(plane);
  assert.deepEqual(uidsOf(plane), before);
  assert.deepEqual(ownersOf(plane), new Set([uid]));
  const [now] = plane.informers.controllerRevisions.list();
  assert.deepEqual([now?.metadata.name, now?.revision], [revision?.metadata.name, 1]);
});

withFleet(
  'orphans of the same template generation count as updated, whatever their template',
  async (plane) => {
    const before = uidsOf(plane);
    await remove(plane, 'Orphan');
    await apply(plane, 'app:2');
    assert.deepEqual(uidsOf(plane), before);
    assert.equal(plane.informers.daemonSets.get(WEB)?.status?.updatedNumberScheduled, 2);
  },
);

withFleet('in the foreground it remains until its Pods are deleted, and creates none', async (plane) => {
  await remove(plane, 'Foreground');
  assert.ok(plane.informers.daemonSets.get(WEB)?.metadata.deletionTimestamp);
  for (const pod of podsOf(plane)) {
    assert.ok(pod.metadata.deletionTimestamp);
    await plane.registry.confirmStopped(pod.metadata, pod.metadata.uid ?? '');
  }
  await plane.settle();
  assert.deepEqual([plane.informers.pods.size, plane.informers.daemonSets.size], [0, 0]);
});

withFleet('two DaemonSets with overlapping selectors leave each other’s Pods alone', async (plane) => {
  const before = uidsOf(plane);
  const { spec } = daemonSet('web');
  await plane.registry.create(daemonSetKind, 'default', { metadata: { name: 'twin' }, spec });
  await plane.settle();
  assert.equal(podsOf(plane).length, 4);
  for (const uid of before)
    assert.equal(controllerOf(plane.informers.pods.byUid(uid ?? '')?.metadata ?? { name: '' })?.name, 'web');
});
