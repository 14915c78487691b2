import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';

let api: TestApi;
before(async () => {
  api = await startTestApi();
});
after(() => api.stop());

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

test('health and version are answered without credentials', async () => {
  for (const path of ['/healthz', '/readyz', '/livez', '/version']) {
    assert.equal((await call(api, `GET ${path}`, { token: null })).code, 200);
  }
});

test('each health check can be queried alone, in upstream’s format', async () => {
  const read = async (path: string, token?: null) => {
    const { code, text } = await call(api, `GET ${path}`, token === null ? { token } : {});
    return [code, text];
  };
  assert.deepEqual(await read('/readyz', null), [200, 'ok']);
  assert.deepEqual(await read('/readyz?verbose', null), [
    200,
    '[+]ping ok\n[+]store ok\n[+]informer-sync ok\nreadyz check passed\n',
  ]);
  assert.deepEqual(await read('/livez?verbose&exclude=store', null), [
    200,
    '[+]ping ok\n[+]store excluded: ok\nlivez check passed\n',
  ]);
  assert.deepEqual(await read('/healthz?verbose=true&exclude=no&exclude=etcd', null), [
    200,
    '[+]ping ok\n[+]store ok\nwarn: some health checks cannot be excluded: no matches for "etcd","no"\nhealthz check passed\n',
  ]);
  assert.deepEqual(await read('/livez?exclude=ping', null), [200, 'ok']);
  assert.deepEqual(await read('/readyz/informer-sync'), [200, 'ok']);
  assert.equal((await read('/readyz/informer-sync', null))[0], 401);
  for (const path of ['/livez/informer-sync', '/readyz/etcd', '/readyz/ping/x']) {
    assert.equal((await read(path))[0], 404, path);
  }
});

test('all other paths need a token: 401 with a Status', async () => {
  for (const token of [null, 'wrong']) {
    const answer = await call(api, 'GET /api/v1/nodes', { token });
    assert.equal(answer.code, 401);
    assert.deepEqual(answer.json(), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    });
  }
});

test('an object can be created, read, replaced and deleted', async () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: '1' } };
  const created = await call(api, `POST ${CONFIG_MAPS}`, { body });
  assert.equal(created.code, 201);
  const read = (await call(api, `GET ${CONFIG_MAPS}/one`)).json<{ metadata: object; data: object }>();
  const replaced = await call(api, `PUT ${CONFIG_MAPS}/one`, { body: { ...read, data: { a: '2' } } });
  assert.deepEqual(replaced.json<{ data: object }>().data, { a: '2' });
  const stale = await call(api, `PUT ${CONFIG_MAPS}/one`, { body: read });
  assert.equal(stale.json<{ reason: string }>().reason, 'Conflict');
  const deleted = await call(api, `DELETE ${CONFIG_MAPS}/one`);
  assert.equal(deleted.json<{ status: string }>().status, 'Success');
  const gone = await call(api, `GET ${CONFIG_MAPS}/one`);
  assert.equal(gone.json<{ message: string }>().message, 'configmaps "one" not found');
});

test('a DELETE may send its options chunked, without a length', async () => {
  const metadata = { name: 'pieces' };
  await call(api, `POST ${CONFIG_MAPS}`, { body: { metadata } });
  const inPieces = (preconditions: object) =>
    call(api, `DELETE ${CONFIG_MAPS}/pieces`, { body: { preconditions }, inPieces: true });
  const refused = await inPieces({ uid: 'another' });
  assert.equal(refused.code, 409, refused.text);
  const { uid } = (await call(api, `GET ${CONFIG_MAPS}/pieces`)).json<{ metadata: { uid: string } }>()
    .metadata;
  assert.equal((await inPieces({ uid })).code, 200);
});

const APPLY = 'application/apply-patch+yaml';

test('server-side apply over HTTP: YAML, 201 and then 200, manager and force from the query', async () => {
  const apply = (query: string, value: string) =>
    call(api, `PATCH ${CONFIG_MAPS}/applied?${query}`, {
      headers: { 'content-type': APPLY },
      body: Buffer.from(
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: "${value}"}\n`,
      ),
    });
  assert.equal((await apply('fieldManager=one', '1')).code, 201);
  assert.equal((await apply('fieldManager=one', '1')).code, 200);
  assert.equal((await apply('fieldManager=two', '2')).code, 409);
  assert.equal((await apply('fieldManager=two&force=true', '2')).code, 200);
});

test('an apply must name its manager, and only an apply can be forced: 422', async () => {
  const patch = async (contentType: string, query: string) => {
    const answer = await call(api, `PATCH ${CONFIG_MAPS}/x?${query}`, {
      headers: { 'content-type': contentType },
      body: Buffer.from('{}'),
    });
    return [answer.code, answer.json<{ message: string }>().message];
  };
  assert.deepEqual(await patch(APPLY, 'force=true'), [
    422,
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  ]);
  assert.deepEqual(await patch('application/merge-patch+json', 'force=true'), [
    422,
    'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  ]);
});

test('/finalize changes only the finalizers of a Namespace', async () => {
  const path = '/api/v1/namespaces/held';
  const held = { metadata: { name: 'held', labels: { own: 'yes' } }, spec: { finalizers: ['hold.dev/it'] } };
  assert.equal((await call(api, 'POST /api/v1/namespaces', { body: held })).code, 201);
  const body = { metadata: { name: 'held', labels: { own: 'no' } }, spec: { finalizers: ['kubernetes'] } };
  const answer = await call(api, `PUT ${path}/finalize`, { body });
  const { metadata, spec } = answer.json<{ metadata: { labels: object }; spec: object }>();
  assert.deepEqual([answer.code, spec], [200, { finalizers: ['kubernetes'] }]);
  assert.deepEqual(metadata.labels, { own: 'yes', 'kubernetes.io/metadata.name': 'held' });
});
