/** update and modify, over a memory store and the real kinds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapKind, podKind } from '../../../coordinator/kinds/index.js';
import { StoreError } from '../../../coordinator/store/store-error.js';
import { OBJECT_MODIFIED } from '../../../shared/kube/objects/api-status.js';
import { refusal, testRegistry } from '../../harness/controllers/registry-fixture.js';
import { configMapObject, podObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'a' };

test('a stale resourceVersion is a 409, and an update without one overwrites', async () => {
  const { registry } = await testRegistry();
  const first = (await registry.create(configMapKind, 'default', configMapObject('a'))).object();
  await registry.update(configMapKind, REF, configMapObject('a', { k: '1' }));
  const error = await refusal(registry.update(configMapKind, REF, { ...first, data: { k: '2' } }));
  assert.equal(error.message, `Operation cannot be fulfilled on configmaps "a": ${OBJECT_MODIFIED}`);
  assert.deepEqual((await registry.get(configMapKind, REF)).object().data, { k: '1' });
});

test('an update that changes nothing keeps the revision, whatever the order of its fields', async () => {
  const { registry, store } = await testRegistry();
  const manifest = configMapObject('a', { x: '1', y: '2' });
  const { metadata } = (await registry.create(configMapKind, 'default', manifest)).object();
  const before = await store.revision();
  const reordered = { data: { y: '2', x: '1' }, metadata, kind: 'ConfigMap', apiVersion: 'v1' };
  const again = await registry.update(configMapKind, REF, reordered);
  assert.equal(again.object().metadata.resourceVersion, metadata.resourceVersion);
  assert.equal(await store.revision(), before);
});

test('an update keeps server-owned fields', async () => {
  const { registry } = await testRegistry();
  const first = (await registry.create(configMapKind, 'default', configMapObject('a'))).object();
  const body = configMapObject('a', { k: 'v' }, { creationTimestamp: '1999-01-01T00:00:00Z' });
  const { metadata } = (await registry.update(configMapKind, REF, body)).object();
  assert.equal(metadata.uid, first.metadata.uid);
  assert.equal(metadata.creationTimestamp, first.metadata.creationTimestamp);
});

test('another uid is a 409, another name a 400, a missing object a 404', async () => {
  const { registry } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a'));
  const other = configMapObject('a', {}, { uid: 'someone-else' });
  assert.equal((await refusal(registry.update(configMapKind, REF, other))).code, 409);
  assert.equal((await refusal(registry.update(configMapKind, REF, configMapObject('b')))).code, 400);
  const missing = { namespace: 'default', name: 'b' };
  assert.equal((await refusal(registry.update(configMapKind, missing, configMapObject('b')))).code, 404);
});

test('a status write changes only the status', async () => {
  const { registry } = await testRegistry();
  await registry.create(podKind, 'default', podObject('a'));
  const both = { ...podObject('a', { hostNetwork: true }), status: { phase: 'Running' } };
  const reported = (await registry.update(podKind, REF, both, { subresource: 'status' })).object();
  assert.equal(reported.status?.phase, 'Running');
  assert.equal(reported.spec.hostNetwork, undefined);
});

test('a dry run returns the result and changes nothing', async () => {
  const { registry, store } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a'));
  const before = await store.revision();
  const dry = { dryRun: true };
  const answer = await registry.update(configMapKind, REF, configMapObject('a', { k: 'v' }), dry);
  assert.deepEqual(answer.object().data, { k: 'v' });
  assert.equal(await store.revision(), before);
});

test('concurrent modifications lose nothing', async () => {
  const { registry } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a'));
  const writers = Array.from({ length: 20 }, (_, writer) =>
    registry.modify(configMapKind, REF, (object) => {
      object.data = { ...object.data, [`writer-${writer}`]: 'was here' };
    }),
  );
  await Promise.all(writers);
  const { data } = (await registry.get(configMapKind, REF)).object();
  assert.equal(Object.keys(data ?? {}).length, 20);
});

test('a modification that returns false writes nothing', async () => {
  const { registry, store } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a'));
  const before = await store.revision();
  await registry.modify(configMapKind, REF, () => false);
  assert.equal(await store.revision(), before);
});

test('a full store is a 503, a broken one a 500, and neither names a path', async () => {
  const { registry, store } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a'));
  for (const [code, status] of [
    ['full', 503],
    ['failed', 500],
  ] as const) {
    store.update = () => Promise.reject(new StoreError(code, 'no space left for /var/lib/secret'));
    const error = await refusal(registry.update(configMapKind, REF, configMapObject('a', { k: 'v' })));
    assert.equal(error.code, status);
    const words = {
      full: /^the disk of the coordinator is full/,
      failed: /^Internal error occurred: the store cannot write: failed$/,
    };
    assert.match(error.message, words[code]);
  }
});
