/** Definitions from their creation to their deletion, with garbage collection, on a control plane in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DefinitionController } from '../../../coordinator/controllers/custom-resources/definition-controller.js';
import { GarbageCollector } from '../../../coordinator/controllers/gc/garbage-collector.js';
import { configMapKind, customResourceDefinitionKind, leaseKind } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { CustomResourceDefinition } from '../../../shared/kube/objects/custom-resource-definition.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { type ControlPlane, startControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { definitionVersion, widgetDefinition } from '../../harness/objects/definition-builder.js';

const SCHEMA = {
  type: 'object',
  properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
} as const;
const NAME = { name: 'widgets.example.com' };
const WIDGETS = { group: 'example.com', version: 'v1', resource: 'widgets' };

function withPlane(title: string, run: (plane: ControlPlane) => Promise<void>): void {
  test(title, async () => {
    const plane = await startControlPlane();
    const controllers = [new DefinitionController(plane), new GarbageCollector(plane)];
    try {
      await run(plane);
    } finally {
      await Promise.all(controllers.map((controller) => controller.stop()));
      await plane.stop();
    }
  });
}

async function establish(
  plane: ControlPlane,
  change: Partial<CustomResourceDefinition['spec']> = {},
): Promise<Kind> {
  const { status: _, ...body } = widgetDefinition([definitionVersion(SCHEMA)], change);
  await plane.registry.create(customResourceDefinitionKind, undefined, body);
  await plane.settle();
  return plane.registry.customKinds.find(WIDGETS)?.kind ?? assert.fail('the kind is not served');
}

const widget = (name: string, metadata: object = {}) => ({ metadata: { name, ...metadata } });
const owner = ({ apiVersion, kind, metadata: { name, uid } }: KubeObject) => ({
  ownerReferences: [{ apiVersion, kind, name, uid: uid ?? '' }],
});
const objectNames = async (plane: ControlPlane, kind: Kind) =>
  (await plane.registry.list(kind)).records.map((record) => record.object().metadata.name);

withPlane('a definition is established, served, and removed with its objects', async (plane) => {
  const kind = await establish(plane);
  await plane.registry.create(kind, 'default', widget('a'));
  await plane.registry.delete(customResourceDefinitionKind, NAME);
  await plane.settle();
  assert.deepEqual(await objectNames(plane, kind), []);
  assert.equal(plane.informers.customResourceDefinitions.size, 0);
  assert.equal(plane.registry.customKinds.find(WIDGETS), undefined);
});

withPlane('a definition waits for the finalizers of its objects', async (plane) => {
  const kind = await establish(plane);
  await plane.registry.create(kind, 'default', widget('a', { finalizers: ['example.com/hold'] }));
  await plane.registry.delete(customResourceDefinitionKind, NAME);
  await plane.settle();
  const terminating = plane.informers.customResourceDefinitions.get(NAME)?.status?.conditions?.at(-1);
  assert.deepEqual([terminating?.type, terminating?.reason], ['Terminating', 'InstanceDeletionInProgress']);
  await plane.registry.modify(kind, { namespace: 'default', name: 'a' }, (object) => {
    object.metadata.finalizers = [];
    return undefined;
  });
  await plane.advance(2_000);
  assert.equal(plane.informers.customResourceDefinitions.size, 0);
});

withPlane('a definition that was deleted while no controller ran is cleaned up', async (plane) => {
  const kind = await establish(plane);
  const stopped = new DefinitionController(plane);
  await stopped.stop();
  await plane.registry.create(kind, 'default', widget('a'));
  await plane.registry.delete(customResourceDefinitionKind, NAME);
  const next = new DefinitionController(plane);
  await plane.settle();
  assert.equal(plane.informers.customResourceDefinitions.size, 0);
  await next.stop();
});

withPlane('a definition in conflict is established when the name becomes free', async (plane) => {
  await establish(plane);
  const names = { plural: 'others', singular: 'other', kind: 'Widget', listKind: 'OtherList' };
  const { status: _, ...body } = widgetDefinition([definitionVersion(SCHEMA)], { names });
  body.metadata = { name: 'others.example.com' };
  await plane.registry.create(customResourceDefinitionKind, undefined, body);
  await plane.settle();
  const condition = () =>
    plane.informers.customResourceDefinitions.get({ name: 'others.example.com' })?.status?.conditions?.[0];
  assert.deepEqual([condition()?.status, condition()?.reason], ['False', 'KindConflict']);
  await plane.registry.delete(customResourceDefinitionKind, NAME);
  await plane.settle();
  assert.equal(condition()?.status, 'True');
});

withPlane(
  'a definition with the name of a built-in kind is not established, and deletes nothing',
  async (plane) => {
    const names = { plural: 'leases', singular: 'lease', kind: 'Lease', listKind: 'LeaseList' };
    const change = { group: 'coordination.k8s.io', names };
    const { status: _, ...body } = widgetDefinition([definitionVersion(SCHEMA)], change);
    const name = 'leases.coordination.k8s.io';
    const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' };
    await plane.registry.create(leaseKind, 'default', widget('kept'));
    const definition = { ...body, metadata: { name, annotations } };
    await plane.registry.create(customResourceDefinitionKind, undefined, definition);
    await plane.settle();
    const conditions = plane.informers.customResourceDefinitions.get({ name })?.status?.conditions;
    assert.deepEqual(
      conditions?.map(({ status }) => status),
      ['False', 'False'],
    );
    await plane.registry.delete(customResourceDefinitionKind, { name });
    await plane.settle();
    assert.equal(plane.informers.customResourceDefinitions.size, 0);
    assert.deepEqual(await objectNames(plane, leaseKind as Kind), ['kept']);
  },
);

withPlane('custom resources are owners and dependents', async (plane) => {
  const kind = await establish(plane);
  const first = (await plane.registry.create(kind, 'default', widget('first'))).object();
  const second = (await plane.registry.create(kind, 'default', widget('second', owner(first)))).object();
  await plane.registry.create(configMapKind, 'default', widget('third', owner(second)));
  await plane.settle();
  await plane.registry.delete(kind, { namespace: 'default', name: 'first' });
  await plane.settle();
  assert.deepEqual(
    [await objectNames(plane, kind), await objectNames(plane, configMapKind as Kind)],
    [[], []],
  );
});

withPlane('a custom resource whose owner never existed is deleted', async (plane) => {
  const kind = await establish(plane);
  const ghost = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'ghost', uid: 'u' } };
  await plane.registry.create(kind, 'default', widget('lost', owner(ghost)));
  await plane.settle();
  assert.deepEqual(await objectNames(plane, kind), []);
});

withPlane('a custom resource has its owner also after a change of its definition', async (plane) => {
  const kind = await establish(plane);
  const config = (await plane.registry.create(configMapKind, 'default', widget('owner'))).object();
  await plane.registry.create(kind, 'default', widget('old', owner(config)));
  await plane.registry.modify(customResourceDefinitionKind, NAME, (definition) => {
    definition.spec.versions.push(definitionVersion(SCHEMA, { name: 'v2', storage: false }));
    return undefined;
  });
  await plane.settle();
  await plane.registry.delete(configMapKind, { namespace: 'default', name: 'owner' });
  await plane.settle();
  assert.deepEqual(await objectNames(plane, kind), []);
});
