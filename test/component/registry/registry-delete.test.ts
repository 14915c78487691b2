/** delete, deletecollection and the end of Pods, over a memory store and the real kinds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapKind, daemonSetKind, namespaceKind, podKind } from '../../../coordinator/kinds/index.js';
import { refusal, testRegistry } from '../../harness/controllers/registry-fixture.js';
import { configMapObject, podObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'a' };

test('a bound Pod gets its grace period and is removed when its agent reports the end', async () => {
  const { registry } = await testRegistry();
  const pod = (await registry.create(podKind, 'default', podObject('a', { nodeName: 'n1' }))).object();
  const result = await registry.delete(podKind, REF);
  assert.ok(!result.isRemoved);
  assert.equal(result.object.metadata.deletionGracePeriodSeconds, 30);
  assert.equal(result.object.metadata.deletionTimestamp, '2026-01-02T03:04:35Z');
  await registry.confirmStopped(REF, pod.metadata.uid ?? '');
  assert.equal((await refusal(registry.get(podKind, REF))).code, 404);
});

test('a report about a deleted Pod, or about an older one of its name, changes nothing', async () => {
  const { registry } = await testRegistry();
  await registry.confirmStopped(REF, 'never there');
  await registry.create(podKind, 'default', podObject('a', { nodeName: 'n1' }));
  await registry.confirmStopped(REF, 'an older one');
  assert.equal((await registry.get(podKind, REF)).object().metadata.deletionTimestamp, undefined);
});

test('an unbound Pod is deleted at once', async () => {
  const { registry } = await testRegistry();
  await registry.create(podKind, 'default', podObject('a'));
  assert.ok((await registry.delete(podKind, REF)).isRemoved);
});

test('finalizers keep an object, and the update that drops the last one removes it', async () => {
  const { registry } = await testRegistry();
  const held = configMapObject('a', {}, { finalizers: ['example.com/hold'] });
  await registry.create(configMapKind, 'default', held);
  assert.ok(!(await registry.delete(configMapKind, REF)).isRemoved);
  await registry.modify(configMapKind, REF, (object) => {
    delete object.metadata.finalizers;
  });
  assert.equal((await refusal(registry.get(configMapKind, REF))).code, 404);
});

test('a deleted namespace is Terminating until its finalizer is removed', async () => {
  const { registry } = await testRegistry();
  await registry.create(namespaceKind, undefined, { metadata: { name: 'a' } });
  const result = await registry.delete(namespaceKind, { name: 'a' });
  assert.ok(!result.isRemoved);
  assert.equal(result.object.status?.phase, 'Terminating');
  const finalize = { subresource: 'finalize' as const };
  await registry.modify(namespaceKind, { name: 'a' }, emptyFinalizers, finalize);
  assert.equal((await refusal(registry.get(namespaceKind, { name: 'a' }))).code, 404);
});

function emptyFinalizers(namespace: { spec?: { finalizers?: string[] } }): undefined {
  namespace.spec = { finalizers: [] };
}

test('failed preconditions are a 409', async () => {
  const { registry } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a'));
  const byUid = await refusal(registry.delete(configMapKind, REF, { preconditions: { uid: 'x' } }));
  assert.match(byUid.message, /the UID in the precondition \(x\) does not match the UID in record/);
  const preconditions = { resourceVersion: '1' };
  assert.equal((await refusal(registry.delete(configMapKind, REF, { preconditions }))).code, 409);
});

test('a built-in namespace is a 403, a missing object a 404', async () => {
  const { registry } = await testRegistry();
  const error = await refusal(registry.delete(namespaceKind, { name: 'default' }));
  assert.equal(error.message, 'namespaces "default" is forbidden: this namespace may not be deleted');
  assert.equal(error.code, 403);
  const missing = await refusal(registry.delete(daemonSetKind, REF));
  assert.equal(missing.message, 'daemonsets.apps "a" not found');
});

test('a dry run deletes nothing', async () => {
  const { registry } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a'));
  assert.ok((await registry.delete(configMapKind, REF, { dryRun: true })).isRemoved);
  await registry.get(configMapKind, REF);
});

test('a collection delete removes the matching objects and keeps the others', async () => {
  const { registry } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a', {}, { labels: { app: 'x' } }));
  await registry.create(configMapKind, 'default', configMapObject('b'));
  const selection = { namespace: 'default', labelSelector: 'app=x' };
  const gone = await registry.deleteCollection(configMapKind, selection);
  assert.deepEqual(
    gone.map((record) => record.object().metadata.name),
    ['a'],
  );
  assert.equal((await registry.list(configMapKind)).records.length, 1);
});

test('a Pod is bound once', async () => {
  const { registry } = await testRegistry();
  await registry.create(podKind, 'default', podObject('a'));
  await registry.bind(REF, 'n1');
  const pod = (await registry.get(podKind, REF)).object();
  assert.equal(pod.spec.nodeName, 'n1');
  assert.equal(pod.status?.conditions?.[0]?.type, 'PodScheduled');
  const error = await refusal(registry.bind(REF, 'n2'));
  assert.equal(
    error.message,
    'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
  );
});

test('an eviction does not delete another Pod that takes the name meanwhile', async () => {
  const { registry, store } = await testRegistry();
  const first = await registry.create(podKind, 'default', podObject('a', { nodeName: 'n1' }));
  const { update } = store;
  let isReplaced = false;
  // The first write of the eviction sets the condition. Before the deletion, the Pod is replaced.
  store.update = async (...args) => {
    const revision = await update.apply(store, args);
    if (!isReplaced) {
      isReplaced = true;
      await registry.confirmStopped(REF, first.object().metadata.uid ?? '');
      await registry.create(podKind, 'default', podObject('a', { nodeName: 'n1' }));
    }
    return revision;
  };
  assert.equal((await refusal(registry.evict(REF))).code, 404);
  assert.equal((await registry.get(podKind, REF)).object().metadata.deletionTimestamp, undefined);
});

test('an eviction marks a Pod and deletes it', async () => {
  const { registry } = await testRegistry();
  await registry.create(podKind, 'default', podObject('a', { nodeName: 'n1' }));
  assert.equal((await registry.evict(REF)).status, 'Success');
  const pod = (await registry.get(podKind, REF)).object();
  assert.equal(pod.status?.conditions?.[0]?.reason, 'EvictionByEvictionAPI');
  assert.ok(pod.metadata.deletionTimestamp);
});
