import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { loadAdminAccess, storedAdminHash } from '../../../coordinator/api/auth/admin-kubeconfig.js';
import { type RotationStep, rotationStep } from '../../../coordinator/pki/ca-rotation.js';
import { CertificateAuthority } from '../../../coordinator/pki/certificate-authority.js';
import { makeSigningRequest } from '../../../coordinator/pki/client-certificates.js';
import { certificatesIn } from '../../../coordinator/pki/key-pair.js';
import { loadPki, renewalReason } from '../../../coordinator/pki/load-pki.js';
import { isInTime } from '../../../coordinator/pki/peer-certificate.js';
import { readSupplied } from '../../../coordinator/pki/supplied-certificates.js';
import { publicKeyHash } from '../../../shared/link/public-key-hash.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { startTestApi } from '../../harness/api/api-fixture.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-11-21T00:00:00Z');
const NAMES = ['localhost', '127.0.0.1', '::1', 'host.example'];

test('the first start creates an authority and a serving certificate, readable by the owner only', async () => {
  const directory = temporaryDirectory();
  const { ca, serving, caHash } = await loadPki(directory, NAMES, NOW);
  const certificate = new X509Certificate(serving.cert);
  assert.ok(certificate.verify(new X509Certificate(ca.cert).publicKey));
  assert.ok(certificate.checkIP('::1') && certificate.checkHost('host.example'));
  assert.equal(new X509Certificate(ca.cert).ca, true);
  const der = new X509Certificate(ca.cert).publicKey.export({ type: 'spki', format: 'der' });
  assert.equal(caHash, createHash('sha256').update(der).digest('hex'));
  for (const file of readdirSync(directory))
    assert.equal(statSync(join(directory, file)).mode & 0o777, 0o600);
});

test('the next start uses the same', async () => {
  const directory = temporaryDirectory();
  assert.deepEqual(await loadPki(directory, NAMES, NOW), await loadPki(directory, NAMES, NOW + DAY_MS));
});

test('a new name, or a near expiry, creates a new serving certificate under the same authority', async () => {
  const directory = temporaryDirectory();
  const first = await loadPki(directory, NAMES, NOW);
  const named = await loadPki(directory, [...NAMES, '10.0.0.1'], NOW);
  assert.notEqual(named.serving.cert, first.serving.cert);
  assert.equal(named.caHash, first.caHash);
  const later = await loadPki(directory, NAMES, NOW + 320 * DAY_MS);
  assert.equal(renewalReason(later.serving.cert, later.ca, NAMES, NOW + 400 * DAY_MS), undefined);
});

for (const [how, by] of [
  ['set back a year', -365],
  ['set ahead a year', 365],
] as const)
  test(`a start with a clock that was ${how}: its certificate is valid by that clock and by the right one`, async () => {
    const directory = temporaryDirectory();
    await loadPki(directory, NAMES, NOW);
    const { serving } = await loadPki(directory, NAMES, NOW + by * DAY_MS);
    const { validFrom, validTo } = new X509Certificate(serving.cert);
    for (const time of [NOW, NOW + by * DAY_MS])
      assert.ok(Date.parse(validFrom) < time && time + 300 * DAY_MS < Date.parse(validTo));
  });

test('whatever the clock showed, a certificate is valid for 825 days at most', async () => {
  for (const by of [-36_500, -400, -365, 0, 365, 400, 36_500]) {
    const directory = mkdtempSync(join(temporaryDirectory(), 'pki-'));
    await loadPki(directory, NAMES, NOW - by * DAY_MS);
    const { serving } = await loadPki(directory, [...NAMES, 'another.example'], NOW);
    const { validFrom, validTo } = new X509Certificate(serving.cert);
    assert.ok(Date.parse(validFrom) <= NOW && Date.parse(validTo) - Date.parse(validFrom) <= 825 * DAY_MS);
  }
});

for (const [how, madeAt] of [
  ['in 1970', 60_000],
  ['by a clock that was a year ahead', NOW + 365 * DAY_MS],
  ['by a clock that was thirty years ahead', NOW + 10_950 * DAY_MS],
] as const)
  test(`an authority that was created ${how} gets a certificate that is valid now, for the key that hosts and tokens pin`, async () => {
    const directory = temporaryDirectory();
    const wrong = await loadPki(directory, NAMES, madeAt);
    const right = await loadPki(directory, NAMES, NOW);
    assert.deepEqual([wrong.isCaReissued, right.isCaReissued, right.caHash], [false, true, wrong.caHash]);
    const [authority, former] = [right, wrong].map(({ ca }) => new X509Certificate(ca.cert));
    assert.ok(authority && former);
    for (const time of [madeAt, NOW, NOW + 3_600 * DAY_MS]) assert.ok(isInTime(authority, time));
    const [serving] = certificatesIn(right.serving.cert);
    assert.ok(serving && isInTime(serving, NOW));
    for (const known of [authority, former])
      assert.ok(serving.checkIssued(known) && serving.verify(known.publicKey));
    // Without a succession an offline host trusts the signing authority.
    assert.equal(right.authorities, right.ca.cert);
    const again = await loadPki(directory, NAMES, NOW + DAY_MS);
    assert.deepEqual(again, { ...right, isCaReissued: false });
    assert.equal((await loadPki(directory, NAMES, madeAt + 1)).isCaReissued, false);
  });

test('certificates signed by an authority with a wrong date are valid now: the authority is renewed first', async () => {
  const directory = temporaryDirectory();
  let pki = await loadPki(directory, NAMES, 60_000);
  const clock = new ManualClock(60_000);
  const authority = new CertificateAuthority(
    () => pki,
    clock,
    async () => {
      pki = await loadPki(directory, NAMES, clock.now());
    },
  );
  const key = await generateKeyPem();
  const sign = async () => {
    const subject = { commonName: 'ada', organizations: [] };
    return new X509Certificate((await authority.sign(await makeSigningRequest(key, subject))).certificate);
  };
  assert.equal((await sign()).validTo, 'Jan  1 00:01:00 1971 GMT');
  assert.equal(authority.trustBundleToResend(), undefined);
  clock.stepWallClock(NOW - clock.now());
  const certificate = await sign();
  assert.ok(isInTime(certificate, NOW) && isInTime(certificate, NOW + 364 * DAY_MS));
  assert.equal(
    authority.trustBundleToResend(),
    pki.trustBundle,
    'hosts that were away know the former certificate',
  );
});

test('the trust bundle for a returning host is cached at load: a welcome reads no certificate', () => {
  const unread = { cert: 'no certificate', key: '' };
  const loaded = { ca: unread, authorities: unread.cert, trustBundle: unread.cert };
  for (const trustBundleToResend of [undefined, 'what was loaded']) {
    const authority = new CertificateAuthority(
      () => ({ ...loaded, trustBundleToResend: trustBundleToResend }),
      new ManualClock(NOW),
      async () => undefined,
    );
    assert.equal(authority.trustBundleToResend(), trustBundleToResend);
  }
});

test('a lost CA certificate is recreated from its key, so pinned agents still trust it', async () => {
  const directory = temporaryDirectory();
  const { caHash } = await loadPki(directory, NAMES, NOW);
  rmSync(join(directory, 'ca.crt'));
  const again = await loadPki(directory, NAMES, NOW);
  assert.equal(again.caHash, caHash);
  assert.equal(publicKeyHash(new X509Certificate(again.ca.cert)), caHash);
});

for (const [what, damage] of [
  ['a lost key', (directory: string) => rmSync(join(directory, 'ca.key'))],
  ['a damaged certificate', (directory: string) => writeFileSync(join(directory, 'ca.crt'), 'rubbish')],
] as const) {
  test(`${what} ends the start with one sentence, never with a new authority`, async () => {
    const directory = temporaryDirectory();
    await loadPki(directory, NAMES, NOW);
    damage(directory);
    await assert.rejects(loadPki(directory, NAMES, NOW), { name: 'ExitError', code: 4 });
  });
}

test('the kubeconfig keeps its token, and a lost kubeconfig gets a new one', async () => {
  const dataDir = temporaryDirectory();
  const { ca } = await loadPki(join(dataDir, 'pki'), NAMES, NOW);
  const access = { dataDir, server: 'https://127.0.0.1:6443', caCertificate: ca.cert };
  assert.equal(await storedAdminHash(dataDir), undefined);
  const first = await loadAdminAccess(access);
  assert.deepEqual(await storedAdminHash(dataDir), first, 'known before the port is open');
  assert.equal(statSync(join(dataDir, 'kubeconfig')).mode & 0o777, 0o600);
  assert.deepEqual(await loadAdminAccess({ ...access, server: 'https://127.0.0.1:7443' }), first);
  rmSync(join(dataDir, 'kubeconfig'));
  assert.equal(await storedAdminHash(dataDir), undefined);
  assert.notDeepEqual(await loadAdminAccess(access), first);
});

test('a renewed certificate is served to the next connection', async () => {
  const directory = temporaryDirectory();
  const api = await startTestApi();
  const servedSerial = async () => {
    const socket = connect({ port: api.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const renewed = await loadPki(directory, NAMES, Date.now());
  assert.notEqual(await servedSerial(), new X509Certificate(renewed.serving.cert).serialNumber);
  api.renewCertificate(renewed.serving);
  assert.equal(await servedSerial(), new X509Certificate(renewed.serving.cert).serialNumber);
  await api.stop();
});

const YEAR_MS = 365 * DAY_MS;

test('an authority near its expiry gets a successor, which hosts trust before it signs', async () => {
  const directory = temporaryDirectory();
  const first = await loadPki(directory, NAMES, NOW);
  assert.equal(first.trustBundle, first.ca.cert);
  assert.equal(first.trustBundleToResend, undefined);
  const announced = await loadPki(directory, NAMES, NOW + 7.5 * YEAR_MS);
  assert.equal(announced.ca.cert, first.ca.cert);
  assert.equal(announced.trustBundleToResend, announced.trustBundle);
  const next = announced.authorities.slice(first.ca.cert.length);
  assert.ok(next.startsWith('-----BEGIN CERTIFICATE-----') && announced.caHash === first.caHash);
  const switched = await loadPki(directory, NAMES, NOW + 9 * YEAR_MS);
  assert.equal(switched.ca.cert, next);
  assert.equal(switched.authorities, next + first.ca.cert);
  assert.equal(switched.trustBundleToResend, switched.trustBundle);
  const serving = new X509Certificate(switched.serving.cert);
  const authority = new X509Certificate(next);
  assert.ok(serving.checkIssued(authority) && serving.verify(authority.publicKey));
  const alone = await loadPki(directory, NAMES, NOW + 10.1 * YEAR_MS);
  assert.deepEqual([alone.authorities, alone.trustBundleToResend], [next, undefined]);
});

test('a succession that was interrupted between key and certificate continues', async () => {
  const directory = temporaryDirectory();
  const { ca } = await loadPki(directory, NAMES, NOW + 2.5 * YEAR_MS - 10 * YEAR_MS);
  await loadPki(directory, NAMES, NOW);
  const next = readFileSync(join(directory, 'ca-next.pem'), 'utf8');
  writeFileSync(join(directory, 'ca-old.crt'), ca.cert);
  writeFileSync(join(directory, 'ca.key'), next.slice(next.indexOf('-----BEGIN PRIVATE KEY-----')));
  const after = await loadPki(directory, NAMES, NOW + DAY_MS);
  assert.ok(next.startsWith(after.ca.cert) && after.authorities.endsWith(ca.cert));
});

const STEPS: [string, number, number | undefined, RotationStep][] = [
  ['young', 5 * YEAR_MS, undefined, 'none'],
  ['with less than three years left', 2.9 * YEAR_MS, undefined, 'announce'],
  ['announced long ago, with two years left', 2 * YEAR_MS, 300 * DAY_MS, 'none'],
  ['announced long ago, with a year left', YEAR_MS, 600 * DAY_MS, 'switch'],
  ['announced just now, with a year left', YEAR_MS, DAY_MS, 'none'],
  ['announced by a clock that was ahead, with a year left', YEAR_MS, -7 * YEAR_MS, 'none'],
];
for (const [which, leftMs, announcedAgoMs, step] of STEPS) {
  test(`an authority ${which}: ${step}`, () => {
    const announcedAtMs = announcedAgoMs === undefined ? undefined : NOW - announcedAgoMs;
    assert.equal(rotationStep(NOW, { notAfterMs: NOW + leftMs, announcedAtMs }), step);
  });
}

test("an operator's certificate is served, and hosts pin its authority", async () => {
  const theirs = await loadPki(temporaryDirectory(), NAMES, Date.now());
  const directory = temporaryDirectory();
  const [tlsCertFile, tlsPrivateKeyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
  writeFileSync(tlsCertFile, theirs.serving.cert);
  writeFileSync(tlsPrivateKeyFile, theirs.serving.key);
  const supplied = await readSupplied({ tlsCertFile, tlsPrivateKeyFile });
  const pki = await loadPki(join(directory, 'pki'), NAMES, Date.now(), supplied);
  assert.equal(pki.caHash, theirs.caHash);
  assert.equal(pki.serving.key, theirs.serving.key);
  const other = await loadPki(temporaryDirectory(), NAMES, Date.now());
  writeFileSync(tlsPrivateKeyFile, other.serving.key);
  await assert.rejects(readSupplied({ tlsCertFile, tlsPrivateKeyFile }), /does not match --tls-cert-file/);
  await assert.rejects(readSupplied({ tlsCertFile }), /must be set together/);
});
