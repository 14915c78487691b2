/** From a join token to a node with a certificate, through the real API port. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import {
  type JoinOptions,
  joinCoordinator,
  rejectTokenOfOtherCoordinator,
} from '../../../agent/identity/join-coordinator.js';
import { Enrolment } from '../../../coordinator/hub/identity/enrolment.js';
import { newJoinToken, tokenSecret } from '../../../coordinator/hub/identity/new-join-token.js';
import { NodeCredentials } from '../../../coordinator/hub/identity/node-credentials.js';
import { ObjectSigner } from '../../../coordinator/hub/restore/object-signer.js';
import { secretKind } from '../../../coordinator/kinds/index.js';
import { credentialSecretName } from '../../../shared/kube/nodes/node-credential-secret.js';
import { EXIT_CODES, type ExitError } from '../../../shared/process/exit-error.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { testAuthority } from '../../harness/api/test-authority.js';
import { until } from '../../harness/basics/wait-until.js';
import { type EnrolmentFixture, startEnrolment } from '../../harness/hub/enrolment-fixture.js';

test('a token creates a node whose link is accepted over the pinned authority', async (context) => {
  const { options, store, hub, host } = await startEnrolment(context);
  const enrolled = options();
  const { identity, link } = await host(enrolled);
  assert.equal(identity.enrolment.clusterUID, store.clusterUID());
  const { subject, keyUsage } = new X509Certificate(identity.certificate ?? '');
  assert.deepEqual([subject, keyUsage], ['O=system:nodes\nCN=system:node:n1', ['1.3.6.1.5.5.7.3.2']]);
  assert.equal(statSync(join(enrolled.dataDir, 'identity.json')).mode & 0o777, 0o600);
  await until(() => link.phase === 'live' && hub.connected === 1);
});

test('the store contains hashes only', async (context) => {
  const { options, registry, token } = await startEnrolment(context);
  const { key = '' } = await joinCoordinator(options());
  const { records } = await registry.list(secretKind);
  const stored = records.flatMap((record) => Object.values(record.object().data ?? {}));
  const texts = stored.map((value) => Buffer.from(value, 'base64').toString()).join('\n');
  assert.ok(!texts.includes(key) && !texts.includes(token.secret));
});

test('joining an already joined host with a token of another coordinator prints a remedy', async (context) => {
  const { options, text, token } = await startEnrolment(context);
  const enrolled = options();
  const other = text(token, 'f'.repeat(64));
  await rejectTokenOfOtherCoordinator(enrolled.dataDir, other);
  await joinCoordinator(enrolled);
  await rejectTokenOfOtherCoordinator(enrolled.dataDir, text(token));
  await assert.rejects(
    rejectTokenOfOtherCoordinator(enrolled.dataDir, other),
    /node n1 of .* uninstall --purge/,
  );
});

test('a joined node needs no token again', async (context) => {
  const { options } = await startEnrolment(context);
  const enrolled = options();
  const first = await joinCoordinator(enrolled);
  const { token: _, ...without } = enrolled;
  assert.deepEqual(await joinCoordinator(without), first);
});

test('a join whose response was lost is repeated', async (context) => {
  const { options } = await startEnrolment(context);
  const enrolled = options();
  const { clusterUID, ...pending } = await joinCoordinator(enrolled);
  const path = join(enrolled.dataDir, 'identity.json');
  writeFileSync(path, JSON.stringify({ format: 2, ...pending }));
  assert.equal((await joinCoordinator(enrolled)).key, pending.key);
  assert.ok(readFileSync(path, 'utf8').includes(clusterUID));
});

test('a token never returns the credential of a name in use', async (context) => {
  const { options, registry } = await startEnrolment(context);
  await joinCoordinator(options());
  await assert.rejects(joinCoordinator(options()), /node "n1" has already joined/);
  await registry.delete(secretKind, { namespace: 'kube-system', name: 'node-credential-n1' });
  assert.equal((await joinCoordinator(options())).node, 'n1');
});

test('a host whose name is in use joins under another one', async (context) => {
  const { options } = await startEnrolment(context);
  await joinCoordinator(options());
  const second = options();
  await assert.rejects(joinCoordinator(second), /node "n1" has already joined/);
  assert.equal((await joinCoordinator({ ...second, node: 'n2' })).node, 'n2');
});

test('a damaged identity is reported in one sentence, and not replaced', async (context) => {
  const { options } = await startEnrolment(context);
  const enrolled = options();
  const path = join(enrolled.dataDir, 'identity.json');
  writeFileSync(path, '{"node": "n1", "cred');
  await assert.rejects(joinCoordinator(enrolled), (error: ExitError) => {
    assert.match(error.sentence, /^The identity in .* is damaged: /);
    return error.code === EXIT_CODES.data;
  });
  assert.equal(readFileSync(path, 'utf8'), '{"node": "n1", "cred');
});

test('a data directory of another format is refused in one sentence, and not changed', async (context) => {
  const { options } = await startEnrolment(context);
  const enrolled = options();
  const path = join(enrolled.dataDir, 'identity.json');
  const older = '{"node":"n1","key":"a key","ca":"an authority","clusterUID":"u","seal":"s"}';
  writeFileSync(path, older);
  await assert.rejects(joinCoordinator(enrolled), (error: ExitError) => {
    assert.match(
      error.sentence,
      /was written by another version of the agent \(format 1, .* needs 2\): remove the host/,
    );
    return error.code === EXIT_CODES.data;
  });
  assert.equal(readFileSync(path, 'utf8'), older);
});

test('two hosts that join under one name at once: one gets it', async (context) => {
  const { options } = await startEnrolment(context);
  const outcomes = await Promise.allSettled([joinCoordinator(options()), joinCoordinator(options())]);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

const DAY_MS = 86_400_000;
const WRONG: [
  string,
  (fixture: EnrolmentFixture) => Partial<JoinOptions> | Promise<Partial<JoinOptions>>,
  RegExp,
][] = [
  ['an unknown token', ({ text }) => ({ token: text(newJoinToken()) }), /Unauthorized/],
  [
    'a token with a wrong secret',
    ({ text, token }) => ({ token: text({ ...token, secret: 'a'.repeat(16) }) }),
    /Unauthorized/,
  ],
  [
    'a token of another authority',
    ({ text, token }) => ({ token: text(token, 'f'.repeat(64)) }),
    /does not present the certificate authority/,
  ],
  ['half a token', ({ token }) => ({ token: token.id }), /ID\.SECRET\.CAHASH/],
  ['no token', () => ({ token: undefined as never }), /pass a join token/],
  ['plain HTTP', ({ api }) => ({ server: api.url.replace('https', 'http') }), /https:\/\/HOST:PORT/],
  ['an invalid Node name', () => ({ node: 'Not A Name' }), /Not A Name/],
  [
    'an expired token',
    async ({ registry, text }) => {
      const expired = newJoinToken();
      await registry.create(
        secretKind,
        'kube-system',
        tokenSecret(expired, { expiresAtMs: Date.now() - 1_000 }),
      );
      return { token: text(expired) };
    },
    /Unauthorized/,
  ],
];
for (const [what, change, reason] of WRONG) {
  test(`rejected in one sentence: ${what}`, async (context) => {
    const fixture = await startEnrolment(context);
    await assert.rejects(
      joinCoordinator(fixture.options(await change(fixture))),
      (error: Error & { isTemporary?: boolean }) => {
        assert.match(error.message, reason);
        return error.isTemporary === false;
      },
    );
  });
}

test('an unreachable coordinator is retried', async (context) => {
  const { options } = await startEnrolment(context);
  await assert.rejects(joinCoordinator(options({ server: 'https://127.0.0.1:1' })), {
    name: 'JoinError',
    isTemporary: true,
  });
});

test('a host that is revoked while its certificate is created is not registered again', async (context) => {
  const { registry, informers } = await startEnrolment(context);
  const credentials = new NodeCredentials(registry);
  const authority = await testAuthority(systemClock);
  let meanwhile = async (): Promise<unknown> => undefined;
  const sealer = new ObjectSigner(Buffer.alloc(32), { epoch: 'e', pastEpochs: [] });
  const enrolment = new Enrolment({
    registry,
    informers,
    credentials,
    clock: systemClock,
    clusterUID: 'c',
    signer: sealer,
    authority: {
      read: (csr) => authority.read(csr),
      trustBundle: () => authority.trustBundle(),
      sign: async (csr) => {
        await meanwhile();
        return authority.sign(csr);
      },
    },
  });
  const csr = await certificateRequest(await generateKeyPem(), 'n1');
  const { keyHash } = await authority.read(csr);
  await credentials.register('n1', { hash: keyHash, notAfterMs: Date.now() + 3_600_000 });
  const call = { body: { node: 'n1', csr } };
  assert.equal((await enrolment.certify(call)).state, 'joined');
  meanwhile = () =>
    registry.delete(secretKind, { namespace: 'kube-system', name: credentialSecretName('n1') });
  await assert.rejects(enrolment.certify(call), { reason: 'Unauthorized' });
  assert.equal(await credentials.get('n1'), undefined);
});

test('a host that was certified while the coordinator’s clock was set back a year, or in 1970, is accepted at once when the clock is right again', async (context) => {
  const { registry, informers } = await startEnrolment(context);
  const credentials = new NodeCredentials(registry);
  const time = { shiftMs: 0 };
  const clock = { ...systemClock, now: () => systemClock.now() + time.shiftMs };
  const authority = await testAuthority(clock);
  const sealer = new ObjectSigner(Buffer.alloc(32), { epoch: 'e', pastEpochs: [] });
  const parts = { registry, informers, credentials, clock, clusterUID: 'c', signer: sealer, authority };
  const enrolment = new Enrolment(parts);
  const csr = await certificateRequest(await generateKeyPem(), 'n1');
  const { keyHash } = await authority.read(csr);
  const notAfterMs = Date.now() + 300 * DAY_MS;
  await credentials.register('n1', { hash: keyHash, notAfterMs });
  const states: string[] = [];
  for (const shiftMs of [-365 * DAY_MS, 0]) {
    time.shiftMs = shiftMs;
    states.push((await enrolment.certify({ body: { node: 'n1', csr } })).state);
  }
  assert.deepEqual(states, ['joined', 'joined']);
  // In 1970, before the first release of Everynode, expiry by that clock means nothing.
  await credentials.replace('n1', { hash: keyHash, notAfterMs: 365 * DAY_MS });
  assert.equal((await enrolment.certify({ body: { node: 'n1', csr } })).state, 'joined');
  // With a clock a year back, an expiry in ten years is no reason to sign for ten.
  await credentials.replace('n1', { hash: keyHash, notAfterMs: Date.now() + 3_650 * DAY_MS });
  time.shiftMs = -365 * DAY_MS;
  await enrolment.certify({ body: { node: 'n1', csr } });
  const end = (await credentials.get('n1'))?.notAfterMs ?? Number.POSITIVE_INFINITY;
  assert.ok(end <= Date.now() + 401 * DAY_MS);
});
