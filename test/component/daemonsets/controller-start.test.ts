import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { startControllers } from '../../../coordinator/controllers/index.js';
import { daemonSetKind, nodeKind, podKind } from '../../../coordinator/kinds/index.js';
import {
  type ControlPlane,
  joinNode,
  withControlPlane,
} from '../../harness/controllers/control-plane-fixture.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';
import { podObject } from '../../harness/objects/object-builders.js';

function withControllers(rule: string, check: (plane: ControlPlane) => Promise<void>): void {
  withControlPlane(rule, async (plane) => {
    const controllers = await startControllers(plane);
    for (const name of ['n1', 'n2', 'n3']) await joinNode(plane, name);
    try {
      await check(plane);
    } finally {
      await controllers.stop();
    }
  });
}

async function apply(plane: ControlPlane, requests: Record<string, string> = {}): Promise<void> {
  const { apiVersion, kind, spec } = daemonSet('web');
  for (const container of spec.template.spec.containers) container.resources = { requests };
  await plane.registry.create(daemonSetKind, 'default', {
    apiVersion,
    kind,
    metadata: { name: 'web' },
    spec,
  });
  await plane.settle();
}

const nodesOf = (plane: ControlPlane) =>
  [...plane.informers.pods.list()].map((pod) => pod.spec.nodeName ?? '-').sort();

describe('all controllers together', () => {
  withControllers(
    'a DaemonSet gets one bound Pod on each node, each with a Scheduled Event',
    async (plane) => {
      await apply(plane);
      assert.deepEqual(nodesOf(plane), ['n1', 'n2', 'n3']);
      const [pod] = plane.informers.pods.list();
      assert.match(
        (await plane.eventsAbout(pod?.metadata.name ?? '')).join(),
        /Scheduled: Successfully assigned/,
      );
    },
  );

  withControllers('a node that joins later gets its Pod', async (plane) => {
    await apply(plane);
    await joinNode(plane, 'n4');
    assert.deepEqual(nodesOf(plane), ['n1', 'n2', 'n3', 'n4']);
  });

  withControllers('without capacity the Pod waits, and starts when there is capacity', async (plane) => {
    const filler = { containers: [{ name: 'c', image: 'app:1', resources: { requests: { cpu: '4' } } }] };
    await plane.registry.create(podKind, 'default', podObject('filler', { ...filler, nodeName: 'n2' }));
    await plane.settle();
    await apply(plane, { cpu: '1' });
    assert.deepEqual(nodesOf(plane), ['-', 'n1', 'n2', 'n3']);
    const uid = plane.informers.pods.get({ namespace: 'default', name: 'filler' })?.metadata.uid ?? '';
    await plane.registry.confirmStopped({ namespace: 'default', name: 'filler' }, uid);
    await plane.settle();
    assert.deepEqual(nodesOf(plane), ['n1', 'n2', 'n3']);
  });

  withControllers('deleting a DaemonSet deletes its Pods', async (plane) => {
    await apply(plane);
    await plane.registry.delete(daemonSetKind, { namespace: 'default', name: 'web' });
    await plane.settle();
    for (const pod of plane.informers.pods.list()) assert.ok(pod.metadata.deletionTimestamp);
    for (const pod of [...plane.informers.pods.list()]) {
      await plane.registry.confirmStopped(pod.metadata, pod.metadata.uid ?? '');
    }
    await plane.settle();
    assert.deepEqual([plane.informers.pods.size, plane.informers.controllerRevisions.size], [0, 0]);
  });

  withControllers('deleting a node deletes its Pod', async (plane) => {
    await apply(plane);
    await plane.registry.delete(nodeKind, { name: 'n2' });
    await plane.settle();
    await plane.advance(41_000);
    assert.deepEqual(nodesOf(plane), ['n1', 'n3']);
  });
});
