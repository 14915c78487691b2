/** Server-side apply of `scale` (apimachinery managedfields ScaleHandler), for a Deployment and a custom resource. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DefinitionController } from '../../../coordinator/controllers/custom-resources/definition-controller.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { type CallAnswer, call } from '../../harness/api/https-call.js';
import { type ControlPlane, startControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { webBody } from '../../harness/controllers/deployment-fixture.js';

const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'farms.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'farms', singular: 'farm', kind: 'Farm' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer' } } },
              status: { type: 'object', properties: { size: { type: 'integer' } } },
            },
          },
        },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
        },
      },
    ],
  },
};

let plane: ControlPlane;
let api: TestApi;
let controller: DefinitionController;
before(async () => {
  plane = await startControlPlane();
  controller = new DefinitionController(plane);
  api = await startTestApi({ registry: plane.registry });
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  assert.equal((await call(api, `POST ${path}`, { body: DEFINITION })).code, 201);
  await plane.settle();
});
after(async () => {
  await api.stop();
  await controller.stop();
  await plane.stop();
});

interface Subject {
  collection: string;
  field: string;
  body(name: string): object;
}

const SUBJECTS: Record<string, Subject> = {
  'a Deployment': {
    collection: '/apis/apps/v1/namespaces/default/deployments',
    field: 'replicas',
    body: (name) => ({ ...webBody({ replicas: 1 }), metadata: { name } }),
  },
  'a custom resource': {
    collection: '/apis/example.com/v1/namespaces/default/farms',
    field: 'size',
    body: (name) => ({ metadata: { name }, spec: { size: 1 } }),
  },
};

const SCALE = { apiVersion: 'autoscaling/v1', kind: 'Scale' };

for (const [what, { collection, field, body }] of Object.entries(SUBJECTS)) {
  describe(`a Scale of ${what}`, () => {
    let url: string;
    before(async () => {
      const name = `applied-${field}`;
      url = `${collection}/${name}`;
      const created = await call(api, `POST ${collection}?fieldManager=creator`, { body: body(name) });
      assert.equal(created.code, 201);
    });

    const stored = async () =>
      (await call(api, `GET ${url}`)).json<KubeObject & { spec: Record<string, unknown> }>();
    const apply = (manager: string, replicas: number, query = ''): Promise<CallAnswer> =>
      call(api, `PATCH ${url}/scale?fieldManager=${manager}${query}`, {
        body: { ...SCALE, metadata: { name: url.slice(url.lastIndexOf('/') + 1) }, spec: { replicas } },
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });
    const entries = async () =>
      ((await stored()).metadata.managedFields ?? []).filter((entry) =>
        JSON.stringify(entry.fieldsV1).includes(`"f:${field}"`),
      );
    const owned = { 'f:spec': { [`f:${field}`]: {} } };

    test('an apply takes no replicas from another manager without force', async () => {
      const refused = await apply('scaler', 3);
      assert.equal(refused.code, 409);
      const { message } = refused.json<{ message: string }>();
      assert.match(message, /conflict with "creator" using autoscaling\/v1: \.spec\./);
      assert.equal((await stored()).spec[field], 1);
    });

    test('the same value is owned by both, and the entry of the applier names the subresource', async () => {
      assert.equal((await apply('scaler', 1)).code, 200);
      const [own] = (await entries()).filter(({ manager }) => manager === 'scaler');
      assert.deepEqual([own?.operation, own?.subresource, own?.fieldsV1], ['Apply', 'scale', owned]);
      assert.equal((await entries()).length, 2);
    });

    test('a forced apply scales, and the other manager loses the field alone', async () => {
      const forced = await apply('scaler', 4, '&force=true');
      assert.equal(forced.code, 200);
      const { kind, spec } = forced.json<KubeObject & { spec: object }>();
      assert.deepEqual([kind, spec], ['Scale', { replicas: 4 }]);
      assert.equal((await stored()).spec[field], 4);
      assert.deepEqual(
        (await entries()).map(({ manager }) => manager),
        ['scaler'],
      );
    });

    test('an applier of the object itself conflicts with the applier of the Scale', async () => {
      const { apiVersion, kind } = await stored();
      const refused = await call(api, `PATCH ${url}?fieldManager=other`, {
        body: { apiVersion, kind, spec: { [field]: 9 } },
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });
      assert.equal(refused.code, 409);
      assert.match(
        refused.json<{ message: string }>().message,
        /conflict with "scaler" with subresource "scale"/,
      );
    });

    test('refused manifests change nothing', async () => {
      const present = await stored();
      const send = async (manifest: object, path = `${url}/scale`) =>
        (
          await call(api, `PATCH ${path}?fieldManager=scaler`, {
            body: manifest,
            headers: { 'content-type': 'application/apply-patch+yaml' },
          })
        ).code;
      assert.equal(await send({ ...SCALE, spec: { replicas: -1 } }), 422);
      assert.equal(await send({ ...SCALE, spec: { replicas: 'four' } }), 400);
      assert.equal(await send({ ...SCALE, spec: { replicas: 5, size: 5 } }), 400);
      assert.equal(await send({ ...SCALE, kind: 'Deployment' }), 400);
      assert.equal(await send({ ...SCALE, metadata: { managedFields: [] }, spec: { replicas: 5 } }), 400);
      assert.equal(await send({ ...SCALE, metadata: { resourceVersion: '1' }, spec: { replicas: 5 } }), 409);
      assert.equal(await send({ ...SCALE, spec: { replicas: 5 } }, `${collection}/missing/scale`), 404);
      assert.deepEqual(await stored(), present);
    });
  });
}

test('kubectl may not take the replicas of its client-side apply through a Scale', async () => {
  const { collection, body } = SUBJECTS['a Deployment'] as Subject;
  const manifest = { apiVersion: 'apps/v1', kind: 'Deployment', ...body('legacy') } as KubeObject;
  const text = JSON.stringify(manifest);
  manifest.metadata.annotations = { 'kubectl.kubernetes.io/last-applied-configuration': text };
  await call(api, `POST ${collection}?fieldManager=kubectl-client-side-apply`, { body: manifest });
  const send = (query: string) =>
    call(api, `PATCH ${collection}/legacy/scale?fieldManager=kubectl${query}`, {
      body: { ...SCALE, spec: { replicas: 2 } },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
  assert.equal((await send('')).code, 409);
  assert.equal((await send('&force=true')).code, 200);
  const { metadata } = (await call(api, `GET ${collection}/legacy`)).json<KubeObject>();
  assert.equal(metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration'], text);
});

test('a custom resource takes no strategic merge patch of its Scale', async () => {
  const { collection, body } = SUBJECTS['a custom resource'] as Subject;
  await call(api, `POST ${collection}`, { body: body('patched') });
  const send = (type: string) =>
    call(api, `PATCH ${collection}/patched/scale`, {
      body: { spec: { replicas: 3 } },
      headers: { 'content-type': `application/${type}-patch+json` },
    });
  assert.equal((await send('strategic-merge')).code, 415);
  assert.equal((await send('merge')).code, 200);
});
