/** Client errors, accidental or malicious: a clear response or a closed connection, and the server keeps running. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { MAX_BODY_BYTES, MAX_NESTING } from '../../../coordinator/api/bodies/body-decoder.js';
import { DEFAULT_API_SETTINGS } from '../../../coordinator/api/http/api-context.js';
import { configMapKind } from '../../../coordinator/kinds/index.js';
import { CERTIFICATE_PATH, JOIN_PATH } from '../../../shared/link/messages/link-limits.js';
import { person, startAccessFixture } from '../../harness/api/access-fixture.js';
import { startTestApi, TEST_TOKEN, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { rawConnection } from '../../harness/api/raw-connection.js';
import { openWatch } from '../../harness/api/watch-lines.js';
import { until } from '../../harness/basics/wait-until.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const HEAD = `Host: x\r\nAuthorization: Bearer ${TEST_TOKEN}\r\n`;
const STALL_MS = 400;
const SHORT_LIMITS = { headersTimeoutMs: 300, requestTimeoutMs: 600, checkIntervalMs: 50 };

let api: TestApi;
before(async () => {
  api = await startTestApi({
    limits: SHORT_LIMITS,
    settings: { ...DEFAULT_API_SETTINGS, stallMs: STALL_MS },
  });
});
after(() => api.stop());
afterEach(async () => {
  assert.equal((await call(api, 'GET /healthz')).text, 'ok', 'the server must stay up');
});

function statusIn(answer: string): { reason: string; message: string } {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
}

function configMap(bytes: number): object {
  return { metadata: { generateName: 'big-' }, data: { a: 'x'.repeat(bytes) } };
}

test('a body above 3 MiB is 413, with a stated length or without', async () => {
  const line = `POST ${MAPS} HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n`;
  const named = await rawConnection(api, `${line}Content-Length: ${MAX_BODY_BYTES + 1}\r\n\r\n{`);
  named.socket.end();
  const { reason, message } = statusIn(await named.closed);
  assert.deepEqual(
    [reason, message],
    ['RequestEntityTooLarge', 'Request entity too large: limit is 3145728'],
  );
  const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
  const chunked = await rawConnection(api, `${line}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(4)}`);
  chunked.socket.end();
  assert.match(await chunked.closed, /413 .*"reason":"RequestEntityTooLarge"/s);
});

for (const path of [JOIN_PATH, CERTIFICATE_PATH]) {
  test(`a body that is too large for ${path} is 413 with the limit of that path`, async () => {
    const answer = await call(api, `POST ${path}`, { body: { node: 'x'.repeat(32 * 1024) } });
    const { reason, message } = answer.json<{ reason: string; message: string }>();
    assert.deepEqual(
      [reason, message],
      ['RequestEntityTooLarge', 'Request entity too large: limit is 32768'],
    );
  });
}

test('an object above 1.5 MiB in a request below 3 MiB is 413', async () => {
  const body = { metadata: { name: 'big' }, revision: 1, data: { a: 'x'.repeat(2 * 1024 * 1024) } };
  const answer = await call(api, 'POST /apis/apps/v1/namespaces/default/controllerrevisions', { body });
  assert.equal(answer.json<{ reason: string }>().reason, 'RequestEntityTooLarge');
});

test('a body that is nested too deeply is 400', async () => {
  const deep = MAX_NESTING + 1;
  const body = Buffer.from(`{"a":${'['.repeat(deep)}${']'.repeat(deep)}}`);
  const answer = await call(api, `POST ${MAPS}`, { body });
  assert.match(answer.json<{ message: string }>().message, /nested more than 200 levels/);
});

const BAD_BODIES: [string, Buffer | undefined, number][] = [
  ['no body', undefined, 400],
  ['no JSON', Buffer.from('{"a":'), 400],
  ['no object', Buffer.from('7'), 400],
  ['a null', Buffer.from('null'), 400],
  ['metadata that is no map', Buffer.from('{"metadata":7}'), 400],
  ['a prototype', Buffer.from('{"__proto__":{"a":1},"metadata":{"name":"p"},"constructor":1}'), 400],
  ['bytes that are no text', Buffer.from('ff00fe', 'hex'), 400],
];

for (const [what, body, code] of BAD_BODIES) {
  test(`${what} is ${code} with a Status`, async () => {
    const answer = await call(api, `POST ${MAPS}?fieldValidation=Strict`, body ? { body } : {});
    assert.equal(answer.code, code, answer.text);
    assert.equal(answer.json<{ kind: string }>().kind, 'Status');
  });
}

test('an incomplete request head is answered 408 and closed', async () => {
  const { closed } = await rawConnection(api, `GET ${MAPS} HTTP/1.1\r\nHost: x\r\nX-Slow`);
  assert.match(await closed, /^HTTP\/1\.1 408 .*"reason":"Timeout"/s);
});

test('an incomplete body is answered 408 and closed', async () => {
  const head = `POST ${MAPS} HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
  const { closed } = await rawConnection(api, `${head}{"metadata":`);
  assert.match(await closed, /^HTTP\/1\.1 408 /);
});

test('a head that arrives byte by byte has the same time as one in a piece', async () => {
  const { socket, closed } = await rawConnection(api, `GET ${MAPS} HTTP/1.1\r\n`);
  const drip = setInterval(() => socket.write('X'), 20);
  const answer = await closed;
  clearInterval(drip);
  assert.match(answer, /^HTTP\/1\.1 408 /);
});

test('a connection that never sends data is closed', async () => {
  const { closed } = await rawConnection(api, '');
  assert.match(await closed, /408|^$/);
});

test('data that is not HTTP is answered 400 and closed', async () => {
  const { closed } = await rawConnection(api, '\x16\x03rubbish\r\n\r\n');
  assert.equal(statusIn(await closed).reason, 'BadRequest');
});

test('headers above 32 KiB are rejected', async () => {
  const { closed } = await rawConnection(
    api,
    `GET /api HTTP/1.1\r\n${HEAD}X-Long: ${'x'.repeat(40_000)}\r\n\r\n`,
  );
  assert.match(statusIn(await closed).message, /headers of the request exceed/);
});

for (const target of [
  '/%',
  '/api/v1/namespaces/%zz/pods',
  '/api/v1/namespaces/a/pods/p/q/r',
  '//',
  '/api/v1/../v1',
]) {
  test(`GET ${target} is 404 with a Status`, async () => {
    const answer = await rawConnection(api, `GET ${target} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    assert.match(await answer.closed, /^HTTP\/1\.1 40[04] .*"kind":"Status"/s);
  });
}

test('an unsupported method of a path is 405, an unknown path 404', async () => {
  for (const line of [
    `PUT ${MAPS}`,
    `OPTIONS ${MAPS}`,
    'POST /api',
    'DELETE /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  ]) {
    assert.equal((await call(api, line)).code, 405, line);
  }
  const unknown = await call(api, 'GET /apis/none.dev/v1/things');
  assert.equal(
    unknown.json<{ message: string }>().message,
    'the server could not find the requested resource',
  );
});

test('an upgrade other than the link is a plain 404', async () => {
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  const { closed } = await rawConnection(api, `GET ${MAPS} HTTP/1.1\r\n${HEAD}${upgrade}\r\n`);
  assert.match(await closed, /^HTTP\/1\.1 404 .*"kind":"Status"/s);
});

test('watches outlast the time limits of requests', async () => {
  const record = await api.registry.create(configMapKind, 'default', { metadata: { name: 'late' } });
  const watch = await openWatch(api, `${MAPS}?watch=1&resourceVersion=${record.revision}`);
  await delay(2 * SHORT_LIMITS.requestTimeoutMs);
  await api.registry.delete(configMapKind, { namespace: 'default', name: 'late' });
  assert.equal((await watch.next())?.type, 'DELETED');
  watch.close();
});

for (const query of ['', '?watch=1']) {
  test(`a client that does not read GET configmaps${query} is disconnected`, async () => {
    const present = await api.registry.list(configMapKind);
    for (let made = present.records.length; made < 12; made += 1) {
      await api.registry.create(configMapKind, 'default', configMap(1000 * 1000));
    }
    const connection = await rawConnection(api, `GET ${MAPS}${query} HTTP/1.1\r\n${HEAD}\r\n`);
    connection.socket.pause();
    // A stalled client produces no event, so the test waits for the limit.
    await delay(4 * STALL_MS);
    connection.socket.resume();
    const received = await connection.closed;
    assert.ok(received.length < 12 * 1024 * 1024, `${received.length} bytes came`);
  });
}

test('concurrent requests beyond the limit are 429 with Retry-After', async () => {
  const narrow = await startTestApi({ limits: { maxInFlight: 1 } });
  const head = `POST ${MAPS} HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
  const { socket } = await rawConnection(narrow, head);
  const deadline = Date.now() + 5_000;
  let answer = await call(narrow, 'GET /api');
  while (answer.code === 200 && Date.now() < deadline) answer = await call(narrow, 'GET /api');
  assert.deepEqual([answer.code, answer.headers['retry-after']], [429, '1']);
  socket.destroy();
  await narrow.stop();
});

test('a user with slow requests takes some of the places and leaves the others to other users', async () => {
  const fixture = await startAccessFixture({ limits: { maxInFlight: 20 } });
  const token = fixture.admit(person('slow'));
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const slow = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
  const opened = await Promise.all(Array.from({ length: 20 }, () => rawConnection(fixture.api, slow)));
  const isFull = async () => (await fixture.as(person('slow'), 'GET /api')).code === 429;
  await until(isFull, { timeoutMs: 20_000, what: 'the places of the slow user to be taken' });
  assert.equal((await fixture.as(person('other'), 'GET /api')).code, 200);
  for (const { socket } of opened) socket.destroy();
  await fixture.stop();
});

test('the ServiceAccounts of a namespace share the rate of one client; those of another namespace do not', async () => {
  const settings = { ...DEFAULT_API_SETTINGS, clientLimits: { requestsPerSecond: 0.01, burst: 2 } };
  const fixture = await startAccessFixture({ settings });
  const accounts = ['a:one', 'a:two', 'a:three', 'b:one'].map((name) =>
    person(`system:serviceaccount:${name}`),
  );
  const codes: number[] = [];
  for (const account of accounts) codes.push((await fixture.as(account, 'GET /api')).code);
  assert.deepEqual(codes, [200, 200, 429, 200]);
  await fixture.stop();
});

test('clients that disconnect during a request release all resources', async () => {
  for (let left = 0; left < 5; left += 1) {
    const watch = await openWatch(api, `${MAPS}?watch=1`);
    watch.close();
    const { socket } = await rawConnection(api, `GET ${MAPS} HTTP/1.1\r\n${HEAD}\r\n`);
    socket.destroy();
  }
});

test('an internal error is a 500 without details', async () => {
  const broken = await startTestApi();
  broken.registry.get = () => Promise.reject(new Error('secret detail'));
  const answer = await call(broken, `GET ${MAPS}/x`);
  assert.equal(answer.code, 500);
  assert.ok(!answer.text.includes('secret detail'));
  await broken.stop();
});
