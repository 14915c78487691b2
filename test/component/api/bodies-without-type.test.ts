/** Bodies without apiVersion and kind, which many client libraries send. The URL determines both. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { podKind, serviceAccountKind } from '../../../coordinator/kinds/index.js';
import type { Status } from '../../../shared/kube/objects/api-status.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';

let api: TestApi;
before(async () => {
  api = await startTestApi();
  await api.registry.create(serviceAccountKind, 'default', { metadata: { name: 'account' } });
});
after(() => api.stop());

const PODS = '/api/v1/namespaces/default/pods';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

async function createPod(name: string): Promise<void> {
  await api.registry.create(podKind, 'default', {
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i:1' }] },
  });
}

interface TypedBody {
  line: string;
  apiVersion: string;
  kind: string;
  body: object;
}

const review = (group: string, path: string, kind: string, spec: object): TypedBody => ({
  line: `POST /apis/${group}/v1/${path}${kind.toLowerCase()}s`,
  apiVersion: `${group}/v1`,
  kind,
  body: { spec },
});
const AUTHORIZATION = 'authorization.k8s.io';
const ACCESS = {
  user: 'somebody',
  resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' },
};

/** Resources that store something other than the sent body. */
const BODIES: readonly TypedBody[] = [
  {
    line: `POST ${PODS}/evicted/eviction`,
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    body: { metadata: { name: 'evicted', namespace: 'default' } },
  },
  {
    line: `POST ${PODS}/bound/binding`,
    apiVersion: 'v1',
    kind: 'Binding',
    body: { metadata: { name: 'bound' }, target: { name: 'n1' } },
  },
  {
    line: 'POST /api/v1/namespaces/default/serviceaccounts/account/token',
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    body: { spec: {} },
  },
  review('authentication.k8s.io', '', 'SelfSubjectReview', {}),
  review('authentication.k8s.io', '', 'TokenReview', { token: 'unknown' }),
  review(AUTHORIZATION, '', 'SubjectAccessReview', ACCESS),
  review(AUTHORIZATION, '', 'SelfSubjectRulesReview', { namespace: 'default' }),
  review(AUTHORIZATION, '', 'SelfSubjectAccessReview', { resourceAttributes: ACCESS.resourceAttributes }),
  review(AUTHORIZATION, 'namespaces/default/', 'LocalSubjectAccessReview', ACCESS),
  {
    line: `POST ${CONFIG_MAPS}`,
    apiVersion: 'v1',
    kind: 'ConfigMap',
    body: { metadata: { generateName: 'c-' } },
  },
];

for (const { line, apiVersion, kind, body } of BODIES) {
  test(`${kind}: a body of another kind or version is rejected, one without either is accepted`, async () => {
    if (kind === 'Eviction') await createPod('evicted');
    if (kind === 'Binding') await createPod('bound');
    const send = async (type: object) => {
      const answer = await call(api, line, { body: { ...type, ...body } });
      return { code: answer.code, message: answer.json<Status>().message };
    };
    assert.deepEqual(await send({ apiVersion, kind: 'Other' }), {
      code: 400,
      message: `Other in version "v1" cannot be handled as a ${kind}: the kinds do not match`,
    });
    assert.deepEqual(await send({ apiVersion: 'other/v7', kind }), {
      code: 400,
      message: `the API version in the data (other/v7) does not match the expected API version (${apiVersion})`,
    });
    assert.equal((await send({})).code, 201);
  });
}

test('an Eviction or a Binding for another name or namespace than the URL is rejected', async () => {
  await createPod('placed');
  const refusal = async (subresource: string, body: object) => {
    const { code, json } = await call(api, `POST ${PODS}/placed/${subresource}`, { body });
    return [code, json<Status>().message];
  };
  const otherNamespace =
    'the namespace of the provided object does not match the namespace sent on the request';
  const target = { name: 'n1' };
  for (const [subresource, kind] of [
    ['eviction', 'Eviction'],
    ['binding', 'Binding'],
  ] as const) {
    const elsewhere = { metadata: { name: 'placed', namespace: 'other' }, target };
    assert.deepEqual(await refusal(subresource, elsewhere), [400, otherNamespace]);
    const another = { metadata: { name: 'another' }, target };
    const otherName = `name in URL does not match name in ${kind} object`;
    assert.deepEqual(await refusal(subresource, another), [400, otherName]);
  }
  assert.equal((await call(api, `GET ${PODS}/placed`)).code, 200);
});

test('an Eviction is accepted as policy/v1beta1 too', async () => {
  await createPod('evicted-by-beta');
  const body = { apiVersion: 'policy/v1beta1', metadata: { name: 'evicted-by-beta' } };
  assert.equal((await call(api, `POST ${PODS}/evicted-by-beta/eviction`, { body })).code, 201);
});

test('an update of an object and of its status needs neither apiVersion nor kind', async () => {
  await createPod('updated');
  const { metadata, spec } = (await call(api, `GET ${PODS}/updated`)).json<{
    metadata: object;
    spec: object;
  }>();
  const labelled = { ...metadata, labels: { a: 'b' } };
  const updated = await call(api, `PUT ${PODS}/updated`, { body: { metadata: labelled, spec } });
  assert.equal(updated.code, 200, updated.text);
  const now = updated.json<{ metadata: object; kind: string; apiVersion: string }>();
  assert.deepEqual([now.apiVersion, now.kind], ['v1', 'Pod']);
  const status = { phase: 'Running' };
  const body = { metadata: now.metadata, spec, status };
  assert.equal((await call(api, `PUT ${PODS}/updated/status`, { body })).code, 200);
});

test('DeleteOptions need neither apiVersion nor kind; a body of another kind deletes nothing', async () => {
  const body = { metadata: { name: 'kept' } };
  await call(api, `POST ${CONFIG_MAPS}`, { body });
  for (const wrong of [{ kind: 'ConfigMap', ...body }, ['DeleteOptions'], 'DeleteOptions']) {
    const refused = await call(api, `DELETE ${CONFIG_MAPS}/kept`, { body: wrong });
    assert.equal(refused.code, 400, JSON.stringify(wrong));
  }
  assert.equal((await call(api, `GET ${CONFIG_MAPS}/kept`)).code, 200);
  const options = { propagationPolicy: 'Background' };
  assert.equal((await call(api, `DELETE ${CONFIG_MAPS}/kept`, { body: options })).code, 200);
});
