/**
 * The successor of the authority is sent over the link. A host that received it trusts the coordinator that serves with
 * it.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { joinCoordinator } from '../../../agent/identity/join-coordinator.js';
import { CertificateAuthority } from '../../../coordinator/pki/certificate-authority.js';
import { loadPki, type Pki } from '../../../coordinator/pki/load-pki.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { sharedPki } from '../../harness/api/api-fixture.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { identityFile, startEnrolment } from '../../harness/hub/enrolment-fixture.js';

const PATIENCE_MS = 30_000;

/** Returns an authority with a successor, and the certificate that it serves with. */
async function successor(directory: string): Promise<Pki> {
  const at = (years: number) =>
    loadPki(directory, ['localhost', '127.0.0.1'], Date.now() - years * 365 * 24 * 60 * 60 * 1000);
  // Created, announced, in use.
  await at(9);
  await at(1.5);
  return at(0);
}

test('a host receives the next authority, stores it, and trusts it when it serves; a host that missed it does not', async (context) => {
  const present = await sharedPki();
  const next = await successor(temporaryDirectory());
  let pki = present;
  const authority = new CertificateAuthority(
    () => pki,
    systemClock,
    async () => undefined,
  );
  const fixture = await startEnrolment(context, { authority });
  const missed = fixture.options({ node: 'missed' });
  await joinCoordinator(missed);
  const enrolled = fixture.options();
  const { link, identity } = await fixture.host(enrolled);
  await until(() => link.phase === 'live', { timeoutMs: PATIENCE_MS });
  assert.equal(identity.ca, present.ca.cert);

  const both = present.ca.cert + next.ca.cert;
  pki = { ...present, authorities: both, trustBundle: both, trustBundleToResend: both };
  fixture.hub.sendTrustBundle();
  await until(() => identity.ca === both, { timeoutMs: PATIENCE_MS });
  assert.ok(readFileSync(identityFile(enrolled), 'utf8').includes(JSON.stringify(both).slice(1, -1)));

  const turned = next.ca.cert + present.ca.cert;
  pki = { ...next, authorities: turned, trustBundle: turned, trustBundleToResend: turned };
  fixture.api.renewCertificate({ ...next.serving, clientAuthorities: pki.authorities });
  link.stop();
  await until(() => fixture.hub.connected === 0, { timeoutMs: PATIENCE_MS });
  const again = await fixture.host(enrolled);
  await until(() => again.link.phase === 'live' && fixture.hub.connected === 1, { timeoutMs: PATIENCE_MS });
  // A welcome contains both authorities, the active one first.
  await until(() => again.identity.ca === pki.trustBundle, { timeoutMs: PATIENCE_MS });

  const stranger = await fixture.host(missed);
  await until(() => stranger.link.phase === 'waiting', { timeoutMs: PATIENCE_MS });
  assert.equal(fixture.hub.connected, 1);
});
