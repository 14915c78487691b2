/** Hosts that joined after the backup, so that the restored store does not know their keys. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import { Enrolment } from '../../../coordinator/hub/identity/enrolment.js';
import { newJoinToken, tokenSecret } from '../../../coordinator/hub/identity/new-join-token.js';
import { NodeAuthenticator } from '../../../coordinator/hub/identity/node-authenticator.js';
import { NodeCredentials } from '../../../coordinator/hub/identity/node-credentials.js';
import { ObjectSigner } from '../../../coordinator/hub/restore/object-signer.js';
import { createInformers } from '../../../coordinator/informers/create-informers.js';
import { ALL_KINDS, namespaceKind, secretKind } from '../../../coordinator/kinds/index.js';
import { subjectOf } from '../../../coordinator/pki/peer-certificate.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { testAuthority } from '../../harness/api/test-authority.js';
import { MemoryStore } from '../../harness/controllers/memory-store.js';

const KEY = Buffer.alloc(32, 's');
const BACKUP_REVISION = 2;

/** A host's certificate as the coordinator sees it, and its signing request. */
async function hostOf(node: string) {
  const csr = await certificateRequest(await generateKeyPem(), node);
  const { certificate } = await (await testAuthority(systemClock)).sign(csr);
  return { node, csr, certificate: subjectOf(new X509Certificate(certificate)) };
}

type Host = Awaited<ReturnType<typeof hostOf>>;

/** Joining and authentication of a coordinator over a new store. `pastEpochs` is set only after a restore. */
async function coordinator(
  epoch: string,
  pastEpochs: { epoch: string; revision: number; takenAt: number }[] = [],
) {
  const store = new MemoryStore();
  const registry = createRegistry({ store, kinds: ALL_KINDS, clock: systemClock, log: silentLogger });
  await registry.create(namespaceKind, undefined, { metadata: { name: 'kube-system' } });
  const restore = { isWaiting: pastEpochs.length > 0 };
  const parts = {
    clock: systemClock,
    signer: new ObjectSigner(KEY, { epoch: epoch, pastEpochs: pastEpochs }),
    authority: await testAuthority(systemClock),
    credentials: new NodeCredentials(registry),
    restore: { unconfirmed: () => (restore.isWaiting ? {} : undefined), confirmed: Promise.resolve() },
  };
  const authenticator = new NodeAuthenticator(parts);
  const informers = createInformers({ registry, clock: systemClock, log: silentLogger });
  const enrolment = new Enrolment({ ...parts, registry, informers, clusterUID: 'fleet' });
  const token = newJoinToken();
  await registry.create(secretKind, 'kube-system', tokenSecret(token));
  const join = async ({ node, csr }: Host) => {
    const outcome = await enrolment.join({
      authorization: `Bearer ${token.id}.${token.secret}`,
      body: { node, csr },
    });
    assert.equal(outcome.state, 'joined');
    return outcome.answer;
  };
  return { authenticator, restore, join };
}

/** A host that joined before the loss, and the coordinator that was restored to `revision`. */
async function lostAndRestored(revision = BACKUP_REVISION) {
  const host = await hostOf('n1');
  const { joinMac: seal } = await (await coordinator('before')).join(host);
  return { host, seal, ...(await coordinator('now', [{ epoch: 'before', revision, takenAt: 0 }])) };
}

test('until the confirmation such a host is accepted by the MAC of its join, and is known from then on', async () => {
  const { authenticator, host, seal, restore } = await lostAndRestored();
  const { certificate } = host;
  assert.equal((await authenticator.authenticate({ certificate, joinMac: seal })).node, 'n1');
  restore.isWaiting = false;
  assert.equal((await authenticator.authenticate({ certificate })).node, 'n1');
});

test('it takes its name over from the host that had it in the backup', async () => {
  const { authenticator, host, seal, join } = await lostAndRestored();
  const other = await hostOf('n1');
  await join(other);
  assert.equal(
    (await authenticator.authenticate({ certificate: host.certificate, joinMac: seal })).node,
    'n1',
  );
  await assert.rejects(authenticator.authenticate({ certificate: other.certificate }));
});

test('after the confirmation a key that the store does not know counts as revoked', async () => {
  const { authenticator, host, seal, restore } = await lostAndRestored();
  restore.isWaiting = false;
  await assert.rejects(authenticator.authenticate({ certificate: host.certificate, joinMac: seal }));
});

test('a key from before the backup was revoked before it', async () => {
  const { authenticator, host, seal } = await lostAndRestored(1_000);
  await assert.rejects(authenticator.authenticate({ certificate: host.certificate, joinMac: seal }));
});

test('a MAC is valid for its own key and node only, and must be complete', async () => {
  const { authenticator, host, seal } = await lostAndRestored();
  const cases: [Host, string | undefined][] = [
    [await hostOf('n1'), seal],
    [await hostOf('n2'), seal],
    [host, '{"epoch":"before"}'],
    [host, 'no JSON'],
    [host, undefined],
  ];
  for (const [{ certificate }, claimed] of cases) {
    await assert.rejects(authenticator.authenticate({ certificate, joinMac: claimed }));
  }
});
