/** Hosts that joined after the backup from which the store was restored: it has never heard of their credentials. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Enrolment } from '../../coordinator/hub/enrolment.js';
import { newJoinToken, sha256, tokenSecret } from '../../coordinator/hub/join-token.js';
import { NodeAuthenticator } from '../../coordinator/hub/node-authenticator.js';
import { NodeCredentials } from '../../coordinator/hub/node-credentials.js';
import { Sealer } from '../../coordinator/hub/seal.js';
import { ALL_KINDS, namespaceKind, secretKind } from '../../coordinator/kinds/index.js';
import { createRegistry } from '../../coordinator/registry/create-registry.js';
import { MemoryStore } from '../../coordinator/store/memory-store.js';
import { systemClock } from '../../shared/process/clock.js';
import { silentLogger } from '../../shared/process/log.js';
import { NO_AUTHORITY } from '../harness/test-authority.js';

const KEY = Buffer.alloc(32, 's');
const BACKUP_REVISION = 2;

/** Joining and authentication of a coordinator over a store of its own. `pastEras` only when it was restored. */
async function coordinator(era: string, pastEras: { era: string; revision: number; takenAt: number }[] = []) {
  const store = new MemoryStore();
  const registry = createRegistry({ store, kinds: ALL_KINDS, clock: systemClock, log: silentLogger });
  await registry.create(namespaceKind, undefined, { metadata: { name: 'kube-system' } });
  const restore = { isWaiting: pastEras.length > 0 };
  const parts = {
    clock: systemClock,
    sealer: new Sealer(KEY, { era, pastEras }),
    authority: NO_AUTHORITY,
    credentials: new NodeCredentials(registry),
    restore: { unconfirmed: () => (restore.isWaiting ? {} : undefined), confirmed: Promise.resolve() },
  };
  const authenticator = new NodeAuthenticator(parts);
  const enrolment = new Enrolment({ ...parts, registry, clusterUID: 'fleet', authenticator });
  const token = newJoinToken();
  await registry.create(secretKind, 'kube-system', tokenSecret(token));
  const join = async (node: string, credential: string) => {
    const outcome = await enrolment.join({
      authorization: `Bearer ${token.id}.${token.secret}`,
      body: { node, credentialHash: sha256(credential) },
    });
    assert.equal(outcome.state, 'joined');
    return outcome.answer;
  };
  return { authenticator, restore, join };
}

const credentialOf = (node: string, letter = 'a') => `${letter.repeat(43)}.${node}`;

/** A host that joined before all was lost, and the coordinator that was restored from what was known at `revision`. */
async function lostAndRestored(revision = BACKUP_REVISION) {
  const { seal } = await (await coordinator('before')).join('n1', credentialOf('n1'));
  return { seal, ...(await coordinator('now', [{ era: 'before', revision, takenAt: 0 }])) };
}

test('until the confirmation such a host is let in by the seal of its join, and known from then on', async () => {
  const { authenticator, seal, restore } = await lostAndRestored();
  const authorization = `Bearer ${credentialOf('n1')}`;
  assert.equal((await authenticator.authenticate({ authorization, seal })).node, 'n1');
  restore.isWaiting = false;
  assert.equal((await authenticator.authenticate({ authorization })).node, 'n1');
});

test('it takes its name from whoever had it in the backup', async () => {
  const { authenticator, seal, join } = await lostAndRestored();
  await join('n1', credentialOf('n1', 'b'));
  assert.equal(
    (await authenticator.authenticate({ authorization: `Bearer ${credentialOf('n1')}`, seal })).node,
    'n1',
  );
  await assert.rejects(authenticator.authenticate({ authorization: `Bearer ${credentialOf('n1', 'b')}` }));
});

test('after the confirmation a credential that the store does not know counts as revoked', async () => {
  const { authenticator, seal, restore } = await lostAndRestored();
  restore.isWaiting = false;
  await assert.rejects(authenticator.authenticate({ authorization: `Bearer ${credentialOf('n1')}`, seal }));
});

test('a credential of before the backup was revoked before it', async () => {
  const { authenticator, seal } = await lostAndRestored(1_000);
  await assert.rejects(authenticator.authenticate({ authorization: `Bearer ${credentialOf('n1')}`, seal }));
});

test('a seal is good for its own credential and node alone, and must be whole', async () => {
  const { authenticator, seal } = await lostAndRestored();
  const cases: [string, string | undefined][] = [
    [credentialOf('n1', 'b'), seal],
    [credentialOf('n2'), seal],
    [credentialOf('n1'), '{"era":"before"}'],
    [credentialOf('n1'), 'no JSON'],
    [credentialOf('n1'), undefined],
  ];
  for (const [credential, claimed] of cases) {
    await assert.rejects(
      authenticator.authenticate({ authorization: `Bearer ${credential}`, seal: claimed }),
    );
  }
});
