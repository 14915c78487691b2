/** The rights of a node's certificate over HTTPS: its own objects only. The hub's tests cover the link. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { joinCoordinator } from '../../../agent/identity/join-coordinator.js';
import { configMapKind, nodeKind, podKind, secretKind } from '../../../coordinator/kinds/index.js';
import { credentialSecretName } from '../../../shared/kube/nodes/node-credential-secret.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { MemoryAuditLog } from '../../harness/api/audit-memory.js';
import { type CallOptions, call } from '../../harness/api/https-call.js';
import { until } from '../../harness/basics/wait-until.js';
import { startEnrolment } from '../../harness/hub/enrolment-fixture.js';
import { nodeObject, podObject } from '../../harness/objects/object-builders.js';

const POD = '/api/v1/namespaces/default/pods';

/** Two nodes with a Pod each. The Pod of n1 names a Secret, a ConfigMap and its own credential. */
async function fleet(context: TestContext) {
  const audit = new MemoryAuditLog();
  const fixture = await startEnrolment(context, { audit });
  const { registry, informers, api } = fixture;
  const { certificate = '', key = '' } = await joinCoordinator(fixture.options());
  for (const name of ['n1', 'n2']) await registry.create(nodeKind, undefined, nodeObject(name));
  for (const name of ['named', 'other']) {
    await registry.create(secretKind, 'default', { metadata: { name }, data: { a: 'eA==' } });
    await registry.create(configMapKind, 'default', { metadata: { name }, data: { a: 'x' } });
  }
  const volumes = [
    { name: 's', secret: { secretName: 'named' } },
    { name: 'c', configMap: { name: 'named' } },
  ];
  await registry.create(podKind, 'default', podObject('mine', { nodeName: 'n1', volumes }));
  const theirs = { volumes: [{ name: 's', secret: { secretName: 'other' } }], nodeName: 'n2' };
  const last = await registry.create(podKind, 'default', podObject('theirs', theirs));
  await informers.waitFor(last.revision);
  const client = { cert: certificate, key };
  const ask = (line: string, options: CallOptions = {}) =>
    call(api, line, { token: null, client, ...options });
  return { ...fixture, audit, ask };
}

test('a node can read and write its own objects', async (context) => {
  const { ask, api } = await fleet(context);
  for (const line of [
    'GET /api/v1/nodes/n1',
    `GET ${POD}/mine`,
    'GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1',
    'GET /api/v1/namespaces/default/secrets/named',
    'GET /api/v1/namespaces/default/configmaps/named',
  ]) {
    assert.equal((await ask(line)).code, 200, line);
  }
  const node = (await call(api, 'GET /api/v1/nodes/n1')).json<Node>();
  assert.equal((await ask('PUT /api/v1/nodes/n1/status', { body: node })).code, 200);
  const pod = (await call(api, `GET ${POD}/mine`)).json<Pod>();
  assert.equal((await ask(`PUT ${POD}/mine/status`, { body: pod })).code, 200);
});

const REFUSED: [what: string, line: string, body?: object][] = [
  ["another's Node", 'GET /api/v1/nodes/n2'],
  ['all Nodes', 'GET /api/v1/nodes'],
  ["another's Pod", `GET ${POD}/theirs`],
  ['all Pods', 'GET /api/v1/pods'],
  ["another's Pods", 'GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn2'],
  ['Pods of all nodes except one', 'GET /api/v1/pods?fieldSelector=spec.nodeName%21%3Dn1'],
  ['a watch of Pods', 'GET /api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn1'],
  ["another's Secret", 'GET /api/v1/namespaces/default/secrets/other'],
  ['all Secrets', 'GET /api/v1/namespaces/default/secrets'],
  ['its own credential', 'GET /api/v1/namespaces/kube-system/secrets/node-credential-n1'],
  ["another's ConfigMap", 'GET /api/v1/namespaces/default/configmaps/other'],
  ['the status of another Node', 'PUT /api/v1/nodes/n2/status', nodeObject('n2')],
  ["the status of another node's Pod", `PUT ${POD}/theirs/status`, podObject('theirs')],
  ['its own spec', 'PUT /api/v1/nodes/n1', nodeObject('n1')],
  ['a Pod of its own', `POST ${POD}`, podObject('new', { nodeName: 'n1' })],
  ['the deletion of its Pod', `DELETE ${POD}/mine`],
  ['a command in its Pod', `POST ${POD}/mine/exec?command=id&stdout=1`],
  ['a signing request', 'POST /apis/certificates.k8s.io/v1/certificatesigningrequests', {}],
  ['its own approval', 'PUT /apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval', {}],
];
test('a node is denied everything else with 403, and each denial is audited', async (context) => {
  const { ask, audit } = await fleet(context);
  for (const [what, line, body] of REFUSED) {
    const { code, text } = await ask(line, body ? { body } : {});
    assert.equal(code, 403, `${what}: ${text}`);
    assert.match(text, /User \\"system:node:n1\\" cannot/, what);
  }
  const refusals = () => audit.events.filter(({ responseStatus }) => responseStatus.code === 403);
  await until(() => refusals().length === REFUSED.length, { timeoutMs: 30_000 });
  for (const { user, sourceIPs } of refusals())
    assert.deepEqual([user.username, ...sourceIPs], ['system:node:n1', '127.0.0.1']);
});

const REVIEW = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

function accessReview(resourceAttributes: object): object {
  const apiVersion = 'authorization.k8s.io/v1';
  return { kind: 'SubjectAccessReview', apiVersion, spec: { user: 'alice', resourceAttributes } };
}

test('a node can review callers of its own kubelet, and no other rights of users', async (context) => {
  const { ask, api } = await fleet(context);
  const own = { resource: 'nodes', subresource: 'metrics', verb: 'get', name: 'n1' };
  const allowed = await ask(`POST ${REVIEW}`, { body: accessReview(own) });
  assert.deepEqual([allowed.code, allowed.json<{ status: object }>().status], [201, { allowed: false }]);
  for (const other of [
    { ...own, name: 'n2' },
    { ...own, name: '' },
    { ...own, group: 'metrics.k8s.io' },
    { resource: 'secrets', verb: 'get', namespace: 'default', name: 'other' },
  ]) {
    const refused = await ask(`POST ${REVIEW}`, { body: accessReview(other) });
    assert.equal(refused.code, 403, JSON.stringify(other));
    assert.match(refused.text, /node \\"n1\\" may only review access to its own kubelet/);
  }
  assert.equal((await call(api, `POST ${REVIEW}`, { body: accessReview({ ...own, name: 'n2' }) })).code, 201);
  const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: { token: 'wrong' } };
  const reviewed = await ask('POST /apis/authentication.k8s.io/v1/tokenreviews', { body: review });
  assert.equal(reviewed.code, 201);
  assert.equal(reviewed.json<{ status: { authenticated: boolean } }>().status.authenticated, false);
});

test('a status cannot set labels, taints or annotations', async (context) => {
  const { ask, api } = await fleet(context);
  const node = (await call(api, 'GET /api/v1/nodes/n1')).json<Node>();
  const labels = { ...node.metadata.labels, 'node-restriction.kubernetes.io/rack': '1' };
  const labelled = await ask('PUT /api/v1/nodes/n1/status', {
    body: { ...node, metadata: { ...node.metadata, labels } },
  });
  assert.deepEqual([labelled.code, /not allowed to modify labels/.test(labelled.text)], [403, true]);
  const spec = { ...node.spec, taints: [{ key: 'k', effect: 'NoSchedule' }], unschedulable: true };
  await ask('PUT /api/v1/nodes/n1/status', { body: { ...node, spec } });
  assert.deepEqual((await call(api, 'GET /api/v1/nodes/n1')).json<Node>().spec, node.spec);
  const pod = (await call(api, `GET ${POD}/mine`)).json<Pod>();
  const body = { ...pod, metadata: { ...pod.metadata, labels: { app: 'stolen' } } };
  assert.equal((await ask(`PUT ${POD}/mine/status`, { body })).code, 403);
});

test('a certificate with a revoked key is unauthenticated', async (context) => {
  const { ask, registry } = await fleet(context);
  await registry.delete(secretKind, { namespace: 'kube-system', name: credentialSecretName('n1') });
  await until(async () => (await ask('GET /api/v1/nodes/n1')).code === 401, {
    timeoutMs: 30_000,
    what: '401',
    pollMs: 5,
  });
});
