import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ALL_KINDS, configMapKind } from '../../../coordinator/kinds/index.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { openWatch } from '../../harness/api/watch-lines.js';
import { MemoryStore } from '../../harness/controllers/memory-store.js';

let api: TestApi;
const store = new MemoryStore();
before(async () => {
  const registry = createRegistry({ store, kinds: ALL_KINDS, clock: systemClock, log: silentLogger });
  api = await startTestApi({ registry });
});
after(() => api.stop());

const MAPS = '/api/v1/namespaces/default/configmaps';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

async function create(name: string, labels: Record<string, string> = {}): Promise<string> {
  const record = await api.registry.create(configMapKind, 'default', { metadata: { name, labels } });
  return String(record.revision);
}

const one = (name: string) => `fieldSelector=metadata.name%3D${name}`;

test('a watch from a version sends the changes after it', async () => {
  const version = await create('from');
  const watch = await openWatch(api, `${MAPS}?watch=1&resourceVersion=${version}&${one('from')}`);
  await call(api, `DELETE ${MAPS}/from`);
  const event = await watch.next();
  assert.equal(event?.type, 'DELETED');
  assert.ok(Number(event?.object.metadata.resourceVersion) > Number(version));
  watch.close();
});

for (const version of ['', '&resourceVersion=0']) {
  test(`a watch with "${version}" starts with the existing objects`, async () => {
    const name = `there${version.length}`;
    await create(name);
    const watch = await openWatch(api, `${MAPS}?watch=1${version}&${one(name)}`);
    assert.equal((await watch.next())?.type, 'ADDED');
    watch.close();
  });
}

test('a watch-list ends its initial events with a marked bookmark', async () => {
  await create('listed');
  const query = `sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&${one('listed')}`;
  const watch = await openWatch(api, `${MAPS}?watch=1&${query}`);
  assert.equal((await watch.next())?.object.metadata.name, 'listed');
  const bookmark = await watch.next();
  assert.equal(bookmark?.type, 'BOOKMARK');
  assert.deepEqual(bookmark?.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
  assert.ok(Number(bookmark?.object.metadata.resourceVersion) > 0);
  watch.close();
});

for (const query of ['sendInitialEvents=true', 'resourceVersionMatch=NotOlderThan']) {
  test(`a watch with ${query} alone is 422`, async () => {
    const answer = await call(api, `GET ${MAPS}?watch=1&${query}`);
    assert.equal(answer.json<{ reason: string }>().reason, 'Invalid');
  });
}

test('an object that leaves the selection is DELETED', async () => {
  const version = await create('leaver', { color: 'green' });
  const watch = await openWatch(
    api,
    `${MAPS}?watch=1&resourceVersion=${version}&labelSelector=color%3Dgreen`,
  );
  const headers = { 'content-type': 'application/merge-patch+json' };
  await call(api, `PATCH ${MAPS}/leaver`, { body: { metadata: { labels: { color: null } } }, headers });
  assert.equal((await watch.next())?.type, 'DELETED');
  watch.close();
});

test('timeoutSeconds ends the stream without an error', async () => {
  const version = await create('timed');
  const watch = await openWatch(api, `${MAPS}?watch=1&resourceVersion=${version}&timeoutSeconds=1`);
  assert.equal(await watch.next(), undefined);
});

test('a compacted version is 410 Expired in the stream', async () => {
  const version = await create('old');
  await create('newer');
  await store.compact(await store.revision());
  const watch = await openWatch(api, `${MAPS}?watch=1&resourceVersion=${version}`);
  const event = await watch.next();
  assert.deepEqual([event?.type, event?.object.code, event?.object.reason], ['ERROR', 410, 'Expired']);
  assert.equal(await watch.next(), undefined);
});

test('a future version is rejected with 504', async () => {
  const answer = await call(api, `GET ${MAPS}?watch=1&resourceVersion=999999999`);
  assert.equal(answer.code, 504);
});

test('a Table watch sends its columns once', async () => {
  await create('tabled');
  const watch = await openWatch(api, `${MAPS}?watch=1&${one('tabled')}`, { accept: TABLE });
  const first = await watch.next();
  assert.deepEqual(
    first?.object.columnDefinitions?.map(({ name }) => name),
    ['Name', 'Data', 'Age'],
  );
  assert.equal(first?.object.rows?.[0]?.cells[0], 'tabled');
  await call(api, `DELETE ${MAPS}/tabled`);
  const second = await watch.next();
  assert.deepEqual(second?.object.columnDefinitions, []);
  watch.close();
});

for (const [allowed, expected] of [
  ['true', 'BOOKMARK'],
  ['false', undefined],
] as const) {
  test(`allowWatchBookmarks=${allowed}: a minute without events sends ${expected ?? 'nothing'}`, async () => {
    const clock = new ManualClock(Date.now());
    const quiet = await startTestApi({ clock });
    const { records } = await quiet.registry.list(configMapKind);
    assert.equal(records.length, 0);
    const query = `watch=1&allowWatchBookmarks=${allowed}&timeoutSeconds=90&resourceVersion=4`;
    const watch = await openWatch(quiet, `${MAPS}?${query}`);
    clock.advance(60_000);
    const first = expected ? await watch.next() : undefined;
    assert.equal(first?.type, expected);
    assert.equal(first?.object.metadata.resourceVersion, expected && '4');
    clock.advance(27_999);
    clock.advance(1);
    const last = expected ? await watch.next() : undefined;
    assert.deepEqual([last?.type, last?.object.metadata.resourceVersion], [expected, expected && '4']);
    clock.advance(2_000);
    assert.equal(await watch.next(), undefined);
    await quiet.stop();
  });
}

test('a watch that ends within two seconds sends no bookmark', async () => {
  const version = await create('short');
  const query = `watch=1&resourceVersion=${version}&timeoutSeconds=2&allowWatchBookmarks=true`;
  const watch = await openWatch(api, `${MAPS}?${query}`);
  assert.equal(await watch.next(), undefined);
});
