/** Certificates of the kubelet's port, from the agent's request over a real link to its file. */
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { createServer } from 'node:tls';
import { type JsonName, Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { ServingCertificate } from '../../../agent/identity/serving-certificate.js';
import type { ServingIdentity } from '../../../agent/kubelet/port/kubelet-server.js';
import { connectTrusting } from '../../../agent/link/server-trust.js';
import { httpsTermReader } from '../../../coordinator/cluster/leader-request.js';
import { issueServing } from '../../../coordinator/hub/identity/serving-issuer.js';
import { makeSigningRequest } from '../../../coordinator/pki/client-certificates.js';
import { signNodeServingCertificate } from '../../../coordinator/pki/node-serving-certificates.js';
import type { RequestServing } from '../../../shared/link/messages/link-messages.js';
import { generateKeyPem, importKey, SIGNATURE_ALGORITHM } from '../../../shared/process/files/private-key.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { sharedPki } from '../../harness/api/api-fixture.js';
import { testAuthority } from '../../harness/api/test-authority.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';

const DAY_MS = 24 * 60 * 60_000;

/** A host whose requests are answered by an issuer. */
async function host(dataDir: string, clock: ManualClock, addresses: string[], authorities = { ca: 'first' }) {
  const authority = await testAuthority(clock);
  const requests: Omit<RequestServing, 'kind'>[] = [];
  const received: ServingIdentity[] = [];
  const certificate = new ServingCertificate({
    identity: {
      node: 'shop-1',
      get ca() {
        return authorities.ca;
      },
    },
    dataDir,
    addresses: () => addresses,
    onCertificate: (identity) => void received.push(identity),
    clock,
    log: silentLogger,
  });
  await certificate.start();
  const connect = (serverTimeMs = clock.now()) =>
    certificate.onLive(serverTimeMs, (request) => {
      requests.push(request);
      void issueServing({ authority }, 'shop-1', { kind: 'requestServing', ...request }).then((issued) =>
        certificate.onIssued({ kind: 'servingIssued', ...issued }),
      );
    });
  return { certificate, connect, requests, received, authority };
}

test('a host gets a certificate for its name and addresses, and keeps it in a private file', async () => {
  const dataDir = temporaryDirectory();
  const clock = new ManualClock(Date.now());
  const { connect, received, authority } = await host(dataDir, clock, ['10.0.0.2', '127.0.0.1']);
  connect();
  await until(() => received.length === 1);
  const [identity] = received;
  const read = new X509Certificate(identity?.certificate ?? '');
  assert.equal(read.subjectAltName, 'DNS:shop-1, DNS:shop-1.node.everynode.internal, IP Address:10.0.0.2');
  assert.deepEqual(read.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.equal(read.ca, false);
  assert.ok(read.verify(new X509Certificate(authority.clientAuthorities()).publicKey));
  assert.equal(identity?.clientCa, authority.clientAuthorities());
  const path = join(dataDir, 'kubelet-serving.json');
  await until(() => statSync(path, { throwIfNoEntry: false }) !== undefined);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const next = await host(dataDir, clock, ['10.0.0.2', '127.0.0.1']);
  assert.equal(next.received[0]?.certificate, identity?.certificate);
  next.connect();
  assert.deepEqual(next.requests, []);
});

test('a new address, a new authority and a near expiry cause a new certificate', async () => {
  const clock = new ManualClock(Date.now());
  const addresses = ['10.0.0.2'];
  const authorities = { ca: 'first' };
  const { certificate, connect, received, requests } = await host(
    temporaryDirectory(),
    clock,
    addresses,
    authorities,
  );
  connect();
  await until(() => received.length === 1);
  addresses.push('10.0.0.3');
  clock.advance(60_000);
  await until(() => received.length === 2);
  assert.deepEqual(requests[1]?.addresses, ['10.0.0.2', '10.0.0.3']);
  authorities.ca = 'second';
  connect();
  await until(() => received.length === 3);
  // The host is offline, and back when most of the lifetime is over.
  certificate.onLost();
  clock.advance(300 * DAY_MS);
  connect();
  await until(() => received.length === 4);
});

test('a certificate is renewed by the coordinator’s clock, whatever the host’s own clock shows', async () => {
  const clock = new ManualClock(Date.now());
  const { connect, received, requests, certificate } = await host(temporaryDirectory(), clock, []);
  connect();
  await until(() => received.length === 1);
  certificate.onLost();
  connect(clock.now() + 250 * DAY_MS);
  assert.equal(requests.length, 1);
  connect(clock.now() + 300 * DAY_MS);
  await until(() => received.length === 2);
});

test('a damaged file is ignored, and an answer for another key is not accepted', async () => {
  const dataDir = temporaryDirectory();
  const clock = new ManualClock(Date.now());
  const first = await host(dataDir, clock, []);
  first.connect();
  await until(() => first.received.length === 1);
  const path = join(dataDir, 'kubelet-serving.json');
  await until(() => statSync(path, { throwIfNoEntry: false }) !== undefined);
  const before = readFileSync(path, 'utf8');
  const authority = await testAuthority(clock);
  const other = await makeSigningRequest(await generateKeyPem(), {
    commonName: 'system:node:shop-1',
    organizations: ['system:nodes'],
  });
  const foreign = await issueServing({ authority }, 'shop-1', {
    ...{ kind: 'requestServing', csr: other, addresses: [] },
  });
  first.certificate.onIssued({ kind: 'servingIssued', ...foreign });
  assert.equal(readFileSync(path, 'utf8'), before);
  assert.equal(first.received.length, 1);
});

test('an agent does not take a host for its coordinator, whatever names the host’s certificate has', async () => {
  const { ca } = await sharedPki();
  const key = await generateKeyPem();
  const csr = await makeSigningRequest(key, {
    commonName: 'system:node:shop-1',
    organizations: ['system:nodes'],
  });
  const names = { dns: ['fleet.example.com'], ips: ['127.0.0.1'] };
  const cert = await signNodeServingCertificate(ca, { node: 'shop-1', requestPem: csr }, names, Date.now());
  const server = createServer({ key, cert });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const socket = connectTrusting({ host: '127.0.0.1', port }, { ca: ca.cert });
    const [error] = (await once(socket, 'error')) as [Error];
    assert.match(error.message, /it is a host's/);
  } finally {
    server.close();
  }
});

test('a coordinator does not take a host for the leader', async () => {
  const { ca } = await sharedPki();
  const key = await generateKeyPem();
  const request = { node: 'shop-1', requestPem: await requestOf(key, [{ O: ['system:nodes'] }]) };
  const cert = await signNodeServingCertificate(ca, request, { dns: [], ips: ['127.0.0.1'] }, Date.now());
  const server = createHttpsServer({ key, cert }, (_, response) => response.end('{"term": 99}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dataDir = temporaryDirectory();
  mkdirSync(join(dataDir, 'pki'));
  writeFileSync(join(dataDir, 'pki', 'ca.crt'), ca.cert);
  try {
    const { port } = server.address() as AddressInfo;
    await assert.rejects(httpsTermReader(dataDir)(`https://127.0.0.1:${port}`), /that of a host/);
  } finally {
    server.close();
  }
});

test('a host cannot choose the form of its subject', async () => {
  const authority = await testAuthority(new ManualClock(Date.now()));
  const node = { O: ['system:nodes'], CN: ['system:node:shop-1'] };
  const csr = await requestOf(await generateKeyPem(), [node]);
  await assert.rejects(
    issueServing({ authority }, 'shop-1', { kind: 'requestServing', csr, addresses: [] }),
    /must contain only the subject/,
  );
});

/** A request whose name has these parts: one that has two attributes is multi-valued. */
async function requestOf(keyPem: string, name: JsonName): Promise<string> {
  const request = await Pkcs10CertificateRequestGenerator.create({
    name,
    keys: await importKey(keyPem),
    signingAlgorithm: SIGNATURE_ALGORITHM,
  });
  return request.toString('pem');
}

test('a node gets no certificate with another node’s subject, and none for the coordinator’s names', async () => {
  const authority = await testAuthority(new ManualClock(Date.now()));
  const csr = await makeSigningRequest(await generateKeyPem(), {
    commonName: 'system:node:other',
    organizations: ['system:nodes'],
  });
  await assert.rejects(
    issueServing({ authority }, 'shop-1', { kind: 'requestServing', csr, addresses: [] }),
    /must contain only the subject O=system:nodes, CN=system:node:shop-1/,
  );
  const own = await makeSigningRequest(await generateKeyPem(), {
    commonName: 'system:node:localhost',
    organizations: ['system:nodes'],
  });
  const coordinators = {
    list: () => ['https://10.0.0.9:6443'],
    machineNames: () => ['Shop-1', 'fd00::9'],
    onChange: () => undefined,
  };
  const { certificate } = await issueServing({ authority, coordinators }, 'localhost', {
    ...{ kind: 'requestServing', csr: own, addresses: ['10.0.0.9', '10.0.0.2'] },
  });
  assert.equal(
    new X509Certificate(certificate).subjectAltName,
    'DNS:localhost.node.everynode.internal, IP Address:10.0.0.2',
  );
  const namesake = await makeSigningRequest(await generateKeyPem(), {
    commonName: 'system:node:shop-1',
    organizations: ['system:nodes'],
  });
  const other = await issueServing({ authority, coordinators }, 'shop-1', {
    ...{ kind: 'requestServing', csr: namesake, addresses: ['fd00::9', '10.0.0.3'] },
  });
  const { subjectAltName } = new X509Certificate(other.certificate);
  assert.equal(subjectAltName, 'DNS:shop-1.node.everynode.internal, IP Address:10.0.0.3');
});
