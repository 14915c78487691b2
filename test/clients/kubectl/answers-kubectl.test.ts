/** Answers of a coordinator process that programs of others rely on, seen by kubectl. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../../harness/clients/kubectl.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

const TOKEN_SECRET = `
apiVersion: v1
kind: Secret
metadata: {name: robot-token, annotations: {kubernetes.io/service-account.name: robot}}
type: kubernetes.io/service-account-token
`;

const EVENT = `
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: noted, namespace: default}
regarding: {apiVersion: v1, kind: ConfigMap, namespace: default, name: kube-root-ca.crt}
note: A note of a newer client.
reason: Noted
type: Normal
action: Noting
eventTime: 2026-01-31T09:00:00.000000Z
reportingController: example.dev/controller
reportingInstance: controller-1
`;

const why = whyNoKubectl();

describe('answers of a coordinator', () => {
  if (why !== undefined) {
    test('kubectl is not installed', (context: TestContext) => leaveOut(context, 'kubectl', why));
    return;
  }
  let coordinator: CoordinatorProcess;
  let kubectl: Kubectl;
  before(async () => {
    const directory = temporaryDirectory();
    coordinator = await startCoordinatorProcess(join(directory, 'data'));
    kubectl = createKubectl(coordinator.kubeconfig);
  });
  after(async () => {
    kubectl.remove();
    await coordinator.end('SIGTERM');
  });

  const readsEventually = (command: string, expected: (text: string) => boolean) =>
    until(async () => expected((await kubectl.run(command.split(' '))).stdout), {
      what: `kubectl ${command}`,
      timeoutMs: 30_000,
    });

  test('each namespace has kube-root-ca.crt, which is restored after a deletion', async () => {
    await kubectl.ok('create namespace shop');
    const read = 'get configmap kube-root-ca.crt -n shop -o jsonpath={.data.ca\\.crt}{.metadata.uid}';
    await readsEventually(read, (text) => text.startsWith('-----BEGIN CERTIFICATE-----'));
    const first = await kubectl.ok(read);
    await kubectl.ok('delete configmap kube-root-ca.crt -n shop');
    await readsEventually(read, (text) => text.startsWith('-----BEGIN') && text.trimEnd() !== first);
    await kubectl.ok('delete namespace shop');
  });

  test('a token Secret authenticates kubectl until it is deleted', async () => {
    await kubectl.ok('create serviceaccount robot');
    await kubectl.ok('apply -f -', TOKEN_SECRET);
    const read = 'get secret robot-token -o jsonpath={.data.token}';
    await readsEventually(read, (text) => text !== '');
    const token = Buffer.from(await kubectl.ok(read), 'base64').toString();
    const whoami = () =>
      kubectl.run(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}', `--token=${token}`]);
    assert.equal((await whoami()).stdout, 'system:serviceaccount:default:robot');
    assert.match(
      await kubectl.ok('describe secret robot-token'),
      /ca\.crt: +\d+ bytes\nnamespace: +7 bytes\ntoken: +\S+/,
    );
    await kubectl.ok('delete secret robot-token');
    assert.match((await whoami()).stderr, /You must be logged in to the server/);
  });

  test('get --raw reads the issuer and its keys', async () => {
    const configuration = JSON.parse(await kubectl.ok('get --raw /.well-known/openid-configuration'));
    const { keys } = JSON.parse(await kubectl.ok(`get --raw ${new URL(configuration.jwks_uri).pathname}`));
    assert.equal(keys[0].kty, 'EC');
    const token = await kubectl.ok('create token robot');
    const [head = '', claims = ''] = token
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString());
    assert.equal(JSON.parse(claims).iss, configuration.issuer);
    assert.ok(keys.some(({ kid }: { kid: string }) => kid === JSON.parse(head).kid));
  });

  test('an Event of events.k8s.io is created, listed, described and deleted', async () => {
    assert.equal(await kubectl.ok('create -f -', EVENT), 'event.events.k8s.io/noted created');
    assert.match(
      await kubectl.ok('get events.v1.events.k8s.io noted'),
      /Normal +Noted +configmap\/kube-root-ca\.crt +A note of a newer client\./,
    );
    assert.match(
      await kubectl.ok('get events'),
      /Noted +configmap\/kube-root-ca\.crt +A note of a newer client\./,
    );
    assert.equal(
      await kubectl.ok('get events.v1.events.k8s.io --field-selector regarding.kind=ConfigMap -o name'),
      'event.events.k8s.io/noted',
    );
    assert.match(
      await kubectl.ok('api-resources --api-group=events.k8s.io'),
      /events +ev +events\.k8s\.io\/v1 +true +Event/,
    );
    await kubectl.ok('delete events.v1.events.k8s.io noted');
    assert.equal((await kubectl.run(['get', 'event', 'noted'])).code, 1);
  });

  test('replace --raw at /finalize frees a stuck namespace', async () => {
    const stuck = (finalizers: string[]) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'stuck' },
        spec: { finalizers },
      });
    await kubectl.ok('create -f -', stuck(['example.dev/hold']));
    await kubectl.ok('delete namespace stuck --wait=false');
    await readsEventually(
      'get namespace stuck -o jsonpath={.status.phase}{.spec.finalizers}',
      (text) => text === 'Terminating["example.dev/hold"]',
    );
    await kubectl.ok('replace --raw /api/v1/namespaces/stuck/finalize -f -', stuck([]));
    await readsEventually('get namespace stuck --ignore-not-found -o name', (text) => text === '');
  });
});
