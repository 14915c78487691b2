/** create, over a memory store and the real kinds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapKind, namespaceKind, podKind } from '../../../coordinator/kinds/index.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemRandom } from '../../../shared/process/time/random.js';
import { refusal, testRegistry } from '../../harness/controllers/registry-fixture.js';
import { configMapObject, podObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'a' };

test('a create sets uid, creation time and resourceVersion', async () => {
  const { registry } = await testRegistry();
  const { metadata } = (await registry.create(configMapKind, 'default', configMapObject('a'))).object();
  assert.match(metadata.uid ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(metadata.creationTimestamp, '2026-01-02T03:04:05Z');
  assert.match(metadata.resourceVersion ?? '', /^\d+$/);
});

test('a name in use is a 409 AlreadyExists', async () => {
  const { registry } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a'));
  const error = await refusal(registry.create(configMapKind, 'default', configMapObject('a')));
  assert.equal(error.message, 'configmaps "a" already exists');
  assert.equal(error.reason, 'AlreadyExists');
});

test('the namespace is taken from the URL, and another one in the body is a 400', async () => {
  const { registry } = await testRegistry();
  const bare = await registry.create(configMapKind, 'default', { metadata: { name: 'a' } });
  assert.equal(bare.object().metadata.namespace, 'default');
  const elsewhere = configMapObject('b', {}, { namespace: 'other' });
  const error = await refusal(registry.create(configMapKind, 'default', elsewhere));
  assert.equal(error.code, 400);
  assert.match(error.message, /does not match the namespace sent on the request/);
});

test('a missing namespace is a 404 for the namespace', async () => {
  const { registry } = await testRegistry();
  const error = await refusal(registry.create(configMapKind, 'nowhere', { metadata: { name: 'a' } }));
  assert.equal(error.message, 'namespaces "nowhere" not found');
});

test('a terminating namespace is a 403 with the cause NamespaceTerminating', async () => {
  const { registry } = await testRegistry();
  await registry.create(namespaceKind, undefined, { metadata: { name: 'ending' } });
  await registry.delete(namespaceKind, { name: 'ending' });
  const pod = { ...podObject('a'), metadata: { name: 'a' } };
  const error = await refusal(registry.create(podKind, 'ending', pod));
  assert.equal(error.code, 403);
  assert.equal(
    error.message,
    'pods "a" is forbidden: unable to create new content in namespace ending because it is being terminated',
  );
  assert.equal(error.details?.causes?.[0]?.reason, 'NamespaceTerminating');
});

test('an object without a name is rejected as one named ""', async () => {
  const { registry } = await testRegistry();
  const error = await refusal(registry.create(configMapKind, 'default', { metadata: {} }));
  assert.equal(
    error.message,
    'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  );
});

test('generateName appends five characters of the alphabet, and fields derived from the name follow', async () => {
  const { registry } = await testRegistry();
  const body = { metadata: { generateName: 'team-' } };
  const { metadata } = (await registry.create(namespaceKind, undefined, body)).object();
  assert.match(metadata.name, /^team-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assert.equal(metadata.labels?.['kubernetes.io/metadata.name'], metadata.name);
});

test('a generated name in use is generated again', async () => {
  const { registry, store, clock } = await testRegistry();
  const draws = [...Array(10).fill(0), ...Array(5).fill(0.99)] as number[];
  const chance = { ...systemRandom, random: () => draws.shift() ?? 0.5 };
  const scripted = createRegistry({ store, clock, kinds: registry.kinds, log: silentLogger, random: chance });
  const body = { metadata: { generateName: 'x-' } };
  assert.equal((await scripted.create(configMapKind, 'default', body)).object().metadata.name, 'x-bbbbb');
  assert.equal((await scripted.create(configMapKind, 'default', body)).object().metadata.name, 'x-99999');
});

test('a dry run stores nothing and names no resourceVersion, but rejects a name in use', async () => {
  const { registry } = await testRegistry();
  const dry = { dryRun: true };
  const record = await registry.create(configMapKind, 'default', configMapObject('a'), dry);
  assert.equal(record.object().metadata.resourceVersion, undefined);
  assert.equal((await refusal(registry.get(configMapKind, REF))).code, 404);
  await registry.create(configMapKind, 'default', configMapObject('a'));
  const error = await refusal(registry.create(configMapKind, 'default', configMapObject('a'), dry));
  assert.equal(error.reason, 'AlreadyExists');
});

test('an invalid name is a 422 at metadata.name', async () => {
  const { registry } = await testRegistry();
  const error = await refusal(registry.create(configMapKind, 'default', configMapObject('A_b')));
  assert.equal(error.code, 422);
  assert.equal(error.details?.causes?.[0]?.field, 'metadata.name');
});

test('a resourceVersion in the body, another kind and another version are 400s', async () => {
  const { registry } = await testRegistry();
  for (const mistake of [
    configMapObject('a', {}, { resourceVersion: '7' }),
    { ...configMapObject('a'), kind: 'Secret' },
    { ...configMapObject('a'), apiVersion: 'v2' },
    ['a list'],
  ]) {
    assert.equal((await refusal(registry.create(configMapKind, 'default', mistake))).code, 400);
  }
});

test('a Pod gets the two 300 s tolerations unless it has its own', async () => {
  const { registry } = await testRegistry();
  const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };
  const record = await registry.create(podKind, 'default', podObject('a', { tolerations: [own] }));
  const [first, second, ...rest] = record.object().spec.tolerations ?? [];
  assert.deepEqual(first, own);
  assert.equal(second?.key, 'node.kubernetes.io/unreachable');
  assert.equal(second?.tolerationSeconds, 300);
  assert.deepEqual(rest, []);
});

test('null fields are dropped, and copied managedFields are dropped', async () => {
  const { registry } = await testRegistry();
  const body = configMapObject('a', {}, { labels: null, managedFields: [{ manager: 'x' }] });
  const warn = { fieldValidation: 'Warn' as const };
  const { metadata } = (await registry.create(configMapKind, 'default', body, warn)).object();
  assert.equal('labels' in metadata, false);
  assert.equal('managedFields' in metadata, false);
});

const UNKNOWN = { ...configMapObject('a'), colour: 'green', metadata: { name: 'a', shade: 1 } };

test('an unknown field is a 400 that names each one under Strict', async () => {
  const { registry } = await testRegistry();
  const strict = { fieldValidation: 'Strict' as const };
  const error = await refusal(registry.create(configMapKind, 'default', UNKNOWN, strict));
  assert.equal(error.code, 400);
  assert.equal(
    error.message,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.shade", unknown field "colour"',
  );
});

test('an unknown field is a warning under Warn, and is not stored', async () => {
  const { registry } = await testRegistry();
  const warnings: string[] = [];
  const options = { fieldValidation: 'Warn' as const, warn: (text: string) => void warnings.push(text) };
  const record = await registry.create(configMapKind, 'default', UNKNOWN, options);
  assert.deepEqual(warnings, ['unknown field "metadata.shade"', 'unknown field "colour"']);
  assert.equal('colour' in record.object(), false);
});

test('a wrong JSON type is a 400 even under Ignore', async () => {
  const { registry } = await testRegistry();
  const body = { ...configMapObject('a'), data: 'text' };
  const ignore = { fieldValidation: 'Ignore' as const };
  const error = await refusal(registry.create(configMapKind, 'default', body, ignore));
  assert.equal(error.code, 400);
  assert.match(error.message, /json: cannot unmarshal string into Go struct field ConfigMap\.data/);
});

test('bytes carry the resourceVersion, and the stored value does not', async () => {
  const { registry, store } = await testRegistry();
  const created = await registry.create(configMapKind, 'default', configMapObject('a', { k: 'v' }));
  const read = await registry.get(configMapKind, REF);
  assert.deepEqual(JSON.parse(read.bytes().toString()), created.object());
  assert.deepEqual(JSON.parse(created.bytes().toString()), created.object());
  const stored = (await store.get('/registry/core/configmaps/default/a'))?.value.toString() ?? '';
  assert.match(stored, /^\{"apiVersion":"v1","kind":"ConfigMap","metadata":\{/);
  assert.doesNotMatch(stored, /resourceVersion/);
});

test('an object above the size limit is a 413', async () => {
  const { registry } = await testRegistry();
  const env = [{ name: 'LARGE', value: 'x'.repeat(1_600_000) }];
  const body = podObject('a', { containers: [{ name: 'main', image: 'app:1', env }] });
  const error = await refusal(registry.create(podKind, 'default', body));
  assert.equal(error.reason, 'RequestEntityTooLarge');
});

test('a namespace that changes between its check and the write is checked again', async () => {
  const { registry, store } = await testRegistry();
  const key = '/registry/core/namespaces/default';
  const { create } = store;
  let raced = false;
  store.create = async (...write) => {
    const namespace = await store.get(key);
    if (!raced && namespace) await store.update(key, namespace.value);
    raced = true;
    return create.apply(store, write);
  };
  await registry.create(configMapKind, 'default', configMapObject('a'));
  assert.ok(raced);
  await registry.get(configMapKind, REF);
});
