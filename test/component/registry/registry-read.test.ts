/** get and list, over a memory store and the real kinds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapKind, namespaceKind, podKind } from '../../../coordinator/kinds/index.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { ListRequest } from '../../../coordinator/registry/registry-options.js';
import { MemoryStore } from '../../harness/controllers/memory-store.js';
import { refusal, testRegistry } from '../../harness/controllers/registry-fixture.js';
import { configMapObject, podObject } from '../../harness/objects/object-builders.js';

async function withConfigMaps(count: number): Promise<Registry> {
  const { registry } = await testRegistry();
  for (let index = 0; index < count; index += 1) {
    const labels = { parity: index % 2 === 0 ? 'even' : 'odd' };
    await registry.create(configMapKind, 'default', configMapObject(`c${index}`, {}, { labels }));
  }
  return registry;
}

async function namesOf(registry: Registry, request: ListRequest): Promise<string[]> {
  const { records } = await registry.list(configMapKind, request);
  return records.map((record) => record.object().metadata.name);
}

test('a list has the revision of the store, and each record its own', async () => {
  const { registry, store } = await testRegistry();
  const created = await registry.create(configMapKind, 'default', configMapObject('a'));
  await registry.create(configMapKind, 'default', configMapObject('b'));
  const list = await registry.list(configMapKind);
  assert.equal(list.resourceVersion, String(await store.revision()));
  assert.equal(list.records[0]?.revision, created.revision);
});

test('a list without selectors decodes nothing', async () => {
  const { registry, store } = await testRegistry();
  await store.create('/registry/core/configmaps/default/broken', Buffer.from('{"metadata":{} no JSON'));
  const { records } = await registry.list(configMapKind, { namespace: 'default', limit: 10 });
  assert.equal(records.length, 1);
});

test('a list of a namespace excludes other namespaces, also one whose name has the same prefix', async () => {
  const registry = await withConfigMaps(1);
  await registry.create(namespaceKind, undefined, { metadata: { name: 'default-2' } });
  await registry.create(configMapKind, 'default-2', { metadata: { name: 'other' } });
  assert.deepEqual(await namesOf(registry, { namespace: 'default' }), ['c0']);
  assert.deepEqual(await namesOf(registry, {}), ['other', 'c0']);
});

test('label selectors filter a list', async () => {
  const registry = await withConfigMaps(4);
  assert.deepEqual(await namesOf(registry, { labelSelector: 'parity=odd' }), ['c1', 'c3']);
  assert.deepEqual(await namesOf(registry, { labelSelector: 'parity notin (odd)' }), ['c0', 'c2']);
  assert.deepEqual(await namesOf(registry, { labelSelector: '!parity' }), []);
});

test('field selectors filter by name, by namespace and by the fields of the kind', async () => {
  const { registry } = await testRegistry();
  await registry.create(podKind, 'default', podObject('a', { nodeName: 'n1' }));
  await registry.create(podKind, 'default', podObject('b'));
  const names = async (fieldSelector: string, namespace?: string) => {
    const request = namespace === undefined ? { fieldSelector } : { fieldSelector, namespace };
    return (await registry.list(podKind, request)).records.map((record) => record.object().metadata.name);
  };
  assert.deepEqual(await names('metadata.name=b', 'default'), ['b']);
  assert.deepEqual(await names('metadata.name=b,spec.nodeName=n1', 'default'), []);
  assert.deepEqual(await names('metadata.name!=b'), ['a']);
  assert.deepEqual(await names('metadata.namespace=default,spec.nodeName=n1'), ['a']);
  assert.deepEqual(await names('spec.nodeName='), ['b']);
});

test('an invalid selector and one with an unknown field are a 400', async () => {
  const { registry } = await testRegistry();
  const unknown = await refusal(registry.list(podKind, { fieldSelector: 'spec.foo=1' }));
  assert.equal(unknown.message, 'field label not supported: spec.foo');
  assert.equal(unknown.code, 400);
  assert.equal((await refusal(registry.list(podKind, { labelSelector: 'a in b' }))).code, 400);
  assert.equal((await refusal(registry.list(podKind, { fieldSelector: 'toString=1' }))).code, 400);
});

test('pages show one state, count the rest, and end', async () => {
  const registry = await withConfigMaps(5);
  const first = await registry.list(configMapKind, { limit: 2 });
  assert.equal(first.remainingItemCount, 3);
  await registry.create(configMapKind, 'default', configMapObject('c9'));
  await registry.delete(configMapKind, { namespace: 'default', name: 'c4' });
  const second = await registry.list(configMapKind, { limit: 2, continue: first.continue ?? '' });
  const third = await registry.list(configMapKind, { limit: 2, continue: second.continue ?? '' });
  const names = [...first.records, ...second.records, ...third.records].map(
    (record) => record.object().metadata.name,
  );
  assert.deepEqual(names, ['c0', 'c1', 'c2', 'c3', 'c4']);
  assert.equal(third.resourceVersion, first.resourceVersion);
  assert.equal(third.continue, undefined);
});

test('pages are full under a selector too, and do not count the rest', async () => {
  const registry = await withConfigMaps(7);
  const request = { limit: 2, labelSelector: 'parity=even' };
  const first = await registry.list(configMapKind, request);
  assert.deepEqual(
    first.records.map((record) => record.object().metadata.name),
    ['c0', 'c2'],
  );
  assert.equal(first.remainingItemCount, undefined);
  assert.deepEqual(await namesOf(registry, { ...request, continue: first.continue ?? '' }), ['c4', 'c6']);
});

test('a page whose revision is compacted is a 410 Expired', async () => {
  const { registry, store } = await testRegistry();
  for (const name of ['a', 'b']) await registry.create(configMapKind, 'default', configMapObject(name));
  const { continue: token = '' } = await registry.list(configMapKind, { limit: 1 });
  await registry.create(configMapKind, 'default', configMapObject('c'));
  await store.compact(await store.revision());
  const error = await refusal(registry.list(configMapKind, { limit: 1, continue: token }));
  assert.equal(error.reason, 'Expired');
  assert.equal(error.code, 410);
});

test('the token in the 410 of an expired page continues at the newest revision', async () => {
  const { registry, store } = await testRegistry();
  for (const name of ['a', 'c', 'e']) await registry.create(configMapKind, 'default', configMapObject(name));
  const { continue: token = '' } = await registry.list(configMapKind, { limit: 1 });
  for (const name of ['b', 'd']) await registry.create(configMapKind, 'default', configMapObject(name));
  await registry.delete(configMapKind, { namespace: 'default', name: 'e' });
  await store.compact(await store.revision());
  const { metadata } = (
    await refusal(registry.list(configMapKind, { limit: 1, continue: token }))
  ).toStatus();
  const second = await registry.list(configMapKind, { limit: 2, continue: String(metadata.continue) });
  const third = await registry.list(configMapKind, { limit: 2, continue: second.continue ?? '' });
  const names = [...second.records, ...third.records].map((record) => record.object().metadata.name);
  assert.deepEqual(names, ['b', 'c', 'd']);
  assert.equal(second.resourceVersion, String(await store.revision()));
  assert.equal(third.resourceVersion, second.resourceVersion);
});

test('a filtered list continues at the newest revision once its own is compacted, and has its first revision', async () => {
  const store = new MemoryStore();
  const { registry } = await testRegistry(store);
  for (let index = 100; index < 800; index += 1)
    await registry.create(configMapKind, 'default', configMapObject(`c${index}`));
  const first = await store.revision();
  const list = store.list.bind(store);
  store.list = async (...args) => {
    const page = await list(...args);
    // Between two pages: more changes than the log keeps.
    await store.create(
      '/registry/core/configmaps/default/c799a',
      Buffer.from('{"metadata":{"name":"c799a"}}'),
    );
    store.list = list;
    await store.compact(await store.revision());
    return page;
  };
  const { records, resourceVersion } = await registry.list(configMapKind, { labelSelector: '!parity' });
  assert.equal(records.length, 701);
  assert.equal(new Set(records.map((record) => record.object().metadata.name)).size, 701);
  assert.equal(resourceVersion, String(first));
});

test('a compacted revision without a page is a 410 without a token', async () => {
  const { registry, store } = await testRegistry();
  const { revision } = await registry.create(configMapKind, 'default', configMapObject('a'));
  await registry.create(configMapKind, 'default', configMapObject('b'));
  await store.compact(await store.revision());
  const request = { resourceVersion: String(revision), resourceVersionMatch: 'Exact' };
  const error = await refusal(registry.list(configMapKind, request));
  assert.deepEqual([error.reason, error.toStatus().metadata], ['Expired', {}]);
});

test('a continued list has no revision of its own', async () => {
  const registry = await withConfigMaps(2);
  const { continue: token = '', resourceVersion } = await registry.list(configMapKind, { limit: 1 });
  const error = await refusal(registry.list(configMapKind, { continue: token, resourceVersion }));
  assert.equal(error.message, 'specifying resource version is not allowed when using continue');
});

test('an invalid continue token is a 400', async () => {
  const { registry } = await testRegistry();
  for (const token of ['garbage', Buffer.from('[1]').toString('base64url'), '%%%']) {
    assert.equal((await refusal(registry.list(configMapKind, { continue: token }))).code, 400);
  }
});

test('a future revision is a 504, an invalid one a 400', async () => {
  const { registry } = await testRegistry();
  const error = await refusal(registry.list(configMapKind, { resourceVersion: '999999' }));
  assert.equal(error.code, 504);
  assert.equal(error.details?.causes?.[0]?.reason, 'ResourceVersionTooLarge');
  assert.equal((await refusal(registry.list(configMapKind, { resourceVersion: '1x' }))).code, 400);
});

test('resourceVersionMatch=Exact shows the past, and is rejected without a revision', async () => {
  const registry = await withConfigMaps(1);
  const { resourceVersion } = await registry.list(configMapKind);
  await registry.delete(configMapKind, { namespace: 'default', name: 'c0' });
  assert.deepEqual(await namesOf(registry, { resourceVersion, resourceVersionMatch: 'Exact' }), ['c0']);
  assert.deepEqual(await namesOf(registry, { resourceVersion, resourceVersionMatch: 'NotOlderThan' }), []);
  assert.equal((await refusal(registry.list(configMapKind, { resourceVersionMatch: 'Exact' }))).code, 422);
});

test('a namespace of a kind may be computed: it is read from its reader, and never written', async () => {
  const { registry } = await testRegistry(new MemoryStore());
  const computed = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'n1', namespace: 'kube-node-lease' },
  };
  const reader = {
    namespace: 'kube-node-lease',
    get: (name: string) => (name === 'n1' ? computed : undefined),
    list: () => [computed],
  };
  const kind = { ...configMapKind, reader };
  const ref = { namespace: 'kube-node-lease', name: 'n1' };
  assert.equal((await registry.get(kind, ref)).object().metadata.name, 'n1');
  assert.equal((await refusal(registry.get(kind, { ...ref, name: 'n2' }))).code, 404);
  assert.equal((await refusal(registry.delete(kind, ref))).code, 405);
  assert.equal((await refusal(registry.create(kind, ref.namespace, computed))).code, 405);
  assert.equal((await refusal(registry.watch(kind, { namespace: ref.namespace }))).code, 405);

  await registry.create(kind, 'default', { metadata: { name: 'stored' } });
  const all = await registry.list(kind);
  assert.deepEqual(
    all.records.map((record) => record.object().metadata.name),
    ['stored', 'n1'],
  );
  assert.equal((await registry.list(kind, { fieldSelector: 'metadata.name=n2' })).records.length, 0);
  await registry.delete(kind, { namespace: 'default', name: 'stored' });
});
