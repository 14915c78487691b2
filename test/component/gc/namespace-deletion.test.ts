import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { NamespaceController } from '../../../coordinator/controllers/gc/namespace-controller.js';
import { configMapKind, namespaceKind, podKind } from '../../../coordinator/kinds/index.js';
import { type ControlPlane, withControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { podObject } from '../../harness/objects/object-builders.js';

function withNamespaces(rule: string, check: (plane: ControlPlane) => Promise<void>): void {
  withControlPlane(rule, async (plane) => {
    const controller = new NamespaceController(plane);
    await controller.start();
    await plane.settle();
    try {
      await check(plane);
    } finally {
      await controller.stop();
    }
  });
}

const namesIn = (plane: ControlPlane) =>
  [...plane.informers.namespaces.list()].map((namespace) => namespace.metadata.name).sort();

describe('namespace controller', () => {
  withNamespaces("upstream's four namespaces exist", async (plane) => {
    assert.deepEqual(namesIn(plane), ['default', 'kube-node-lease', 'kube-public', 'kube-system']);
  });

  withNamespaces('a deleted system namespace is created again', async (plane) => {
    await plane.registry.delete(namespaceKind, { name: 'kube-node-lease' });
    await plane.settle();
    const namespace = plane.informers.namespaces.get({ name: 'kube-node-lease' });
    assert.equal(namespace?.status?.phase, 'Active');
  });

  withNamespaces('a deleted namespace is emptied, then removed', async (plane) => {
    await plane.registry.create(namespaceKind, undefined, { metadata: { name: 'team' } });
    await plane.registry.create(configMapKind, 'team', { metadata: { name: 'settings' } });
    await plane.registry.delete(namespaceKind, { name: 'team' });
    await plane.settle();
    assert.equal(namesIn(plane).includes('team'), false);
    assert.deepEqual((await plane.registry.list(configMapKind, { namespace: 'team' })).records, []);
  });

  withNamespaces('a namespace is kept while one of its Pods is terminating', async (plane) => {
    await plane.registry.create(namespaceKind, undefined, { metadata: { name: 'team' } });
    const pod = { ...podObject('a', { nodeName: 'n1' }), metadata: { name: 'a', namespace: 'team' } };
    const created = await plane.registry.create(podKind, 'team', pod);
    await plane.registry.delete(namespaceKind, { name: 'team' });
    await plane.settle();
    const stopping = plane.informers.pods.get({ namespace: 'team', name: 'a' });
    assert.ok(stopping?.metadata.deletionTimestamp);
    assert.ok(namesIn(plane).includes('team'));
    const { uid = '' } = created.object().metadata;
    await plane.registry.confirmStopped({ namespace: 'team', name: 'a' }, uid);
    await plane.settle();
    assert.equal(namesIn(plane).includes('team'), false);
  });
});
