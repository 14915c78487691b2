/** Policies and webhooks decide on `scale` and `eviction`, and see the Scale and the Eviction. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  deploymentKind,
  mutatingWebhookConfigurationKind,
  podKind,
  validatingAdmissionPolicyBindingKind,
  validatingAdmissionPolicyKind,
  validatingWebhookConfigurationKind,
} from '../../../coordinator/kinds/index.js';
import type { Status } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { type ControlPlane, startControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { webBody } from '../../harness/controllers/deployment-fixture.js';
import { admissionPolicy, policyBinding } from '../../harness/objects/admission-builders.js';
import { podObject } from '../../harness/objects/object-builders.js';

const SCALE = '/apis/apps/v1/namespaces/default/deployments/web/scale';
const EVICTION = '/api/v1/namespaces/default/pods/a/eviction';

let plane: ControlPlane;
let api: TestApi;
const reviews: { kind: { kind: string }; subResource: string; object: KubeObject; oldObject: KubeObject }[] =
  [];

/** JSON patches of the mutating webhook, by the kind that it sees. */
const patches = new Map<string, object[]>();

async function enforce(name: string, group: string, resource: string, expression: string, actions: string[]) {
  const rule = { operations: ['*'], apiGroups: [group], apiVersions: ['v1'], resources: [resource] };
  const validations = [{ expression, message: 'frozen' }];
  const policy = admissionPolicy(name, { matchConstraints: { resourceRules: [rule] }, validations });
  await plane.registry.create(validatingAdmissionPolicyKind, undefined, policy);
  const binding = policyBinding(name, { validationActions: actions } as object);
  await plane.registry.create(validatingAdmissionPolicyBindingKind, undefined, binding);
}

before(async () => {
  plane = await startControlPlane([], {
    callWebhook: async ({ url }, review) => {
      const { request } = review as { request: (typeof reviews)[number] & { uid: string } };
      if (url === 'https://hook') reviews.push(request);
      const changes = url === 'https://change' ? patches.get(request.kind.kind) : undefined;
      const patch = changes && Buffer.from(JSON.stringify(changes)).toString('base64');
      const response = { uid: request.uid, allowed: true, ...(patch && { patch, patchType: 'JSONPatch' }) };
      return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
    },
  });
  api = await startTestApi({ registry: plane.registry });
  await plane.registry.create(deploymentKind, 'default', webBody({ replicas: 1 }));
  await plane.registry.create(podKind, 'default', podObject('a'));
  const scale = "request.kind.kind != 'Scale' || object.kind != 'Scale' || object.spec.replicas ";
  await enforce('big', 'apps', 'deployments/scale', `${scale} < 5`, ['Deny']);
  await enforce('odd', 'apps', 'deployments/scale', `${scale} != 3`, ['Warn']);
  await enforce(
    'safe',
    '',
    'pods/eviction',
    "object.kind != 'Eviction' || object.metadata.name != 'a' || request.userInfo.username.startsWith('system:kube')",
    ['Deny'],
  );
  const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/scale'] };
  await plane.registry.create(validatingWebhookConfigurationKind, undefined, {
    metadata: { name: 'hooks' },
    webhooks: [
      {
        name: 'hook.example.com',
        clientConfig: { url: 'https://hook' },
        rules: [rule],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  await plane.registry.create(mutatingWebhookConfigurationKind, undefined, {
    metadata: { name: 'changes' },
    webhooks: [
      {
        name: 'change.example.com',
        clientConfig: { url: 'https://change' },
        rules: [rule, { ...rule, resources: ['pods/eviction'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  await plane.settle();
});
after(async () => {
  await api.stop();
  await plane.stop();
});

function scaleTo(replicas: number) {
  const headers = { 'content-type': 'application/merge-patch+json' };
  return call(api, `PATCH ${SCALE}`, { body: { spec: { replicas } }, headers });
}

const replicas = async () =>
  (await plane.registry.get(deploymentKind, { namespace: 'default', name: 'web' })).object().spec.replicas;

test('a policy for deployments/scale sees the Scale, and its denial changes nothing', async () => {
  const refused = await scaleTo(9);
  assert.equal(refused.code, 422);
  assert.match(refused.json<Status>().message ?? '', /ValidatingAdmissionPolicy 'big' .*frozen/);
  assert.equal(await replicas(), 1);
});

test('a policy that warns about a Scale warns the client, and a webhook sees both Scales', async () => {
  reviews.length = 0;
  const scaled = await scaleTo(3);
  assert.equal(scaled.code, 200);
  assert.match(String(scaled.headers.warning), /ValidatingAdmissionPolicy 'odd'/);
  assert.equal(await replicas(), 3);
  const [review] = reviews;
  assert.deepEqual(
    [review?.kind.kind, review?.subResource, review?.oldObject.kind, review?.object.kind],
    ['Scale', 'scale', 'Scale', 'Scale'],
  );
});

test('a policy for pods/eviction refuses an eviction as CREATE, and the Pod stays', async () => {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a', namespace: 'default' } };
  const refused = await call(api, `POST ${EVICTION}`, { body });
  assert.equal(refused.code, 422);
  assert.match(refused.json<Status>().message ?? '', /ValidatingAdmissionPolicy 'safe' .*frozen/);
  const pod = (await plane.registry.get(podKind, { namespace: 'default', name: 'a' })).object();
  assert.equal(pod.metadata.deletionTimestamp, undefined);
});

test('a mutating webhook changes the replicas of a Scale, which policies see changed', async () => {
  patches.set('Scale', [{ op: 'replace', path: '/spec/replicas', value: 4 }]);
  reviews.length = 0;
  const scaled = await scaleTo(2);
  assert.equal(scaled.code, 200);
  assert.equal(scaled.json<{ spec: { replicas: number } }>().spec.replicas, 4);
  assert.equal(await replicas(), 4);
  assert.deepEqual(
    reviews.map(({ object }) => Reflect.get(object, 'spec')),
    [{ replicas: 4 }],
  );
  patches.set('Scale', [{ op: 'replace', path: '/spec/replicas', value: 9 }]);
  const refused = await scaleTo(2);
  patches.clear();
  assert.match(refused.json<Status>().message ?? '', /ValidatingAdmissionPolicy 'big'/);
  assert.equal(await replicas(), 4);
});

test('a mutating webhook that makes an invalid Scale is refused', async () => {
  patches.set('Scale', [{ op: 'replace', path: '/spec/replicas', value: -1 }]);
  const refused = await scaleTo(2);
  patches.clear();
  assert.equal(refused.code, 422);
  assert.match(refused.json<Status>().message ?? '', /spec\.replicas: Invalid value: -1/);
});

test('a mutating webhook changes the delete options of an Eviction', async () => {
  const pod = podObject('b');
  pod.spec = { ...pod.spec, nodeName: 'n1' };
  await plane.registry.create(podKind, 'default', pod);
  patches.set('Eviction', [{ op: 'replace', path: '/deleteOptions/gracePeriodSeconds', value: 7 }]);
  const body = {
    ...{ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'b', namespace: 'default' } },
    deleteOptions: { gracePeriodSeconds: 20 },
  };
  const evicted = await call(api, `POST ${EVICTION.replace('/a/', '/b/')}`, { body });
  patches.clear();
  assert.equal(evicted.code, 201);
  const stored = (await plane.registry.get(podKind, { namespace: 'default', name: 'b' })).object();
  assert.equal(stored.metadata.deletionGracePeriodSeconds, 7);
});
