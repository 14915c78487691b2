/** `nodes/NAME/proxy` of the API, and the reviews that a node may ask for. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { PodStreams } from '../../../coordinator/api/ports.js';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { KubeletStreamRequest, StreamRequest } from '../../../shared/link/messages/link-messages.js';
import { NO_STREAMS, startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';

const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';
let api: TestApi;
let asked: KubeletStreamRequest | undefined;
let response: Uint8Array[] = [];

async function* sent(): AsyncGenerator<Uint8Array> {
  yield* response;
}

const streams: PodStreams = {
  ...NO_STREAMS,
  open: async (node: string, request: StreamRequest) => {
    if (node !== 'n1') throw new ApiError('ServiceUnavailable', `node "${node}" is not connected`);
    assert.equal(request.type, 'kubelet');
    asked = request as KubeletStreamRequest;
    return sent();
  },
};

function page(head: object, body: string | Buffer): void {
  response = [Buffer.from(`${JSON.stringify(head)}\n`), Buffer.from(body)];
}

before(async () => {
  api = await startTestApi({ streams });
  for (const name of ['n1', 'n2'])
    await api.registry.create(nodeKind, undefined, {
      metadata: { name },
      ...(name === 'n1' ? { status: { daemonEndpoints: { kubeletEndpoint: { Port: 10_260 } } } } : {}),
    });
});
after(() => api.stop());

const PROXY = '/api/v1/nodes/n1/proxy';

test('a page keeps its status, type and body, and the host receives path and query', async () => {
  page({ status: 200, contentType: PROMETHEUS }, 'up 1\n');
  const answer = await call(api, `GET ${PROXY}/stats/summary?only_cpu_and_memory=true`);
  assert.deepEqual([answer.code, answer.headers['content-type'], answer.text], [200, PROMETHEUS, 'up 1\n']);
  assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  assert.deepEqual(asked, {
    type: 'kubelet',
    path: '/stats/summary',
    query: 'only_cpu_and_memory=true',
    gzip: false,
  });
  page({ status: 405, contentType: 'text/plain; charset=utf-8' }, 'Debug endpoints are disabled.\n');
  assert.equal((await call(api, `GET ${PROXY}/exec/a/b/c`)).code, 405);
});

test('a compressed page is passed on only to a client that accepts it', async () => {
  page({ status: 200, contentType: PROMETHEUS, encoding: 'gzip' }, gzipSync('up 1\n'));
  const refused = await call(api, `GET ${PROXY}/metrics`);
  assert.equal(refused.code, 500);
  assert.match(refused.text, /invalid page/);
  const answer = await call(api, `GET ${PROXY}/metrics`, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(answer.headers['content-encoding'], 'gzip');
  assert.equal(asked?.gzip, true);
  assert.ok(gunzipSync(gzipSync('up 1\n')).equals(Buffer.from('up 1\n')));
});

test('a compromised host cannot serve HTML from the coordinator’s origin', async () => {
  page({ status: 200, contentType: 'text/html' }, '<script>steal()</script>');
  const answer = await call(api, `GET ${PROXY}/metrics`);
  assert.equal(answer.code, 500);
  assert.doesNotMatch(answer.text, /steal/);
});

test('the kubelet’s ports are proxied, and no other ports of the host', async () => {
  page({ status: 200, contentType: PROMETHEUS }, 'up 1\n');
  for (const name of ['n1:10250', 'n1:10260', 'https:n1:10250'])
    assert.equal((await call(api, `GET /api/v1/nodes/${name}/proxy/metrics`)).code, 200, name);
  const refused = await call(api, 'GET /api/v1/nodes/n1:22/proxy/');
  assert.equal(refused.code, 400);
  assert.match(refused.text, /only the kubelet's port is/);
});

test('a path or query that the link cannot carry is refused before the host receives it', async () => {
  asked = undefined;
  for (const path of [`/${'a'.repeat(2_100)}`, `/metrics?a=${'b'.repeat(4_200)}`]) {
    const answer = await call(api, `GET ${PROXY}${path}`);
    assert.equal(answer.code, 400);
    assert.match(answer.text, /is too long/);
  }
  assert.equal(asked, undefined);
});

test('a missing node is 404, an offline one 503, and writes are refused', async () => {
  assert.equal((await call(api, 'GET /api/v1/nodes/none/proxy/metrics')).code, 404);
  assert.equal((await call(api, 'GET /api/v1/nodes/n2/proxy/metrics')).code, 503);
  assert.equal((await call(api, `POST ${PROXY}/exec/a/b/c`, { body: {} })).code, 405);
});
