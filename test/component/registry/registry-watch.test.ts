/** watch and follow, over a memory store and the real kinds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapKind, namespaceKind, podKind } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import { resourcePath } from '../../../coordinator/registry/storage-keys.js';
import { eventText, refusal, takeEvents, testRegistry } from '../../harness/controllers/registry-fixture.js';
import { configMapObject, podObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'a' };

function relabel(registry: Registry, app: string) {
  return registry.modify(configMapKind, REF, (object) => {
    object.metadata.labels = { app };
  });
}

test('changes arrive in order, each with its revision', async () => {
  const { registry, store } = await testRegistry();
  const watch = await registry.watch(configMapKind, { resourceVersion: String(await store.revision()) });
  const created = await registry.create(configMapKind, 'default', configMapObject('a'));
  const modified = await relabel(registry, 'x');
  await registry.delete(configMapKind, REF);
  const events = await takeEvents(watch, 3);
  assert.deepEqual(events.map(eventText), ['ADDED a', 'MODIFIED a', 'DELETED a']);
  const revisions = events.map((event) => (event.type === 'BOOKMARK' ? 0 : event.record.revision));
  assert.deepEqual(revisions, [created.revision, modified.revision, await store.revision()]);
});

test('a deleted object carries its last state and the revision of the deletion', async () => {
  const { registry, store } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a', { k: 'v' }));
  const watch = await registry.watch(configMapKind, { resourceVersion: String(await store.revision()) });
  await registry.delete(configMapKind, REF);
  const [event] = await takeEvents(watch, 1);
  assert.ok(event?.type === 'DELETED');
  assert.deepEqual(event.record.object().data, { k: 'v' });
  assert.equal(event.record.object().metadata.resourceVersion, String(await store.revision()));
});

test('an object that enters a selection is ADDED, one that leaves it is DELETED', async () => {
  const { registry } = await testRegistry();
  const watch = await registry.watch(configMapKind, { labelSelector: 'app=x' });
  await registry.create(configMapKind, 'default', configMapObject('a'));
  await relabel(registry, 'x');
  const left = await relabel(registry, 'y');
  await relabel(registry, 'x');
  const events = await takeEvents(watch, 3);
  assert.deepEqual(events.map(eventText), ['ADDED a', 'DELETED a', 'ADDED a']);
  const gone = events[1];
  assert.ok(gone?.type === 'DELETED');
  assert.equal(gone.record.revision, left.revision);
  assert.deepEqual(gone.record.object().metadata.labels, { app: 'x' });
});

test('without a resourceVersion, or with 0, a watch starts with the existing objects', async () => {
  const { registry } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a'));
  for (const request of [{}, { resourceVersion: '0' }, { resourceVersion: '' }]) {
    const events = await takeEvents(await registry.watch(configMapKind, request), 1);
    assert.deepEqual(events.map(eventText), ['ADDED a']);
  }
});

test('a watch-list marks the end of its initial events, and continues without a gap', async () => {
  const { registry } = await testRegistry();
  await registry.create(configMapKind, 'default', configMapObject('a'));
  const watch = await registry.watch(configMapKind, { sendInitialEvents: true });
  await registry.create(configMapKind, 'default', configMapObject('b'));
  const events = await takeEvents(watch, 3);
  assert.deepEqual(events.map(eventText), ['ADDED a', 'BOOKMARK', 'ADDED b']);
});

test('a watch-list of an empty collection still marks the end', async () => {
  const { registry } = await testRegistry();
  const events = await takeEvents(await registry.watch(podKind, { sendInitialEvents: true }), 1);
  assert.deepEqual(events.map(eventText), ['BOOKMARK']);
});

test('a watch by name receives this name only, also when another has it as prefix', async () => {
  const { registry } = await testRegistry();
  const request = { namespace: 'default', fieldSelector: 'metadata.name=a' };
  const watch = await registry.watch(configMapKind, request);
  await registry.create(configMapKind, 'default', configMapObject('ab'));
  await registry.create(configMapKind, 'default', configMapObject('a'));
  assert.deepEqual((await takeEvents(watch, 1)).map(eventText), ['ADDED a']);
});

test('a watch resumes after its revision', async () => {
  const { registry } = await testRegistry();
  const first = await registry.create(configMapKind, 'default', configMapObject('a'));
  await registry.create(configMapKind, 'default', configMapObject('b'));
  const watch = await registry.watch(configMapKind, { resourceVersion: String(first.revision) });
  assert.deepEqual((await takeEvents(watch, 1)).map(eventText), ['ADDED b']);
});

test('a resume from before the compaction is a 410 Expired', async () => {
  const { registry, store } = await testRegistry();
  const first = await registry.create(configMapKind, 'default', configMapObject('a'));
  await registry.create(configMapKind, 'default', configMapObject('b'));
  await store.compact(await store.revision());
  const watch = await registry.watch(configMapKind, { resourceVersion: String(first.revision) });
  assert.equal((await refusal(takeEvents(watch, 1))).reason, 'Expired');
});

test('a closed watch ends without an error', async () => {
  const { registry, store } = await testRegistry();
  const watch = await registry.watch(configMapKind, { resourceVersion: String(await store.revision()) });
  watch.close();
  assert.deepEqual(await takeEvents(watch, 1), []);
});

test('watchers of one change share its record', async () => {
  const { registry, store } = await testRegistry();
  const resourceVersion = String(await store.revision());
  const watches = [
    await registry.watch(configMapKind, { resourceVersion }),
    await registry.watch(configMapKind, { resourceVersion, labelSelector: '!none' }),
  ];
  await registry.create(configMapKind, 'default', configMapObject('a'));
  const [first, second] = await Promise.all(watches.map((watch) => takeEvents(watch, 1)));
  assert.ok(first?.[0]?.type === 'ADDED' && second?.[0]?.type === 'ADDED');
  assert.equal(first[0].record, second[0].record);
});

test('following several kinds gives their changes in one order and leaves other kinds out', async () => {
  const { registry, store } = await testRegistry();
  const tail = registry.follow(
    (path) =>
      [podKind, namespaceKind].find((kind) => resourcePath(kind as Kind) === path) as Kind | undefined,
    await store.revision(),
  );
  await registry.create(podKind, 'default', podObject('a'));
  await registry.create(configMapKind, 'default', configMapObject('a'));
  await registry.create(namespaceKind, undefined, { metadata: { name: 'b' } });
  await registry.delete(podKind, REF);
  const told: string[] = [];
  for await (const { changes, revision } of tail) {
    told.push(...changes.map(({ kind, type }) => `${type} ${kind.resource}`));
    if (revision === (await store.revision())) break;
  }
  assert.deepEqual(told, ['ADDED pods', 'ADDED namespaces', 'DELETED pods']);
});
