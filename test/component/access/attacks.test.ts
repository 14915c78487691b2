/**
 * Attacks on the coordinator's port. Each is rejected with the right status, a log line and an audit line, and the next
 * valid request is answered.
 */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { WebSocket } from 'ws';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import { joinCoordinator } from '../../../agent/identity/join-coordinator.js';
import { MAX_PRE_HANDSHAKE_PER_NETWORK } from '../../../coordinator/api/limits/pre-handshake-sockets.js';
import { newJoinToken, tokenSecret } from '../../../coordinator/hub/identity/new-join-token.js';
import { secretKind } from '../../../coordinator/kinds/index.js';
import { loadPki } from '../../../coordinator/pki/load-pki.js';
import { credentialSecretName, revokedData } from '../../../shared/kube/nodes/node-credential-secret.js';
import { JOIN_PATH, LINK_PATH, SUBPROTOCOL } from '../../../shared/link/messages/link-messages.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import { TEST_TOKEN } from '../../harness/api/api-fixture.js';
import { MemoryAuditLog } from '../../harness/api/audit-memory.js';
import { call } from '../../harness/api/https-call.js';
import { idleConnections } from '../../harness/api/idle-connections.js';
import { rawConnection } from '../../harness/api/raw-connection.js';
import { startCpuTimer } from '../../harness/basics/cpu-time.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { type EnrolmentFixture, startEnrolment } from '../../harness/hub/enrolment-fixture.js';

/** Half of them come from the address of the valid host. */
const HALF_OPEN = 10_000;
const HALF_OPEN_FROM = ['127.0.0.1', '127.0.0.2'];

/** A logger that keeps every line of every level as text. */
function keptLog(lines: string[]): Logger {
  const write = (bindings: object) => (entry: unknown, text?: unknown) => {
    lines.push(JSON.stringify({ ...bindings, entry, text }));
  };
  const logger = (bindings: Record<string, unknown>): Logger => ({
    debug: write(bindings) as Logger['debug'],
    info: write(bindings) as Logger['info'],
    warn: write(bindings) as Logger['warn'],
    error: write(bindings) as Logger['error'],
    child: (more) => logger({ ...bindings, ...more }),
  });
  return logger({});
}

async function target(context: TestContext) {
  const lines: string[] = [];
  const audit = new MemoryAuditLog();
  const fixture = await startEnrolment(context, { log: keptLog(lines), audit });
  const audited = (verb: string) => audit.entriesFor(verb);
  const { events } = audit;
  const csr = async (node: string) => certificateRequest(await generateKeyPem(), node);
  const join = async (token: string | null, node = 'n1') =>
    call(fixture.api, `POST ${JOIN_PATH}`, { token, body: { node, csr: await csr(node) } });
  return { ...fixture, lines, events, audited, join };
}

/** Asserts that the port still serves. */
async function isWell({ api }: Pick<EnrolmentFixture, 'api'>): Promise<void> {
  assert.equal((await call(api, 'GET /api/v1/namespaces/default')).code, 200);
}

test('a missing, wrong, expired or used token is 401 with a log line, and no line contains a token', async (context) => {
  const fixture = await target(context);
  const [expired, spent] = [newJoinToken(), newJoinToken()];
  const grants = [tokenSecret(expired, { expiresAtMs: 1 }), tokenSecret(spent, { singleUse: true })];
  for (const secret of grants) await fixture.registry.create(secretKind, 'kube-system', secret);
  assert.equal((await fixture.join(`${spent.id}.${spent.secret}`, 'n9')).code, 200);
  const tokens = [
    null,
    'abcdef.0123456789abcdef',
    `${fixture.token.id}.0123456789abcdef`,
    `${expired.id}.${expired.secret}`,
    `${spent.id}.${spent.secret}`,
  ];
  for (const token of tokens) assert.equal((await fixture.join(token)).code, 401);
  const log = fixture.lines.join('\n');
  assert.equal(fixture.lines.filter((line) => line.includes('host refused')).length, tokens.length);
  assert.match(log, /"remoteAddress":"127.0.0.1","node":"n1","reason":"Unauthorized"/);
  const audited = fixture.audited('join');
  assert.deepEqual(audited.slice(1), [
    '401 Unauthorized  127.0.0.1',
    '401 Unauthorized system:bootstrap:abcdef 127.0.0.1',
    ...[fixture.token, expired, spent].map(({ id }) => `401 Unauthorized system:bootstrap:${id} 127.0.0.1`),
  ]);
  for (const { secret } of [fixture.token, expired, spent]) {
    assert.ok(!log.includes(secret) && !audited.join().includes(secret));
  }
});

test('password guessing at the console is throttled; a successful sign-in is logged by name', async (context) => {
  const fixture = await target(context);
  const signIn = (token: string) => call(fixture.api, 'POST /console/session', { token });
  const entered = await signIn(TEST_TOKEN);
  assert.equal(entered.code, 204, entered.text);
  assert.match(String(entered.headers['set-cookie']), /^__Host-.*; Secure; HttpOnly; SameSite=Strict$/);
  const codes = new Set<number>();
  for (let attempt = 0; attempt < 40 && !codes.has(429); attempt += 1)
    codes.add((await signIn('guess')).code);
  assert.deepEqual([...codes], [401, 429]);
  const told = fixture.audited('post');
  assert.equal(told[0], '204  everynode-admin 127.0.0.1');
  assert.equal(told[1], '401 Unauthorized  127.0.0.1');
});

test('a client with too many rejections must wait, and is told so', async (context) => {
  const fixture = await target(context);
  const codes = new Set<number>();
  for (let attempt = 0; attempt < 40 && !codes.has(429); attempt += 1) {
    codes.add(
      (await call(fixture.api, `POST ${JOIN_PATH}`, { token: 'abcdef.0123456789abcdef', body: {} })).code,
    );
  }
  assert.deepEqual([...codes], [401, 429]);
  await isWell(fixture);
});

test('a request for another host, for more than a name, or with another signature is 400', async (context) => {
  const { api, token, audited } = await target(context);
  const csr = await certificateRequest(await generateKeyPem(), 'n2');
  const forged = csr.replace(/.{8}\n(?=-----END)/, 'AAAAAAA=\n');
  for (const body of [
    { node: 'n1', csr },
    { node: 'n2', csr: forged },
    { node: 'n2', csr: 'x' },
    { node: 'n2' },
  ]) {
    const answer = await call(api, `POST ${JOIN_PATH}`, { token: `${token.id}.${token.secret}`, body });
    assert.equal(answer.code, 400, answer.text);
  }
  assert.deepEqual(audited('join'), Array(4).fill(`400  system:bootstrap:${token.id} 127.0.0.1`));
});

test('10,000 connections without a handshake block no place: a host joins, and they are reported', async (context) => {
  const fixture = await target(context);
  const crowd = idleConnections(context, { port: fixture.api.port, count: HALF_OPEN, from: HALF_OPEN_FROM });
  for (let share = 1; share <= 5; share += 1) {
    await until(() => crowd.opened() >= (share * HALF_OPEN) / 5, { timeoutMs: 60_000 });
    await isWell(fixture);
  }
  assert.equal((await joinCoordinator(fixture.options())).node, 'n1');
  await isWell(fixture);
  await until(() => crowd.open() <= HALF_OPEN_FROM.length * MAX_PRE_HANDSHAKE_PER_NETWORK, {
    timeoutMs: 60_000,
  });
  const reason = 'too many connections from this network without a TLS handshake';
  // Thousands from each, told once.
  const told = fixture.audited('connect').filter((line) => line.startsWith('429'));
  assert.deepEqual(new Set(told), new Set(HALF_OPEN_FROM.map((address) => `429 ${reason}  ${address}`)));
  assert.ok(told.length < 10, `${told.length} lines`);
});

/** Opens an upgraded connection of an authenticated host. Returns it with its close code. */
async function openLink({ api }: Pick<EnrolmentFixture, 'api'>, client: { cert: string; key: string }) {
  const socket = new WebSocket(`wss://127.0.0.1:${api.port}${LINK_PATH}`, SUBPROTOCOL, {
    ca: api.pki.ca.cert,
    ...client,
  });
  let code: number | undefined;
  socket.on('close', (closed) => {
    code = closed;
  });
  socket.on('error', () => undefined);
  const wire = await new Promise<Socket>((resolve) =>
    socket.once('upgrade', (response) => resolve(response.socket)),
  );
  await until(() => socket.readyState === WebSocket.OPEN);
  return { socket, wire, closed: () => code };
}

test('a frame that announces a gigabyte ends its link at once, and is not buffered', async (context) => {
  const fixture = await target(context);
  const { certificate = '', key = '' } = await joinCoordinator(fixture.options());
  const { wire, closed } = await openLink(fixture, { cert: certificate, key });
  const head = Buffer.alloc(14);
  head.writeUInt8(0x82, 0);
  head.writeUInt8(0xff, 1);
  head.writeBigUInt64BE(BigInt(2 ** 30), 2);
  wire.write(head);
  // RFC 6455, 7.4.1: message too big.
  await until(() => closed() === 1009);
  await until(() => fixture.audited('connect').length === 1, { timeoutMs: 30_000 });
  assert.equal(fixture.audited('connect')[0], '400 Max payload size exceeded system:node:n1 127.0.0.1');
  await isWell(fixture);
});

test('a link accepts no compressed frames, so no frame can expand', async (context) => {
  const fixture = await target(context);
  const { certificate = '', key = '' } = await joinCoordinator(fixture.options());
  const { socket, wire, closed } = await openLink(fixture, { cert: certificate, key });
  assert.equal(socket.extensions, '');
  const bomb = deflateRawSync(Buffer.alloc(2 ** 20));
  // Final, compressed (RSV1), binary frame, masked by zeros.
  const head = Buffer.from([0xc2, 0xfe, bomb.length >> 8, bomb.length & 255, 0, 0, 0, 0]);
  wire.write(Buffer.concat([head, bomb]));
  await until(() => closed() === 1002);
  await until(() => fixture.audited('connect').length === 1, { timeoutMs: 30_000 });
  assert.match(fixture.audited('connect')[0] ?? '', /^400 .*RSV1.* system:node:n1 127\.0\.0\.1$/);
  await isWell(fixture);
});

/** Returns the HTTP status of a rejected link. */
function refusedLink({ api }: Pick<EnrolmentFixture, 'api'>, client: { cert?: string; key?: string }) {
  const socket = new WebSocket(`wss://127.0.0.1:${api.port}${LINK_PATH}`, SUBPROTOCOL, {
    ca: api.pki.ca.cert,
    ...client,
  });
  socket.on('error', () => undefined);
  return new Promise((resolve) =>
    socket.once('unexpected-response', (_request, { statusCode }) => resolve(statusCode)),
  );
}

test('a host without a certificate, or with one of another fleet, gets no link: 401, also in the audit log', async (context) => {
  const fixture = await target(context);
  const other = await loadPki(temporaryDirectory(), ['x'], Date.now());
  for (const client of [{}, { cert: other.serving.cert, key: other.serving.key }])
    assert.equal(await refusedLink(fixture, client), 401);
  // Equal rejections of one address are one audit line.
  assert.deepEqual(fixture.audited('connect'), ['401 Unauthorized  127.0.0.1']);
  assert.equal(fixture.lines.filter((line) => line.includes('"peer refused"')).length, 1);
});

test('the host of a revoked node gets no link: 401, and the audit log names it', async (context) => {
  const fixture = await target(context);
  const { certificate = '', key = '' } = await joinCoordinator(fixture.options());
  const ref = { namespace: 'kube-system', name: credentialSecretName('n1') };
  await fixture.registry.modify(secretKind, ref, (credential) => {
    credential.data = revokedData(credential.data ?? {});
    return undefined;
  });
  assert.equal(await refusedLink(fixture, { cert: certificate, key }), 401);
  assert.deepEqual(fixture.audited('connect'), ['401 Unauthorized system:node:n1 127.0.0.1']);
  await isWell(fixture);
});

const SMUGGLED: [string, string[]][] = [
  ['two lengths', ['Content-Length: 5', 'Content-Length: 6']],
  ['a length and chunks', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
  ['an unknown transfer coding', ['Transfer-Encoding: xchunked']],
  ['a folded header', ['X-One: a', ' b: c']],
  ['a space before the colon', ['Content-Length : 5']],
  ['a bare line feed', ['X-One: a\nAuthorization: Bearer test-token']],
];
test('ambiguous headers are 400, and the connection ends', async (context) => {
  const fixture = await target(context);
  for (const [what, headers] of SMUGGLED) {
    const lines = ['POST /api/v1/namespaces HTTP/1.1', 'Host: x', ...headers, '', 'hello'];
    const { closed } = await rawConnection(fixture.api, lines.join('\r\n'));
    assert.match(await closed, /^HTTP\/1\.1 400 /, what);
  }
  const told = fixture.audited('connect');
  assert.ok(
    told.length > 1 && told.every((line) => /^400 HPE_[A-Z_]+ {2}127\.0\.0\.1$/.test(line)),
    String(told),
  );
  await isWell(fixture);
});

const PATHS = [
  '/api/v1/namespaces/default/pods/..%2f..%2fkube-system%2fsecrets',
  '/api/v1/namespaces/../../../etc/passwd',
  '/api/v1/namespaces/default/pods/%2e%2e/log',
  '/api/v1/namespaces/default/pods/p/exec%2f..%2f..',
  '/openapi/v3/..%2f..%2f..%2fetc%2fpasswd',
  '/%2e%2e%2fpki/ca.key',
  '/install/..%2f..%2fpki%2fca.key',
  '/console/assets/..%2f..%2f..%2fpki%2fca.key',
];
test('paths that escape their scope find nothing, and are audited', async (context) => {
  const fixture = await target(context);
  const { events } = fixture;
  for (const path of PATHS) {
    const { closed } = await rawConnection(
      fixture.api,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\nConnection: close\r\n\r\n`,
    );
    const answer = await closed;
    // Every path below the console returns its page, which handles the path itself.
    const refused = path.startsWith('/console/') ? /\r\ncontent-type: text\/html/ : /^HTTP\/1\.1 (400|404) /;
    assert.match(answer, refused, path);
    assert.ok(!answer.includes('PRIVATE KEY') && !answer.includes('root:'), path);
  }
  const outside = PATHS.filter((path) => !path.startsWith('/console/'));
  await until(() => events.length >= outside.length, { timeoutMs: 30_000 });
  assert.deepEqual(
    events.map(({ requestURI, verb, user }) => [requestURI, verb, user.username]),
    outside.map((path) => [path, 'get', 'everynode-admin']),
  );
});

test('an exec with an escaping path is 404, and audited', async (context) => {
  const fixture = await target(context);
  const path = '/api/v1/namespaces/default/pods/%2e%2e/exec';
  const head = [`GET ${path}?command=sh HTTP/1.1`, 'Host: x', 'Authorization: Bearer test-token'];
  const upgrade = ['Connection: Upgrade', 'Upgrade: SPDY/3.1', '', ''];
  const { closed } = await rawConnection(fixture.api, [...head, ...upgrade].join('\r\n'));
  assert.match(await closed, /^HTTP\/1\.1 404 /);
  await until(() => fixture.events.length > 0, { timeoutMs: 30_000 });
  assert.deepEqual(
    fixture.events.map(({ requestURI, user, responseStatus: { code } }) => [requestURI, user.username, code]),
    [[path, 'everynode-admin', 404]],
  );
});

/** Nine names that each refer to nine of the previous one. */
const LAUGHS = ['a: &a0 [x,x,x,x,x,x,x,x,x]']
  .concat(
    Array.from({ length: 12 }, (_, at) => `b${at}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(',')}]`),
  )
  .join('\n');
test('decompression and alias bombs are rejected before they expand', async (context) => {
  const fixture = await target(context);
  const line = 'POST /api/v1/namespaces/default/configmaps';
  const yaml = { 'content-type': 'application/yaml' };
  const cpuMs = startCpuTimer();
  const laughs = await call(fixture.api, line, { body: Buffer.from(LAUGHS), headers: yaml });
  assert.equal(laughs.code, 400, laughs.text.slice(0, 200));
  const nested = await call(fixture.api, line, { body: Buffer.from(`{"a":`.repeat(100_000)) });
  assert.equal(nested.code, 400);
  // The server decompresses no request body.
  const packed = await call(fixture.api, line, {
    body: gzipSync(Buffer.alloc(2 ** 25)),
    headers: { 'content-encoding': 'gzip' },
  });
  assert.equal(packed.code, 400, packed.text);
  assert.deepEqual(
    fixture.audited('create').map((told) => told.slice(0, 3)),
    ['400', '400', '400'],
  );
  assert.ok(cpuMs() < 5_000);
  await isWell(fixture);
});
