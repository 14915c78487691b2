/** The kubelet's port over real TLS: who is admitted, with the kubelet's texts, and its limits. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import {
  type Caller,
  KubeletAccessControl,
  type KubeletReviewer,
} from '../../../agent/kubelet/port/kubelet-access.js';
import { KubeletServer, type ServingIdentity } from '../../../agent/kubelet/port/kubelet-server.js';
import { makeSigningRequest, signClientCertificate } from '../../../coordinator/pki/client-certificates.js';
import type { KeyPair } from '../../../coordinator/pki/key-pair.js';
import { signNodeServingCertificate } from '../../../coordinator/pki/node-serving-certificates.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { sharedPki } from '../../harness/api/api-fixture.js';
import { until } from '../../harness/basics/wait-until.js';

const NAME = 'shop-1.node.everynode.internal';
const SCRAPER: Caller = { username: 'system:serviceaccount:default:scraper', groups: [] };

/** The coordinator: one valid token, and rights by user and subresource. */
const coordinator = {
  isReachable: true,
  allowed: new Set(['system:serviceaccount:default:scraper metrics', 'alice pods']),
  asked: [] as string[],
};

const reviewer: KubeletReviewer = {
  userOfToken: async (token) => {
    coordinator.asked.push(`token ${token}`);
    if (!coordinator.isReachable) throw new Error('no coordinator');
    return token === 'good' ? SCRAPER : undefined;
  },
  isAllowed: async ({ username }, { subresource }) => {
    coordinator.asked.push(`${username} ${subresource}`);
    if (!coordinator.isReachable) throw new Error('no coordinator');
    return coordinator.allowed.has(`${username} ${subresource}`);
  },
};

let ca: KeyPair;
let identity: ServingIdentity;
const clock = new ManualClock(1_000_000);
let server: KubeletServer;

async function newServer(): Promise<KubeletServer> {
  const access = new KubeletAccessControl('shop-1', reviewer, clock);
  const pages = {
    answer: async (path: string) => ({
      ...{ status: 200, contentType: 'text/plain; charset=utf-8' as const },
      body: `page ${path} `.repeat(300),
    }),
  };
  const opened = new KubeletServer({
    port: 0,
    pages,
    access,
    clock,
    wallClock: systemClock,
    log: silentLogger,
  });
  await opened.serve(identity);
  return opened;
}

async function clientOf(authority: KeyPair, user: string): Promise<{ key: string; cert: string }> {
  const key = await generateKeyPem();
  const csr = await makeSigningRequest(key, { commonName: user, organizations: ['ops'] });
  const issued = await signClientCertificate(authority, csr, { now: Date.now(), lifetimeMs: 3_600_000 });
  return { key, cert: issued.certificate };
}

interface Sent {
  method?: string;
  token?: string;
  client?: { key: string; cert: string };
  encoding?: string;
  agent?: Agent;
}

function get(path: string, { method = 'GET', token, client, encoding, agent }: Sent = {}) {
  return new Promise<{ code: number; text: string; encoding: string | undefined }>((resolve, reject) => {
    const sent = request(
      {
        ...{ host: '127.0.0.1', port: server.port, path, method, agent: agent ?? false },
        ...{ servername: NAME, ca: ca.cert, ...client },
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(encoding === undefined ? {} : { 'accept-encoding': encoding }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            code: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            encoding: response.headers['content-encoding'],
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

before(async () => {
  ({ ca } = await sharedPki());
  const key = await generateKeyPem();
  const csr = await makeSigningRequest(key, {
    commonName: 'system:node:shop-1',
    organizations: ['system:nodes'],
  });
  const certificate = await signNodeServingCertificate(
    ca,
    { node: 'shop-1', requestPem: csr },
    { dns: [NAME], ips: [] },
    Date.now(),
  );
  identity = { key, certificate, clientCa: ca.cert };
  server = await newServer();
});
after(() => server.stop());

/** Verdicts expire, and the limits of reviews and connections are full again. */
const later = () => clock.advance(10 * 60_000);

test('anonymous callers and wrong tokens get 401, also for pages that do not exist', async () => {
  later();
  for (const path of ['/healthz', '/pods', '/nothing', '/exec/ns/pod/c'])
    assert.deepEqual((({ code, text }) => [code, text])(await get(path)), [401, 'Unauthorized'], path);
  const wrong = await get('/metrics', { token: 'bad' });
  assert.deepEqual([wrong.code, wrong.text], [401, 'Unauthorized']);
});

test('a token with a right gets the page, and 403 with upstream’s text for others', async () => {
  later();
  const page = await get('/metrics/cadvisor', { token: 'good' });
  assert.deepEqual([page.code, page.text.slice(0, 23)], [200, 'page /metrics/cadvisor ']);
  for (const [path, method, verb, subresources] of [
    ['/stats/summary', 'GET', 'get', 'stats'],
    ['/pods', 'GET', 'get', 'pods proxy'],
    ['/exec/ns/pod/c', 'POST', 'create', 'proxy'],
  ]) {
    const refused = await get(path ?? '', { token: 'good', method: method ?? '' });
    const text = `Forbidden (user=${SCRAPER.username}, verb=${verb}, resource=nodes, subresource(s)=[${subresources}])`;
    assert.deepEqual([refused.code, refused.text], [403, text]);
  }
});

test('a client certificate of the fleet identifies its user, one of another authority does not', async () => {
  later();
  const client = await clientOf(ca, 'alice');
  assert.equal((await get('/pods', { client })).code, 200);
  assert.match((await get('/metrics', { client })).text, /^Forbidden \(user=alice, /);
  const key = await generateKeyPem();
  const { makeCaCertificate } = await import('../../../coordinator/pki/ca-certificate.js');
  const foreign = { key, cert: await makeCaCertificate(key, Date.now(), 'CN=foreign') };
  assert.equal((await get('/pods', { client: await clientOf(foreign, 'alice') })).code, 401);
});

test('a host’s serving certificate does not identify a client', async () => {
  later();
  const { key, certificate: cert } = identity;
  assert.equal((await get('/pods', { client: { key, cert } })).code, 401);
});

test('verdicts are cached as a kubelet does, and hold while the coordinator is not reachable', async () => {
  later();
  coordinator.asked = [];
  for (let times = 0; times < 3; times += 1) await get('/metrics', { token: 'good' });
  assert.deepEqual(coordinator.asked, ['token good', `${SCRAPER.username} metrics`]);
  coordinator.isReachable = false;
  clock.advance(119_000);
  assert.equal((await get('/metrics', { token: 'good' })).code, 200);
  clock.advance(2_000);
  // The token's verdict has expired after two minutes.
  assert.equal((await get('/metrics', { token: 'good' })).code, 401);
  const client = await clientOf(ca, 'alice');
  const failed = await get('/pods', { client });
  assert.deepEqual(
    [failed.code, failed.text],
    [500, 'Authorization error (user=alice, verb=get, resource=nodes, subresource(s)=[pods])'],
  );
  coordinator.isReachable = true;
  assert.equal((await get('/metrics', { token: 'good' })).code, 200);
});

test('a refusal is cached for half a minute only', async () => {
  later();
  assert.equal((await get('/stats/summary', { token: 'good' })).code, 403);
  coordinator.allowed.add(`${SCRAPER.username} stats`);
  assert.equal((await get('/stats/summary', { token: 'good' })).code, 403);
  clock.advance(30_000);
  assert.equal((await get('/stats/summary', { token: 'good' })).code, 200);
  coordinator.allowed.delete(`${SCRAPER.username} stats`);
});

test('guessed tokens do not make the host flood its coordinator, nor lock out callers of other addresses', async () => {
  later();
  coordinator.asked = [];
  const codes: number[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let guess = 0; guess < 50; guess += 1)
    codes.push((await get('/metrics', { token: `guess-${guess}`, agent })).code);
  agent.destroy();
  assert.equal(coordinator.asked.length, 10);
  assert.deepEqual([...new Set(codes)], [401, 429]);
  const collector = new Agent({ localAddress: '127.0.0.2' });
  assert.equal((await get('/metrics', { token: 'good', agent: collector })).code, 200);
  collector.destroy();
});

test('a path that would be normalized is refused, and only GET is served', async () => {
  later();
  assert.equal((await get('/metrics/..%2fpods', { token: 'good' })).code, 400);
  assert.equal((await get('/metrics/%zz', { token: 'good' })).code, 400);
  coordinator.allowed.add(`${SCRAPER.username} metrics`);
  assert.equal((await get('/metrics', { token: 'good', method: 'POST' })).code, 405);
});

test('a page is compressed for clients that accept it', async () => {
  later();
  assert.equal((await get('/metrics', { token: 'good', encoding: 'gzip' })).encoding, 'gzip');
  assert.equal((await get('/metrics', { token: 'good' })).encoding, undefined);
});

test('one client cannot hold all connections: those beyond its limit are closed at once', async () => {
  later();
  const sockets = Array.from({ length: 40 }, () => connect(server.port ?? 0, '127.0.0.1'));
  const closed = new Set<number>();
  for (const [index, socket] of sockets.entries())
    socket.on('error', () => undefined).on('close', () => closed.add(index));
  try {
    await until(() => closed.size >= 24, { what: 'connections beyond the limit to be closed' });
    assert.equal(closed.size, 24);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  later();
  await until(
    async () => {
      later();
      return (await get('/metrics', { token: 'good' }).catch(() => undefined))?.code === 200;
    },
    { what: 'the port to serve again' },
  );
});

test('a second program on the port is an error of the start', async () => {
  const access = new KubeletAccessControl('shop-1', reviewer, clock);
  const pages = { answer: () => Promise.reject(new Error('not asked')) };
  const port = server.port ?? 0;
  const second = new KubeletServer({ port, pages, access, clock, wallClock: systemClock, log: silentLogger });
  await assert.rejects(second.serve(identity), { code: 'EADDRINUSE' });
  assert.equal(second.port, undefined);
});
