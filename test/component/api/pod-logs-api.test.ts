import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PodStreams } from '../../../coordinator/api/ports.js';
import { podKind } from '../../../coordinator/kinds/index.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { LogStreamRequest } from '../../../shared/link/messages/link-messages.js';
import { NO_STREAMS, startTestApi, TEST_TOKEN, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { rawConnection } from '../../harness/api/raw-connection.js';
import { until } from '../../harness/basics/wait-until.js';

let api: TestApi;
let asked: { node: string; request: LogStreamRequest } | undefined;
let open = 0;

/** A host `n1` with logs that contain `one` and `two`, and continue without end when followed. */
const streams: PodStreams = {
  ...NO_STREAMS,
  logs: async (node, request, signal) => {
    if (node !== 'n1') throw new ApiError('ServiceUnavailable', `node ${node} is not connected`);
    asked = { node, request };
    return lines(request.follow, signal);
  },
};

async function* lines(follow: boolean, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  open += 1;
  try {
    yield Buffer.from('one\n');
    yield Buffer.from('two\n');
    if (follow) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  } finally {
    open -= 1;
  }
}

async function createPod(name: string, nodeName: string | undefined): Promise<void> {
  const spec = { containers: [{ name: 'c', image: 'i:1' }], ...(nodeName ? { nodeName } : {}) };
  await api.registry.create(podKind, 'default', { metadata: { name }, spec });
  await api.registry.modify(
    podKind,
    { namespace: 'default', name },
    (pod) => {
      const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
      const status = { name: 'c', ready: true, restartCount: 0, image: 'i:1', imageID: '', state };
      pod.status = { ...pod.status, containerStatuses: [status] };
      return undefined;
    },
    { subresource: 'status' },
  );
}

before(async () => {
  api = await startTestApi({ streams });
  await createPod('here', 'n1');
  await createPod('dark', 'n2');
  await createPod('nowhere', undefined);
});
after(() => api.stop());

const LOG = '/api/v1/namespaces/default/pods/here/log';

test('a log is plain text from the Pod’s host, requested by uid', async () => {
  const answer = await call(api, `GET ${LOG}?container=c&tailLines=5&timestamps=true`);
  assert.equal(answer.headers['content-type'], 'text/plain');
  assert.equal(answer.text, 'one\ntwo\n');
  assert.equal(asked?.node, 'n1');
  assert.equal(asked?.request.tailLines, 5);
  assert.ok(asked?.request.podUid);
});

test('a followed log is streamed at once and ends on the host when the client disconnects', async () => {
  const head = `Host: x\r\nAuthorization: Bearer ${TEST_TOKEN}\r\n`;
  const { socket } = await rawConnection(api, `GET ${LOG}?follow=true HTTP/1.1\r\n${head}\r\n`);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await until(() => text.includes('two\n') || text);
  assert.equal(open, 1);
  socket.destroy();
  await until(() => open === 0 || `${open} streams are open`);
});

test('an unreachable host is a 503 that says so', async () => {
  const answer = await call(api, 'GET /api/v1/namespaces/default/pods/dark/log');
  assert.equal(answer.code, 503);
  assert.equal(answer.json<{ message: string }>().message, 'node n2 is not connected');
});

test('a Pod without a node has an empty log, a missing Pod is 404', async () => {
  const empty = await call(api, 'GET /api/v1/namespaces/default/pods/nowhere/log');
  assert.deepEqual([empty.code, empty.text], [200, '']);
  assert.equal((await call(api, 'GET /api/v1/namespaces/default/pods/none/log')).code, 404);
});

test('eviction and binding answer 201 once', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'nowhere' }, target };
  assert.equal((await call(api, `POST ${pods}/nowhere/binding`, { body: binding })).code, 201);
  assert.equal((await call(api, `POST ${pods}/nowhere/binding`, { body: binding })).code, 409);
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'nowhere' } };
  assert.equal((await call(api, `POST ${pods}/nowhere/eviction`, { body: eviction })).code, 201);
  const other = { ...eviction, metadata: { name: 'else' } };
  assert.equal((await call(api, `POST ${pods}/nowhere/eviction`, { body: other })).code, 400);
});
