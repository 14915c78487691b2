/**
 * Both ends of a link authenticate each other: through a TLS-terminating proxy, against false servers, and with wrong
 * host clocks.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { requestCertificate } from '../../../agent/identity/coordinator-client.js';
import { coordinatorPoster } from '../../../agent/identity/coordinator-post.js';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import { joinCoordinator } from '../../../agent/identity/join-coordinator.js';
import { podTokenRequester } from '../../../agent/identity/pod-token-request.js';
import { refusalIgnoringExpiry } from '../../../agent/link/server-trust.js';
import { newJoinToken, tokenSecret } from '../../../coordinator/hub/identity/new-join-token.js';
import { podKind, secretKind, serviceAccountKind } from '../../../coordinator/kinds/index.js';
import { loadPki } from '../../../coordinator/pki/load-pki.js';
import { CERTIFICATE_HEADER, CHALLENGE_HEADER, signChallenge } from '../../../shared/link/key-proof.js';
import { JOIN_PATH, LINK_PATH, SUBPROTOCOL } from '../../../shared/link/messages/link-messages.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { MemoryAuditLog } from '../../harness/api/audit-memory.js';
import { tlsProxy } from '../../harness/api/tls-proxy.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { startEnrolment } from '../../harness/hub/enrolment-fixture.js';
import { podObject } from '../../harness/objects/object-builders.js';

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const NAMES = ['localhost', '127.0.0.1'];
/** As admission adds it. */
const TOKEN_VOLUME = {
  name: 'kube-api-access',
  projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3607 } }] },
};

test('behind a TLS-terminating proxy a host joins, proves its key in the handshake, and is accepted', async (context) => {
  const fixture = await startEnrolment(context);
  const { serving, ca } = fixture.api.pki;
  const proxy = await tlsProxy(context, serving, { port: fixture.api.port, ca: ca.cert });
  const server = `https://127.0.0.1:${proxy.port}`;
  const { link } = await fixture.host(fixture.options({ server }));
  await until(() => link.phase === 'live' && fixture.hub.connected === 1);
  assert.match(proxy.heard(), new RegExp(CERTIFICATE_HEADER, 'i'));
});

test("behind such a proxy a host gets its Pods' tokens while its link is up; without a proxy it needs no bearer token", async (context) => {
  const fixture = await startEnrolment(context);
  const { serving, ca } = fixture.api.pki;
  const proxy = await tlsProxy(context, serving, { port: fixture.api.port, ca: ca.cert });
  const direct = await fixture.host(fixture.options({ node: 'n2' }));
  await until(() => direct.link.phase === 'live');
  assert.equal(direct.identity.bearer, undefined);
  const server = `https://127.0.0.1:${proxy.port}`;
  const token = newJoinToken();
  await fixture.registry.create(secretKind, 'kube-system', tokenSecret(token));
  const { link, identity } = await fixture.host(fixture.options({ server, token: fixture.text(token) }));
  await until(() => link.phase === 'live');
  await fixture.registry.create(serviceAccountKind, 'default', { metadata: { name: 'robot' } });
  const made = async (name: string, nodeName: string) => {
    const record = await fixture.registry.create(
      podKind,
      'default',
      podObject(name, { nodeName, serviceAccountName: 'robot', volumes: [TOKEN_VOLUME] }),
    );
    await fixture.informers.waitFor(record.revision);
    const { uid = '' } = record.object().metadata;
    return { namespace: 'default', serviceAccount: 'robot', pod: { name, uid }, expirationSeconds: 3607 };
  };
  const [mine, theirs] = [await made('mine', 'n1'), await made('theirs', 'n2')];
  const ask = podTokenRequester(coordinatorPoster(() => new URL(server), identity));
  assert.ok('token' in (await ask(mine)));
  assert.ok('refused' in (await ask(theirs)));
  link.stop();
  await until(() => fixture.hub.connected === 1);
  assert.deepEqual(await ask(mine), { refused: 'Unauthorized' });
});

/** A link without its own TLS. The test controls everything after the upgrade. */
async function unprovenLink(context: TestContext) {
  const audit = new MemoryAuditLog();
  const fixture = await startEnrolment(context, { audit });
  const enrolled = fixture.options();
  const { certificate = '', key = '', clusterUID } = await joinCoordinator(enrolled);
  const open = async () => {
    const socket = new WebSocket(`wss://127.0.0.1:${fixture.api.port}${LINK_PATH}`, SUBPROTOCOL, {
      ca: fixture.api.pki.ca.cert,
      headers: { [CERTIFICATE_HEADER]: new X509Certificate(certificate).raw.toString('base64') },
    });
    let code: number | undefined;
    socket.on('close', (closeCode) => {
      code = closeCode;
    });
    socket.on('error', () => undefined);
    const nonce = await new Promise<string>((resolve, reject) => {
      socket.once('upgrade', ({ headers }) => resolve(String(headers[CHALLENGE_HEADER])));
      socket.once('unexpected-response', (_request, { statusCode }) => reject(new Error(String(statusCode))));
    });
    await until(() => socket.readyState === WebSocket.OPEN);
    return { socket, nonce, code: () => code };
  };
  return { fixture, audit, enrolled, key, clusterUID, open };
}

test('a proof by another key, for another node or fleet, or of another connection is rejected', async (context) => {
  const { audit, open, key, clusterUID } = await unprovenLink(context);
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });
  const before = await open();
  const challenge = { clusterUID, node: 'n1', nonce: before.nonce };
  const wrong = [
    signChallenge(String(other), challenge),
    signChallenge(key, { ...challenge, node: 'n2' }),
    signChallenge(key, { ...challenge, clusterUID: 'another' }),
    // The proof of the first connection, replayed on all others.
    signChallenge(key, challenge),
    Buffer.alloc(0),
  ];
  for (const proof of wrong) {
    const { socket, code } = await open();
    socket.send(proof);
    await until(() => code() === 1008);
  }
  // Alike, and of one address: told once.
  assert.deepEqual(audit.entriesFor('connect'), ['401 the proof of its key is invalid  127.0.0.1']);
});

test('a certificate of another fleet is rejected before the upgrade', async (context) => {
  const audit = new MemoryAuditLog();
  const fixture = await startEnrolment(context, { audit });
  const { ca } = await loadPki(temporaryDirectory(), NAMES, Date.now());
  for (const header of [new X509Certificate(ca.cert).raw.toString('base64'), 'rubbish', 'A'.repeat(9_000)]) {
    const socket = new WebSocket(`wss://127.0.0.1:${fixture.api.port}${LINK_PATH}`, SUBPROTOCOL, {
      ca: fixture.api.pki.ca.cert,
      headers: { [CERTIFICATE_HEADER]: header },
    });
    const code = await new Promise((resolve) => {
      socket.on('error', () => undefined);
      socket.once('unexpected-response', (_request, { statusCode }) => resolve(statusCode));
    });
    assert.equal(code, 401);
  }
  assert.deepEqual(audit.entriesFor('connect'), ['401 Unauthorized  127.0.0.1']);
});

test("a server of another authority receives no byte of the host's data", async (context) => {
  const fixture = await startEnrolment(context);
  const false_ = await loadPki(temporaryDirectory(), NAMES, Date.now());
  const trap = await tlsProxy(context, false_.serving);
  const server = `https://127.0.0.1:${trap.port}`;
  await assert.rejects(
    joinCoordinator(fixture.options({ server })),
    /does not present the certificate authority/,
  );
  const enrolled = fixture.options();
  const { ca } = await joinCoordinator(enrolled);
  const coordinator = { server: new URL(server), ca, bearer: 'a secret' };
  await assert.rejects(
    requestCertificate(coordinator, JOIN_PATH, { node: 'n1', csr: 'a request' }),
    /is not trusted/,
  );
  const { link } = await fixture.host({ ...enrolled, server });
  await until(() => link.phase === 'waiting');
  assert.equal(trap.heard(), '');
});

test('a server with a future or expired certificate is trusted by its authority', async (context) => {
  const fixture = await startEnrolment(context);
  for (const shiftMs of [2 * YEAR_MS, -3 * YEAR_MS]) {
    const pki = await loadPki(mkdtempSync(`${temporaryDirectory()}/pki-`), NAMES, Date.now() + shiftMs);
    const proxy = await tlsProxy(context, pki.serving, {
      port: fixture.api.port,
      ca: fixture.api.pki.ca.cert,
    });
    const { id, secret } = fixture.token;
    const coordinator = {
      server: new URL(`https://127.0.0.1:${proxy.port}`),
      ca: pki.ca.cert,
      bearer: `${id}.${secret}`,
    };
    const node = `n${shiftMs < 0}`;
    const csr = await certificateRequest(await generateKeyPem(), node);
    const answer = await requestCertificate(coordinator, JOIN_PATH, { node, csr });
    assert.equal(answer.state, 'joined');
  }
});

test('at any time the name, the purpose, the authority and the last seen certificate are checked', async () => {
  const now = Date.now();
  const pki = await loadPki(temporaryDirectory(), NAMES, now - 3 * YEAR_MS);
  const other = await loadPki(temporaryDirectory(), NAMES, Date.now());
  const [leaf] = pki.serving.cert.split(/(?<=-----END CERTIFICATE-----\n)/);
  const certificate = new X509Certificate(leaf ?? '');
  const ca = pki.ca.cert;
  assert.equal(refusalIgnoringExpiry(certificate, '127.0.0.1', { ca }, now), undefined);
  assert.match(refusalIgnoringExpiry(certificate, 'elsewhere', { ca }, now) ?? '', /does not name elsewhere/);
  assert.match(
    refusalIgnoringExpiry(certificate, 'localhost', { ca: other.ca.cert }, now) ?? '',
    /not issued by a known authority/,
  );
  assert.match(
    refusalIgnoringExpiry(new X509Certificate(ca), 'localhost', { ca }, now) ?? '',
    /does not name/,
  );
  const later = { ca, certificate: other.serving.cert };
  assert.match(
    refusalIgnoringExpiry(certificate, 'localhost', later, now) ?? '',
    /expired before this host was certified/,
  );
  // Valid by the host's clock then: the clock that certified the host was ahead, and its authority may look expired.
  const then = now - 2.5 * YEAR_MS;
  assert.equal(refusalIgnoringExpiry(certificate, 'localhost', later, then), undefined);
});
