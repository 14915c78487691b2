/** patch, over a memory store and the real kinds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapKind, daemonSetKind, nodeKind } from '../../../coordinator/kinds/index.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { Patch } from '../../../coordinator/registry/registry-options.js';
import { OBJECT_MODIFIED } from '../../../shared/kube/objects/api-status.js';
import { refusal, testRegistry } from '../../harness/controllers/registry-fixture.js';
import { configMapObject, daemonSetObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'a' };

async function withConfigMap(data: Record<string, string> = {}): Promise<Registry> {
  const { registry } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a', data));
  return registry;
}

async function dataAfter(registry: Registry, patch: Patch): Promise<unknown> {
  return (await registry.patch(configMapKind, REF, patch)).record.object().data;
}

test('a merge patch merges maps and removes by null', async () => {
  const registry = await withConfigMap({ keep: '1', drop: '2' });
  const body = { data: { drop: null, add: '3' } };
  assert.deepEqual(await dataAfter(registry, { type: 'merge', body }), { keep: '1', add: '3' });
});

test('a JSON patch performs its operations in order', async () => {
  const registry = await withConfigMap({ a: '1' });
  const body = [
    { op: 'test', path: '/data/a', value: '1' },
    { op: 'move', from: '/data/a', path: '/data/b' },
    { op: 'add', path: '/data/c', value: '3' },
  ];
  assert.deepEqual(await dataAfter(registry, { type: 'json', body }), { b: '1', c: '3' });
});

test('a JSON patch whose test fails or whose path is missing is a 422 and changes nothing', async () => {
  const registry = await withConfigMap({ a: '1' });
  const drop = { op: 'remove', path: '/data/a' };
  for (const failing of [
    { op: 'test', path: '/data/a', value: '2' },
    { op: 'replace', path: '/data/b', value: '2' },
    { op: 'add', path: '/no/such/place', value: '2' },
    { op: 'add', path: '/data/b' },
    { op: 'twist', path: '/data/b' },
    { op: 'remove', path: '' },
    { op: 'move', from: '/data/none', path: '/data/b' },
  ]) {
    const error = await refusal(registry.patch(configMapKind, REF, { type: 'json', body: [drop, failing] }));
    assert.equal(error.code, 422);
    assert.equal(error.message, 'the server rejected our request due to an error in our request');
  }
  assert.deepEqual((await registry.get(configMapKind, REF)).object().data, { a: '1' });
});

test('a JSON patch cannot reach inherited properties', async () => {
  const registry = await withConfigMap({ a: '1' });
  for (const path of [
    '/data/toString/x',
    '/data/__proto__/x',
    '/__proto__',
    '/data/constructor/prototype/x',
  ]) {
    const body = [{ op: 'add', path, value: 'polluted' }];
    assert.equal((await refusal(registry.patch(configMapKind, REF, { type: 'json', body }))).code, 422);
  }
  assert.equal(Reflect.get(Object.prototype.toString, 'x'), undefined);
  assert.equal(Reflect.get({}, 'x'), undefined);
});

test('a JSON patch that copies exponentially is a 422 before it exhausts the memory', async () => {
  const registry = await withConfigMap({ a: 'x'.repeat(1000) });
  const body = Array.from({ length: 40 }, (_, index) => ({
    op: 'copy',
    from: '/data',
    path: `/data/copy-${index}`,
  }));
  const error = await refusal(registry.patch(configMapKind, REF, { type: 'json', body }));
  assert.match(error.details?.causes?.[0]?.message ?? '', /copies of more than/);
});

test('invalid patches are 400s', async () => {
  const registry = await withConfigMap();
  const bodies: Patch[] = [
    { type: 'json', body: { op: 'add' } },
    { type: 'json', body: [{ op: 'add' }] },
    { type: 'json', body: [{ op: 'copy', path: '/data' }] },
    { type: 'json', body: [{ op: 'add', path: 'data', value: {} }] },
    { type: 'merge', body: [] },
    { type: 'strategic', body: 'text' },
    { type: 'strategic', body: { metadata: { ownerReferences: [{ name: 'no uid' }] } } },
  ];
  for (const patch of bodies) {
    assert.equal((await refusal(registry.patch(configMapKind, REF, patch))).code, 400);
  }
});

test('a resourceVersion inside a patch must be the current one', async () => {
  const registry = await withConfigMap();
  const { resourceVersion } = (await registry.get(configMapKind, REF)).object().metadata;
  const patch = (version: string | undefined, value: string): Patch => ({
    type: 'merge',
    body: { metadata: { resourceVersion: version }, data: { k: value } },
  });
  assert.deepEqual(await dataAfter(registry, patch(resourceVersion, '1')), { k: '1' });
  const error = await refusal(registry.patch(configMapKind, REF, patch(resourceVersion, '2')));
  assert.equal(error.message, `Operation cannot be fulfilled on configmaps "a": ${OBJECT_MODIFIED}`);
});

test('an empty patch keeps the revision', async () => {
  const registry = await withConfigMap();
  const before = (await registry.get(configMapKind, REF)).revision;
  for (const patch of [
    { type: 'merge', body: {} },
    { type: 'strategic', body: {} },
    { type: 'json', body: [] },
  ] satisfies Patch[]) {
    assert.equal((await registry.patch(configMapKind, REF, patch)).record.revision, before);
  }
});

test('concurrent patches lose nothing', async () => {
  const registry = await withConfigMap();
  const writers = Array.from({ length: 20 }, (_, writer) =>
    registry.patch(configMapKind, REF, { type: 'strategic', body: { data: { [`k${writer}`]: 'v' } } }),
  );
  await Promise.all(writers);
  const { data } = (await registry.get(configMapKind, REF)).object();
  assert.equal(Object.keys(data ?? {}).length, 20);
});

test('a patch cannot change the name, the kind or server-owned fields', async () => {
  const registry = await withConfigMap();
  for (const body of [
    { metadata: { name: 'b' } },
    { kind: 'Secret' },
    { metadata: { namespace: 'other' } },
  ]) {
    assert.equal((await refusal(registry.patch(configMapKind, REF, { type: 'merge', body }))).code, 400);
  }
  const body = { metadata: { creationTimestamp: null, uid: null } };
  const { metadata } = (await registry.patch(configMapKind, REF, { type: 'merge', body })).record.object();
  assert.ok(metadata.uid);
  assert.equal(metadata.creationTimestamp, '2026-01-02T03:04:05Z');
});

test('a patch of a missing object is a 404', async () => {
  const { registry } = await testRegistry();
  const error = await refusal(registry.patch(configMapKind, REF, { type: 'merge', body: {} }));
  assert.equal(error.message, 'configmaps "a" not found');
});

test('the patches of kubectl cordon, taint and rollout undo have their effect', async () => {
  const { registry } = await testRegistry();
  await registry.create(nodeKind, undefined, { metadata: { name: 'n' }, spec: {} });
  const patchNode = async (spec: object) =>
    (await registry.patch(nodeKind, { name: 'n' }, { type: 'strategic', body: { spec } })).record.object()
      .spec;
  assert.equal((await patchNode({ unschedulable: true }))?.unschedulable, true);
  assert.equal((await patchNode({ unschedulable: null }))?.unschedulable, undefined);
  assert.equal((await patchNode({ taints: [{ key: 'a', effect: 'NoSchedule' }] }))?.taints?.length, 1);
  assert.equal((await patchNode({ taints: null }))?.taints, undefined);

  await registry.create(daemonSetKind, 'default', daemonSetObject('a'));
  const template = {
    $patch: 'replace',
    metadata: { labels: { app: 'a' } },
    spec: { containers: [{ name: 'other', image: 'app:2' }] },
  };
  const undo: Patch = { type: 'strategic', body: { spec: { template } } };
  const { spec } = (await registry.patch(daemonSetKind, REF, undo)).record.object();
  assert.deepEqual(
    spec.template.spec.containers.map(({ name }) => name),
    ['other'],
  );
  assert.equal('$patch' in spec.template, false);
});

test('a patch whose result has unknown fields or wrong types is a 422 at patch', async () => {
  const registry = await withConfigMap();
  const strict = { fieldValidation: 'Strict' as const };
  const refused = async (body: object) =>
    refusal(registry.patch(configMapKind, REF, { type: 'strategic', body }, strict));
  const unknown = await refused({ colour: 'green' });
  assert.equal(unknown.code, 422);
  assert.equal(
    unknown.message,
    ' "" is invalid: patch: Invalid value: "{\\"colour\\":\\"green\\"}": strict decoding error: unknown field "colour"',
  );
  const wrong = await refused({ data: ['x'] });
  assert.equal(wrong.details?.causes?.[0]?.field, 'patch');
});
