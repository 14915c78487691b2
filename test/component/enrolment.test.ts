/** From a join token to a node with a credential of its own, through the real API port. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type EnrolOptions, enrol } from '../../agent/enrol.js';
import { Link } from '../../agent/link/link.js';
import { Hub } from '../../coordinator/hub/hub.js';
import { type JoinToken, newJoinToken, tokenSecret } from '../../coordinator/hub/join-token.js';
import { Presence } from '../../coordinator/hub/presence.js';
import { Sealer } from '../../coordinator/hub/seal.js';
import { createInformers } from '../../coordinator/informers/create-informers.js';
import { ALL_KINDS, secretKind } from '../../coordinator/kinds/index.js';
import { createRegistry } from '../../coordinator/registry/create-registry.js';
import { MemoryStore } from '../../coordinator/store/memory-store.js';
import { LINK_PATH } from '../../shared/link/messages.js';
import { steadyClock, systemClock } from '../../shared/process/clock.js';
import { EXIT_CODES, type ExitError } from '../../shared/process/exit-error.js';
import { silentLogger } from '../../shared/process/log.js';
import { startTestApi } from '../harness/api.js';
import { eventually } from '../harness/eventually.js';
import { BenchAgent } from '../harness/hub-bench.js';
import { temporaryDirectory } from '../harness/temporary-directory.js';

const parts = { clock: systemClock, log: silentLogger };

/** API and hub on one TLS port, and a token for it. */
async function start(context: TestContext) {
  const store = new MemoryStore();
  const registry = createRegistry({ store, kinds: ALL_KINDS, ...parts });
  const informers = createInformers({ registry, ...parts });
  const hub = new Hub({
    registry,
    informers,
    presence: new Presence(systemClock, { graceMs: 40_000, returnMs: 60_000 }),
    clusterUID: store.clusterUID(),
    era: store.era(),
    sealer: new Sealer(Buffer.alloc(32), { era: store.era(), pastEras: [] }),
    recordEvent: { asNodeController: () => undefined, asAgent: () => undefined },
    ...parts,
  });
  const api = await startTestApi({ registry, agentLink: hub });
  context.after(async () => {
    // The port closes only when the sockets that the hub holds are gone.
    await hub.stop();
    await api.stop();
    await informers.stop();
  });
  const token = newJoinToken();
  await registry.create(secretKind, 'kube-system', tokenSecret(token));
  const text = ({ id, secret }: JoinToken, hash = api.pki.caHash) => `${id}.${secret}.${hash}`;
  const options = (more: Partial<EnrolOptions> = {}): EnrolOptions => ({
    dataDir: temporaryDirectory(context),
    server: api.url,
    node: 'n1',
    token: text(token),
    ...more,
  });
  return { store, registry, hub, api, token, text, options };
}

test('a token makes a node whose link is let in over the pinned authority', async (context) => {
  const { options, store, hub, api } = await start(context);
  const enrolled = options();
  const { ca, credential, clusterUID } = await enrol(enrolled);
  assert.equal(clusterUID, store.clusterUID());
  assert.equal(statSync(join(enrolled.dataDir, 'identity.json')).mode & 0o777, 0o600);
  const agent = new BenchAgent({});
  const link = new Link({
    target: { url: `${api.url.replace('https', 'wss')}${LINK_PATH}`, ca, credential },
    identity: { node: 'n1', bootID: 'b', instanceID: 'i', agentVersion: '0.1.0' },
    agent,
    clock: steadyClock(systemClock),
    log: silentLogger,
    random: () => 0,
  });
  link.start();
  context.after(() => link.stop());
  await eventually(() => link.phase === 'live' && hub.connected === 1);
});

test('the store holds hashes only', async (context) => {
  const { options, registry, token } = await start(context);
  const { credential } = await enrol(options());
  const { records } = await registry.list(secretKind);
  const stored = records.flatMap((record) => Object.values(record.object().data ?? {}));
  const texts = stored.map((value) => Buffer.from(value, 'base64').toString()).join('\n');
  assert.ok(!texts.includes(credential) && !texts.includes(token.secret));
});

test('a joined node needs no token any more', async (context) => {
  const { options } = await start(context);
  const enrolled = options();
  const first = await enrol(enrolled);
  const { token: _, ...without } = enrolled;
  assert.deepEqual(await enrol(without), first);
});

test('a join whose answer was lost is repeated', async (context) => {
  const { options } = await start(context);
  const enrolled = options();
  const { clusterUID, ...pending } = await enrol(enrolled);
  const path = join(enrolled.dataDir, 'identity.json');
  writeFileSync(path, JSON.stringify(pending));
  assert.equal((await enrol(enrolled)).credential, pending.credential);
  assert.ok(readFileSync(path, 'utf8').includes(clusterUID));
});

test('a token never yields the credential of a name that is taken', async (context) => {
  const { options, registry } = await start(context);
  await enrol(options());
  await assert.rejects(enrol(options()), /node "n1" has joined already/);
  await registry.delete(secretKind, { namespace: 'kube-system', name: 'node-credential-n1' });
  assert.equal((await enrol(options())).node, 'n1');
});

test('a host whose name was taken joins under another one', async (context) => {
  const { options } = await start(context);
  await enrol(options());
  const second = options();
  await assert.rejects(enrol(second), /node "n1" has joined already/);
  assert.equal((await enrol({ ...second, node: 'n2' })).node, 'n2');
});

test('a damaged identity is told of in one sentence, and not replaced', async (context) => {
  const { options } = await start(context);
  const enrolled = options();
  const path = join(enrolled.dataDir, 'identity.json');
  writeFileSync(path, '{"node": "n1", "cred');
  await assert.rejects(enrol(enrolled), (error: ExitError) => {
    assert.match(error.sentence, /^The identity in .* is damaged: /);
    return error.code === EXIT_CODES.data;
  });
  assert.equal(readFileSync(path, 'utf8'), '{"node": "n1", "cred');
});

test('two hosts that join under one name at once: one gets it', async (context) => {
  const { options } = await start(context);
  const outcomes = await Promise.allSettled([enrol(options()), enrol(options())]);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

const WRONG: [
  string,
  (bench: Awaited<ReturnType<typeof start>>) => Partial<EnrolOptions> | Promise<Partial<EnrolOptions>>,
  RegExp,
][] = [
  ['an unknown token', ({ text }) => ({ token: text(newJoinToken()) }), /Unauthorized/],
  [
    'a token with another secret',
    ({ text, token }) => ({ token: text({ ...token, secret: 'a'.repeat(16) }) }),
    /Unauthorized/,
  ],
  [
    'a token of another authority',
    ({ text, token }) => ({ token: text(token, 'f'.repeat(64)) }),
    /does not present the certificate authority/,
  ],
  ['half a token', ({ token }) => ({ token: token.id }), /ID\.SECRET\.CAHASH/],
  ['no token', () => ({ token: undefined as never }), /a join token is needed/],
  ['plain HTTP', ({ api }) => ({ server: api.url.replace('https', 'http') }), /https:\/\/HOST:PORT/],
  ['a name that no Node may have', () => ({ node: 'Not A Name' }), /Not A Name/],
  [
    'an expired token',
    async ({ registry, text }) => {
      const expired = newJoinToken();
      await registry.create(secretKind, 'kube-system', tokenSecret(expired, Date.now() - 1_000));
      return { token: text(expired) };
    },
    /Unauthorized/,
  ],
];
for (const [what, change, reason] of WRONG) {
  test(`refused in one sentence: ${what}`, async (context) => {
    const bench = await start(context);
    await assert.rejects(
      enrol(bench.options(await change(bench))),
      (error: Error & { temporary?: boolean }) => {
        assert.match(error.message, reason);
        return error.temporary === false;
      },
    );
  });
}

test('a coordinator that is not there is worth another try', async (context) => {
  const { options } = await start(context);
  await assert.rejects(enrol(options({ server: 'https://127.0.0.1:1' })), {
    name: 'EnrolError',
    temporary: true,
  });
});
