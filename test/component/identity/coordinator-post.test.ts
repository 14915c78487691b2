/** Requests of a joined host to the API share one connection, which proves the host's current identity. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { type CallingIdentity, coordinatorPoster } from '../../../agent/identity/coordinator-post.js';
import { makeSigningRequest, signClientCertificate } from '../../../coordinator/pki/client-certificates.js';
import { tunnelOpenerOf } from '../../../shared/link/forward-proxy/proxy-tunnel.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { sharedPki } from '../../harness/api/api-fixture.js';
import { ForwardProxy } from '../../harness/api/forward-proxy.js';
import { until } from '../../harness/basics/wait-until.js';

/** A server that answers each POST with the serial number of the caller's certificate. */
async function startServer(context: TestContext) {
  const { serving, ca } = await sharedPki();
  const sockets = new Set<Socket>();
  let connections = 0;
  const tls = { ...serving, ca: ca.cert, requestCert: true, keepAliveTimeout: 60_000 };
  const server: Server = createServer(tls, (request, response) => {
    const { serialNumber } = (request.socket as TLSSocket).getPeerCertificate();
    response.end(JSON.stringify({ serialNumber }));
  });
  server.on('secureConnection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return { url, sockets, connections: () => connections };
}

async function newIdentity(): Promise<{ -readonly [K in keyof CallingIdentity]: CallingIdentity[K] }> {
  const { ca } = await sharedPki();
  const key = await generateKeyPem();
  return { ca: ca.cert, key, certificate: await certify(key), bearer: undefined, tunnel: undefined };
}

async function certify(key: string): Promise<string> {
  const csr = await makeSigningRequest(key, {
    commonName: 'system:node:n1',
    organizations: ['system:nodes'],
  });
  const { ca } = await sharedPki();
  return (await signClientCertificate(ca, csr, { now: Date.now(), lifetimeMs: 3_600_000 })).certificate;
}

const REVIEW = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

test('requests one after another share a connection until the certificate changes', async (context) => {
  const server = await startServer(context);
  const identity = await newIdentity();
  const post = coordinatorPoster(() => server.url, identity);
  const first = await post(REVIEW, {});
  assert.deepEqual([await post(REVIEW, {}), await post(REVIEW, {})], [first, first]);
  assert.equal(server.connections(), 1);
  identity.certificate = await certify(identity.key);
  const renewed = await post(REVIEW, {});
  assert.notDeepEqual(renewed.body, first.body);
  await until(() => server.sockets.size === 1, { what: 'the connection of the old certificate to close' });
  assert.equal(server.connections(), 2);
});

test('a kept connection that the coordinator has closed is replaced', async (context) => {
  const server = await startServer(context);
  const post = coordinatorPoster(() => server.url, await newIdentity());
  const first = await post(REVIEW, {});
  for (const socket of server.sockets) socket.destroy();
  assert.deepEqual(await post(REVIEW, {}), first);
});

test('the connection goes through an HTTP proxy, which opens one tunnel for many requests', async (context) => {
  const server = await startServer(context);
  const proxy = await ForwardProxy.open(context, { credentials: 'a:b', names: { '127.0.0.1': '127.0.0.1' } });
  const identity = { ...(await newIdentity()), tunnel: tunnelOpenerOf(new URL(proxy.url)) };
  const post = coordinatorPoster(() => server.url, identity);
  const { body } = await post(REVIEW, {});
  await post(REVIEW, {});
  assert.match(JSON.stringify(body), /serialNumber":"[0-9A-F]+/, 'the certificate passes through the tunnel');
  assert.equal(proxy.targets.length, 1);
  assert.equal(proxy.refusals.length, 0);
});
