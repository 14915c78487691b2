/** Requests whose `Accept` names no form that the resource has. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { configMapKind } from '../../../coordinator/kinds/index.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';

let api: TestApi;
before(async () => {
  api = await startTestApi();
  await api.registry.create(configMapKind, 'default', { metadata: { name: 'one' } });
});
after(() => api.stop());

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const MAPS = '/api/v1/namespaces/default/configmaps';
const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/default';

const REVIEWS = [
  [
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    { spec: { user: 'ann', nonResourceAttributes: {} } },
  ],
  ['/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { nonResourceAttributes: {} } }],
  ['/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'default' } }],
  ['/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'x' } }],
  ['/apis/authentication.k8s.io/v1/selfsubjectreviews', {}],
] as const;

const REFUSED = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  reason: 'NotAcceptable',
  message: 'only the following media types are accepted: application/json, application/json;stream=watch',
  code: 406,
};

function assertRefused({ code, json }: Awaited<ReturnType<typeof call>>): void {
  assert.equal(code, 406);
  const { kind, apiVersion, status, reason, message, code: statusCode } = json<typeof REFUSED>();
  assert.deepEqual({ kind, apiVersion, status, reason, message, code: statusCode }, REFUSED);
}

for (const [path, body] of REVIEWS) {
  for (const accept of [TABLE, PROTOBUF]) {
    test(`a review at ${path} with Accept: ${accept} is 406`, async () => {
      assertRefused(await call(api, `POST ${path}`, { body, headers: { accept } }));
    });
  }

  test(`a review at ${path} falls back from a Table to JSON`, async () => {
    const headers = { accept: `${TABLE},application/json` };
    const answer = await call(api, `POST ${path}`, { body, headers });
    assert.equal(answer.code, 201, answer.text);
    assert.match(String(answer.json().kind), /Review$/);
  });
}

for (const line of [
  `GET ${MAPS}`,
  `GET ${MAPS}/one`,
  `GET ${MAPS}?watch=1`,
  `DELETE ${MAPS}/one`,
  'GET /apis',
  'GET /api/v1',
]) {
  test(`${line} of a client that reads only protobuf is 406`, async () => {
    assertRefused(await call(api, line, { headers: { accept: PROTOBUF } }));
  });
}

test('a request that is 406 has no effect', async () => {
  const body = { metadata: { name: 'never' } };
  for (const [line, sent] of [
    [`POST ${MAPS}`, body],
    [`DELETE ${MAPS}/one`, undefined],
  ] as const) {
    assertRefused(await call(api, line, { body: sent, headers: { accept: PROTOBUF } }));
  }
  const names = (await call(api, `GET ${MAPS}`)).json<{ items: { metadata: { name: string } }[] }>().items;
  assert.deepEqual(
    names.map(({ metadata }) => metadata.name),
    ['one'],
  );
});

test('a token that is asked as a Table is 406 and not issued', async () => {
  const headers = { accept: TABLE };
  assertRefused(await call(api, `POST ${ACCOUNT}/token`, { body: { spec: {} }, headers }));
});

test('a client that prefers protobuf and reads JSON gets JSON', async () => {
  const answer = await call(api, `GET ${MAPS}/one`, { headers: { accept: `${PROTOBUF},application/json` } });
  assert.deepEqual([answer.code, answer.headers['content-type']], [200, 'application/json']);
});
