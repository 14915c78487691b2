/** A namespace's labels restrict its Pods, for users and for the DaemonSet controller. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { namespaceKind, podKind } from '../../../coordinator/kinds/index.js';
import type { Status } from '../../../shared/kube/objects/api-status.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';

const PODS = '/api/v1/namespaces/default/pods';
const CONTAINERS = [{ name: 'a', image: 'i' }];
const TEXT =
  'violates PodSecurity "baseline:latest": host namespaces (hostPID=true), privileged (container "a" must not set securityContext.privileged=true)';
const BAD = {
  hostPID: true,
  containers: [{ name: 'a', image: 'i', securityContext: { privileged: true } }],
};

let fleet: DaemonFleet;
let api: TestApi;
before(async () => {
  fleet = await DaemonFleet.start(['n0']);
  api = await startTestApi({ registry: fleet.registry });
  await label({
    'pod-security.kubernetes.io/enforce': 'baseline',
    'pod-security.kubernetes.io/warn': 'restricted',
  });
});
after(async () => {
  await api?.stop();
  await fleet.stop();
});

async function label(labels: Record<string, string>): Promise<void> {
  await fleet.registry.modify(namespaceKind, { name: 'default' }, (namespace) => {
    namespace.metadata.labels = { ...namespace.metadata.labels, ...labels };
    return undefined;
  });
}

test('a Pod that violates the enforced level is rejected and not stored, also in a dry run', async () => {
  for (const query of ['', '?dryRun=All']) {
    const body = { metadata: { name: 'bad' }, spec: BAD };
    const answer = await call(api, `POST ${PODS}${query}`, { body });
    assert.deepEqual([answer.code, answer.json<Status>().message], [403, `pods "bad" is forbidden: ${TEXT}`]);
  }
  assert.equal((await call(api, `GET ${PODS}/bad`)).code, 404);
});

test('a Pod within the enforced level is accepted, with a warning for the stricter level', async () => {
  const answer = await call(api, `POST ${PODS}`, {
    body: { metadata: { name: 'good' }, spec: { containers: CONTAINERS } },
  });
  assert.equal(answer.code, 201);
  assert.match(
    String(answer.headers.warning),
    /would violate PodSecurity \\"restricted:latest\\": allowPrivilegeEscalation != false/,
  );
});

test('a violating template causes a warning, and its Pods are rejected with an Event', async () => {
  const template = { metadata: { labels: { app: 'web' } }, spec: BAD };
  const body = { metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } };
  const path = '/apis/apps/v1/namespaces/default/daemonsets';
  const answer = await call(api, `POST ${path}`, { body });
  assert.equal(answer.code, 201);
  assert.match(
    String(answer.headers.warning),
    /would violate PodSecurity \\"restricted:latest\\": host namespaces/,
  );
  await fleet.settle();
  const refused = /^Warning FailedCreate Error creating: pods "web-.*" is forbidden: /;
  const told = fleet.events.filter((text) => refused.test(text) && text.endsWith(TEXT));
  assert.ok(told.length > 0, fleet.events.join('\n'));
  await label({ 'pod-security.kubernetes.io/enforce': 'privileged' });
  fleet.clock.advance(60_000);
  await fleet.settle();
  const { records } = await fleet.registry.list(podKind, { namespace: 'default', labelSelector: 'app=web' });
  assert.equal(records.length, 1);
});

test('an unknown level is rejected', async () => {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const body = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'strict' } } };
  const answer = await call(api, 'PATCH /api/v1/namespaces/default', { body, headers });
  assert.equal(answer.code, 422);
  assert.match(answer.json<Status>().message ?? '', /must be one of privileged, baseline, restricted/);
});
