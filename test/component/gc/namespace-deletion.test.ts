import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { NamespaceController } from '../../../coordinator/controllers/gc/namespace-controller.js';
import {
  configMapKind,
  namespaceKind,
  podKind,
  secretKind,
  serviceAccountKind,
  validatingAdmissionPolicyBindingKind,
  validatingAdmissionPolicyKind,
} from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { type ControlPlane, withControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { admissionPolicy, CONFIG_MAP_RULE, policyBinding } from '../../harness/objects/admission-builders.js';
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

const conditionOf = (plane: ControlPlane) =>
  plane.informers.namespaces
    .get({ name: 'team' })
    ?.status?.conditions?.find(({ type }) => type === 'NamespaceDeletionContentFailure');

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

  withNamespaces(
    'a kind that a policy protects is reported, and does not protect the others',
    async (plane) => {
      const { registry } = plane;
      const rule = { ...CONFIG_MAP_RULE, operations: ['DELETE'] };
      const validations = [{ expression: "oldObject.metadata.name != 'kept'", message: 'it is kept' }];
      const policy = admissionPolicy('keep', { matchConstraints: { resourceRules: [rule] }, validations });
      await registry.create(validatingAdmissionPolicyKind, undefined, policy);
      await registry.create(validatingAdmissionPolicyBindingKind, undefined, policyBinding('keep'));
      await registry.create(namespaceKind, undefined, { metadata: { name: 'team' } });
      await registry.create(configMapKind, 'team', { metadata: { name: 'kept' } });
      await registry.create(secretKind, 'team', { metadata: { name: 'key' } });
      await registry.create(serviceAccountKind, 'team', { metadata: { name: 'app' } });
      await plane.settle();
      await registry.delete(namespaceKind, { name: 'team' });
      await plane.settle();
      for (const kind of [secretKind, serviceAccountKind]) {
        assert.deepEqual((await registry.list<KubeObject>(kind as Kind, { namespace: 'team' })).records, []);
      }
      const refused =
        `configmaps "kept" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep-binding' denied request: ` +
        'it is kept';
      const { lastTransitionTime: _, ...condition } = conditionOf(plane) ?? {};
      assert.deepEqual(condition, {
        type: 'NamespaceDeletionContentFailure',
        status: 'True',
        reason: 'ContentDeletionFailed',
        message: `Failed to delete all resource types, 1 remaining: ${refused}`,
      });
      const { resourceVersion } = plane.informers.namespaces.get({ name: 'team' })?.metadata ?? {};
      await plane.advance(20_000);
      assert.equal(
        plane.informers.namespaces.get({ name: 'team' })?.metadata.resourceVersion,
        resourceVersion,
      );
      await registry.delete(validatingAdmissionPolicyBindingKind, { name: 'keep-binding' });
      await plane.settle();
      await plane.advance(60_000);
      assert.equal(namesIn(plane).includes('team'), false);
    },
  );
});
