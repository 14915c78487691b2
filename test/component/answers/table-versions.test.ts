import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { configMapKind } from '../../../coordinator/kinds/index.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { openWatch } from '../../harness/api/watch-lines.js';

let api: TestApi;
before(async () => {
  api = await startTestApi();
  await api.registry.create(configMapKind, 'default', { metadata: { name: 'one' } });
});
after(() => api.stop());

const MAPS = '/api/v1/namespaces/default/configmaps';
const accepting = (as: string, version: string) => `application/json;as=${as};v=${version};g=meta.k8s.io`;

interface TableAnswer {
  kind: string;
  apiVersion: string;
  rows: { object: { kind: string; apiVersion: string } }[];
  items: { apiVersion: string }[];
}

async function read(path: string, accept: string): Promise<TableAnswer> {
  const answer = await call(api, `GET ${path}`, { headers: { accept } });
  assert.equal(answer.code, 200, answer.text);
  return answer.json<TableAnswer>();
}

for (const version of ['v1', 'v1beta1']) {
  const apiVersion = `meta.k8s.io/${version}`;

  for (const path of [MAPS, `${MAPS}/one`]) {
    test(`a Table of ${path} asked as ${version} has this version, and so have the objects of its rows`, async () => {
      const table = await read(path, accepting('Table', version));
      assert.deepEqual([table.kind, table.apiVersion], ['Table', apiVersion]);
      const objects = table.rows.map(({ object }) => `${object.apiVersion} ${object.kind}`);
      assert.ok(objects.includes(`${apiVersion} PartialObjectMetadata`), String(objects));
    });
  }

  test(`metadata asked as ${version} has this version`, async () => {
    const list = await read(MAPS, accepting('PartialObjectMetadataList', version));
    assert.deepEqual([list.kind, list.apiVersion], ['PartialObjectMetadataList', apiVersion]);
    assert.equal(list.items[0]?.apiVersion, apiVersion);
    const one = await read(`${MAPS}/one`, accepting('PartialObjectMetadata', version));
    assert.deepEqual([one.kind, one.apiVersion], ['PartialObjectMetadata', apiVersion]);
  });

  test(`a watch of Tables asked as ${version} sends Tables of this version`, async () => {
    const watch = await openWatch(api, `${MAPS}?watch=1`, { accept: accepting('Table', version) });
    const event = await watch.next();
    assert.deepEqual(event && Reflect.get(event.object, 'apiVersion'), apiVersion);
    watch.close();
  });

  test(`the bookmark of a watch of metadata asked as ${version} is metadata`, async () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const none = '&fieldSelector=metadata.name%3Dnone';
    const accept = accepting('PartialObjectMetadata', version);
    const watch = await openWatch(api, `${MAPS}?${query}${none}`, { accept });
    const event = await watch.next();
    assert.equal(event?.type, 'BOOKMARK');
    assert.deepEqual(event?.object.kind, 'PartialObjectMetadata');
    watch.close();
  });

  test(`computed hosts are sent as Tables of ${version}`, async () => {
    const table = await read('/apis/fleet.everynode.dev/v1/hosts', accepting('Table', version));
    assert.equal(table.apiVersion, apiVersion);
  });
}
