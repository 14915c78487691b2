/** GET, PUT and PATCH of a Deployment's `scale`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Deployment } from '../../../shared/kube/workloads/workload-types.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { webBody } from '../../harness/controllers/deployment-fixture.js';

const WEB = '/apis/apps/v1/namespaces/default/deployments/web';
const SCALE = `${WEB}/scale`;

let api: TestApi;
before(async () => {
  api = await startTestApi();
  await call(api, 'POST /apis/apps/v1/namespaces/default/deployments', { body: webBody({ replicas: 1 }) });
});
after(() => api.stop());

const deployment = async () => (await call(api, `GET ${WEB}`)).json<Deployment>();
const patch = (type: string, body: unknown) =>
  call(api, `PATCH ${SCALE}`, { body, headers: { 'content-type': `application/${type}` } });

const PATCHES: [type: string, body: unknown, replicas: number][] = [
  ['merge-patch+json', { spec: { replicas: 2 } }, 2],
  ['strategic-merge-patch+json', { spec: { $patch: 'replace', replicas: 3 } }, 3],
  ['json-patch+json', [{ op: 'replace', path: '/spec/replicas', value: 4 }], 4],
];

for (const [type, body, replicas] of PATCHES) {
  test(`a ${type} scales`, async () => {
    assert.equal((await patch(type, body)).code, 200);
    assert.equal((await deployment()).spec.replicas, replicas);
  });
}

test('a PUT scales, and a stale one is a conflict', async () => {
  const scale = (await call(api, `GET ${SCALE}`)).json();
  const next = { ...scale, spec: { replicas: 7 } };
  assert.equal((await call(api, `PUT ${SCALE}`, { body: next })).code, 200);
  assert.equal((await deployment()).spec.replicas, 7);
  assert.equal((await call(api, `PUT ${SCALE}`, { body: { ...next, spec: { replicas: 8 } } })).code, 409);
  assert.equal((await deployment()).spec.replicas, 7);
});

test('refused patches change nothing', async () => {
  const before = await deployment();
  assert.equal((await patch('merge-patch+json', { spec: { replicas: -1 } })).code, 422);
  assert.equal((await patch('strategic-merge-patch+json', { spec: { $patch: 'other' } })).code, 400);
  assert.equal((await patch('merge-patch+json', { spec: { replicas: 'two' } })).code, 400);
  const stale = { metadata: { resourceVersion: '1' }, spec: { replicas: 2 } };
  assert.equal((await patch('merge-patch+json', stale)).code, 409);
  assert.deepEqual(await deployment(), before);
});

test('the manager of a scale owns spec.replicas with the subresource', async () => {
  await call(api, `PATCH ${SCALE}?fieldManager=scaler`, {
    body: { spec: { replicas: 5 } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  const { metadata } = await deployment();
  const entry = metadata.managedFields?.find(({ manager }) => manager === 'scaler');
  assert.equal(entry?.subresource, 'scale');
  assert.deepEqual(entry?.fieldsV1, { 'f:spec': { 'f:replicas': {} } });
});

test('a template with fields without effect causes a Warning for each', async () => {
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } };
  const spread = { ...term, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' };
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: {
      containers: [{ name: 'main', image: 'web:1' }],
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
      topologySpreadConstraints: [spread],
    },
  };
  for (const resource of ['deployments', 'replicasets']) {
    const line = `POST /apis/apps/v1/namespaces/default/${resource}?dryRun=All`;
    const { code, headers } = await call(api, line, {
      body: { ...webBody({ template }), metadata: { name: 'w' } },
    });
    const warnings = String(headers.warning);
    assert.equal(code, 201, resource);
    assert.match(
      warnings,
      /spec\.template\.spec\.affinity\.podAntiAffinity: stored, but has no effect: Pods that it keeps apart can run on one host/,
      resource,
    );
    assert.match(
      warnings,
      /spec\.template\.spec\.topologySpreadConstraints: stored, but has no effect: Pods are spread over hosts by their number alone/,
      resource,
    );
  }
});
