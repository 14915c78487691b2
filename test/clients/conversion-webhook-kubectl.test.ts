/** A conversion webhook over HTTPS, with a real kubectl on a real coordinator: two versions with different fields. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { selfSignedCertificate } from '../harness/api/self-signed-certificate.js';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../harness/basics/temporary-directory.js';
import { until } from '../harness/basics/wait-until.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../harness/clients/kubectl.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../harness/processes/everynode-processes.js';

interface Timer {
  apiVersion: string;
  spec: { seconds?: number; period?: string };
}

interface Review {
  apiVersion: string;
  kind: string;
  request: { uid: string; desiredAPIVersion: string; objects: Timer[] };
}

/** v1 has whole seconds, v2 a text. */
function converted(timer: Timer, apiVersion: string): Timer {
  const { seconds = 0, period = '0s' } = timer.spec;
  const spec = apiVersion.endsWith('/v2')
    ? { period: `${seconds}s` }
    : { seconds: Number.parseInt(period, 10) };
  return { ...timer, apiVersion, spec };
}

async function startConverter(): Promise<{ server: Server; client: object }> {
  const { cert, key } = await selfSignedCertificate('localhost');
  const server = createServer({ cert, key }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review: Review = JSON.parse(Buffer.concat(chunks).toString());
    const { uid, desiredAPIVersion, objects } = review.request;
    const convertedObjects = objects.map((object) => converted(object, desiredAPIVersion));
    const { apiVersion, kind } = review;
    const answer = { uid, result: { status: 'Success' }, convertedObjects };
    response.end(JSON.stringify({ apiVersion, kind, response: answer }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://localhost:${(server.address() as AddressInfo).port}/convert`;
  return { server, client: { url, caBundle: Buffer.from(cert).toString('base64') } };
}

function definition(clientConfig: object): string {
  const version = (name: string, storage: boolean, field: object) => ({
    ...{ name, storage, served: true },
    schema: {
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: field } } },
    },
  });
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'timers.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced' },
      names: { plural: 'timers', singular: 'timer', kind: 'Timer' },
      versions: [
        version('v1', false, { seconds: { type: 'integer' } }),
        version('v2', true, { period: { type: 'string' } }),
      ],
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    },
  });
}

const timer = (version: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: `example.com/${version}`, kind: 'Timer', metadata: { name }, spec });

describe('a conversion webhook', () => {
  const why = whyNoKubectl();
  if (why !== undefined) {
    test('kubectl is not installed', (context: TestContext) => leaveOut(context, 'kubectl', why));
    return;
  }
  let coordinator: CoordinatorProcess;
  let kubectl: Kubectl;
  let server: Server;

  before(async () => {
    const converter = await startConverter();
    server = converter.server;
    coordinator = await startCoordinatorProcess(join(temporaryDirectory(), 'c'));
    kubectl = createKubectl(coordinator.kubeconfig);
    await kubectl.ok('apply -f -', definition(converter.client));
    await kubectl.ok('wait --for=condition=established crd/timers.example.com --timeout=10s');
  });
  after(async () => {
    kubectl.remove();
    await coordinator.end('SIGTERM');
    server.closeAllConnections();
    server.close();
  });

  test('kubectl applies, gets, lists, patches and watches both versions', async () => {
    await kubectl.ok('apply -f -', timer('v1', 'a', { seconds: 30 }));
    await kubectl.ok('apply --server-side -f -', timer('v2', 'b', { period: '5s' }));
    const v1 = (path: string) => kubectl.ok(`get timers.v1.example.com -o jsonpath={.items[*].${path}}`);
    const v2 = (path: string) => kubectl.ok(`get timers.v2.example.com -o jsonpath={.items[*].${path}}`);
    assert.equal(await v1('spec'), '{"seconds":30} {"seconds":5}');
    assert.equal(await v2('spec'), '{"period":"30s"} {"period":"5s"}');
    const watch = kubectl.start('get timers.v1.example.com b -w -o jsonpath={.spec.seconds},');
    await until(() => watch.stdout === '5,', { what: 'the first state' });
    await kubectl.ok('patch timers.v2.example.com b --type=merge -p {"spec":{"period":"9s"}}');
    await until(() => watch.stdout === '5,9,', { what: 'the converted change' });
    watch.stop();
    assert.match(await kubectl.ok('apply -f -', timer('v1', 'a', { seconds: 30 })), /unchanged/);
  });

  test('without its answer, only the storage version is served, and the definition can be deleted', async () => {
    server.closeAllConnections();
    server.close();
    const { code, stderr } = await kubectl.run(['get', 'timers.v1.example.com']);
    assert.notEqual(code, 0);
    assert.match(stderr, /conversion webhook for example\.com\/v2, Kind=Timer failed: Post "https:/);
    assert.match(await kubectl.ok('get timers.v2.example.com -o name'), /\/a\n.*\/b$/);
    await kubectl.ok('delete crd timers.example.com --timeout=30s');
  });
});
