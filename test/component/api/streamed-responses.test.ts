/**
 * Watches over a WebSocket, as the console reads them: the same bytes, the same rejections, and no leaks when the
 * reader disconnects.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { ADMIN } from '../../../coordinator/api/auth/token-authenticator.js';
import { configMapKind, podKind } from '../../../coordinator/kinds/index.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { Status } from '../../../shared/kube/objects/api-status.js';
import { STREAM_PROTOCOL } from '../../../shared/kube/objects/stream-protocol.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { StreamError } from '../../../shared/link/streams/byte-stream.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { NO_STREAMS, startTestApi, TEST_TOKEN, type TestApi } from '../../harness/api/api-fixture.js';
import { until } from '../../harness/basics/wait-until.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const WATCH = `${MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
const LIMITS = { timeoutMs: 30_000 };

/** The reader's end of a stream. */
class Reader {
  /** All binary messages. */
  body = '';
  refusal: Status | undefined;
  /** Close code of a stream that was rejected before it opened. */
  code = 0;
  readonly closed: Promise<void>;

  constructor(api: TestApi, path: string, headers: Record<string, string>) {
    const url = `${api.url.replace('https', 'wss')}${path}`;
    this.socket = new WebSocket(url, STREAM_PROTOCOL, { headers, ca: api.pki.ca.cert });
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.body += data.toString();
      else this.refusal = JSON.parse(data.toString()) as Status;
    });
    this.socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
      this.code = statusCode;
      this.socket.terminate();
    });
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
  }

  readonly socket: WebSocket;
}

/** RFC 6455, 7.4.1: closed without a close frame. */
const BROKEN_OFF = 1006;

/** The log of a host that disconnects after its first line, once `over` resolves. */
async function* lostLog(over: Promise<void>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('one\n');
  await over;
  throw new StreamError('ServiceUnavailable', 'the connection to the node was lost');
}

async function startedPod(registry: Registry, name: string): Promise<void> {
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i:1' }] };
  await registry.create(podKind, 'default', { metadata: { name }, spec });
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  const status = { name: 'c', ready: true, restartCount: 0, image: 'i:1', imageID: '', state };
  const change = (pod: Pod) => {
    pod.status = { ...pod.status, containerStatuses: [status] };
    return undefined;
  };
  await registry.modify(podKind, { namespace: 'default', name }, change, { subresource: 'status' });
}

const asAdmin = { authorization: `Bearer ${TEST_TOKEN}` };

test('a watch starts with the existing objects and continues with changes, as its body would', async (context) => {
  const api = await startTestApi();
  context.after(() => api.stop());
  await api.registry.create(configMapKind, 'default', { metadata: { name: 'first' } });
  const reader = new Reader(api, WATCH, asAdmin);
  await until(() => reader.body.includes('initial-events-end'), { ...LIMITS, what: 'the beginning' });
  await api.registry.create(configMapKind, 'default', { metadata: { name: 'second' } });
  await until(() => reader.body.includes('"second"'), { ...LIMITS, what: 'the change' });
  const events = reader.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['ADDED', 'BOOKMARK', 'ADDED'],
  );
  reader.socket.close();
  await reader.closed;
});

test('a request that ends by itself is not a stream, and the console gets the reason in a Status', async (context) => {
  const api = await startTestApi();
  context.after(() => api.stop());
  const list = context.mock.method(api.registry, 'list');
  const own = new Reader(api, MAPS, { ...asAdmin, origin: api.url });
  await own.closed;
  assert.deepEqual([own.refusal?.code, own.body], [400, '']);
  assert.equal(list.mock.callCount(), 0, 'what is refused anyway has been read');
  const nobody = new Reader(api, WATCH, { origin: api.url });
  await nobody.closed;
  assert.deepEqual([nobody.refusal?.code, nobody.body], [401, '']);
  const other = new Reader(api, WATCH, {});
  await other.closed;
  assert.deepEqual([other.code, other.body], [401, '']);
});

test("a page of another site gets nothing by the certificate of the browser's user", async (context) => {
  const api = await startTestApi({ authenticateSocket: () => ADMIN });
  context.after(() => api.stop());
  const own = new Reader(api, WATCH, { origin: api.url });
  await until(() => own.body.includes('initial-events-end'), { ...LIMITS, what: 'the beginning' });
  own.socket.close();
  const foreign = new Reader(api, WATCH, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' });
  await foreign.closed;
  assert.deepEqual([foreign.code, foreign.body], [403, '']);
});

test('a log whose host disconnects breaks off, and is no error of the coordinator', async (context) => {
  const faults: unknown[] = [];
  const log = { ...silentLogger, child: () => log, error: (fault: unknown) => void faults.push(fault) };
  let lose = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    lose = resolve;
  });
  const streams = { ...NO_STREAMS, logs: async () => lostLog(over) };
  const api = await startTestApi({ log: log as typeof silentLogger, streams });
  context.after(() => api.stop());
  await startedPod(api.registry, 'web');
  const reader = new Reader(api, '/api/v1/namespaces/default/pods/web/log?follow=true', asAdmin);
  const code = new Promise((resolve) => reader.socket.once('close', resolve));
  await until(() => reader.body === 'one\n', { ...LIMITS, what: 'its first line' });
  lose();
  assert.equal(await code, BROKEN_OFF);
  assert.deepEqual(faults, []);
});

test('a coordinator that stops ends its streams', async () => {
  const api = await startTestApi();
  const reader = new Reader(api, WATCH, asAdmin);
  await until(() => reader.body.includes('initial-events-end'), { ...LIMITS, what: 'the beginning' });
  await api.stop();
  await reader.closed;
});

test('a large beginning of a watch is compressed, because it mostly repeats', async (context) => {
  const api = await startTestApi();
  context.after(() => api.stop());
  const data = { text: 'all hosts are alike; '.repeat(20) };
  const names = Array.from({ length: 200 }, (_, index) => `map-${index}`);
  await Promise.all(
    names.map((name) => api.registry.create(configMapKind, 'default', { metadata: { name }, data })),
  );
  const reader = new Reader(api, WATCH, asAdmin);
  let received = 0;
  reader.socket.on('upgrade', ({ socket }) => {
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
  });
  await until(() => reader.body.includes('initial-events-end'), { ...LIMITS, what: 'the beginning' });
  assert.match(reader.socket.extensions, /permessage-deflate/);
  assert.ok(received * 4 < reader.body.length, `${received} bytes for ${reader.body.length}`);
  reader.socket.close();
  await reader.closed;
});
