/** Kinds without objects over HTTP: empty lists and watches in every form, and one sentence for every other request. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type AccessFixture, person, roleRef, startAccessFixture } from '../../harness/api/access-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { openWatch } from '../../harness/api/watch-lines.js';

const STATEFUL_SETS = '/apis/apps/v1/namespaces/default/statefulsets';
const VOLUMES = '/api/v1/persistentvolumes';
const REFUSAL =
  'Everynode does not support StatefulSets: use a DaemonSet, which runs one Pod on each matching host';
const BODY = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'web' } };
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

const REFUSED: [line: string, body?: unknown][] = [
  [`POST ${STATEFUL_SETS}`, BODY],
  [`DELETE ${STATEFUL_SETS}`],
  [`GET ${STATEFUL_SETS}/web`],
  [`PUT ${STATEFUL_SETS}/web`, BODY],
  [`PATCH ${STATEFUL_SETS}/web`, BODY],
  [`DELETE ${STATEFUL_SETS}/web`],
  [`GET ${STATEFUL_SETS}/web/status`],
  [`PATCH ${STATEFUL_SETS}/web/scale`, BODY],
];

describe('a kind without objects', () => {
  let fixture: AccessFixture;
  before(async () => {
    fixture = await startAccessFixture();
    await fixture.bindRole('eve', roleRef('ClusterRole', 'edit'), { kind: 'User', name: 'eve' });
    await fixture.bindRole('vic', roleRef('ClusterRole', 'view'), { kind: 'User', name: 'vic' });
  });
  after(() => fixture.stop());

  for (const [path, list] of [
    [STATEFUL_SETS, 'StatefulSetList'],
    ['/apis/apps/v1/statefulsets', 'StatefulSetList'],
    [VOLUMES, 'PersistentVolumeList'],
  ] as const) {
    test(`GET ${path} is an empty ${list} with a resource version`, async () => {
      const answer = await call(fixture.api, `GET ${path}?labelSelector=app%3Dx&limit=500`);
      assert.equal(answer.code, 200, answer.text);
      const { kind, items, metadata } = answer.json<{
        kind: string;
        items: unknown[];
        metadata: { resourceVersion: string };
      }>();
      assert.deepEqual([kind, items], [list, []]);
      assert.match(metadata.resourceVersion, /^[1-9]\d*$/);
    });
  }

  for (const [accept, kind] of [
    [TABLE, 'Table'],
    [METADATA, 'PartialObjectMetadataList'],
  ] as const) {
    test(`it is listed as ${kind}`, async () => {
      const answer = await call(fixture.api, `GET ${STATEFUL_SETS}`, { headers: { accept } });
      assert.equal(answer.json().kind, kind);
    });
  }

  test('a watch with initial events ends them with the bookmark that clients wait for', async () => {
    const query = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
    const watch = await openWatch(fixture.api, `${STATEFUL_SETS}?${query}`);
    const event = await watch.next();
    assert.equal(event?.type, 'BOOKMARK');
    assert.equal(event?.object.metadata.annotations?.['k8s.io/initial-events-end'], 'true');
    watch.close();
  });

  for (const [line, body] of REFUSED) {
    test(`${line} is refused with the reason, also for a user with the role edit`, async () => {
      for (const user of [undefined, person('eve')]) {
        const isScale = line.includes('/web/');
        if (isScale && user) continue;
        const answer = user ? await fixture.as(user, line, body) : await call(fixture.api, line, { body });
        const { reason, message } = answer.json();
        assert.deepEqual([answer.code, reason, message], [405, 'MethodNotAllowed', REFUSAL]);
      }
    });
  }

  test('a user with the role view lists it in the namespace, and is not told more by a create', async () => {
    assert.equal((await fixture.as(person('vic'), `GET ${STATEFUL_SETS}`)).code, 200);
    const answer = await fixture.as(person('vic'), `POST ${STATEFUL_SETS}`, BODY);
    assert.deepEqual([answer.code, answer.json().reason], [403, 'Forbidden']);
  });

  test('discovery has it with list and watch, in no category', async () => {
    const apps = (await call(fixture.api, 'GET /apis/apps/v1')).json<{
      resources: { name: string; verbs: string[]; categories?: string[]; shortNames: string[] }[];
    }>();
    const found = apps.resources.find(({ name }) => name === 'statefulsets');
    assert.deepEqual(found?.verbs, ['list', 'watch']);
    assert.deepEqual([found?.categories, found?.shortNames], [undefined, ['sts']]);
  });

  test('nothing about it is stored', async () => {
    const { records } = await fixture.registry.list({
      ...(fixture.registry.kinds[0] ?? assert.fail()),
      ...{ group: 'apps', resource: 'statefulsets' },
    });
    assert.deepEqual(records, []);
  });
});
