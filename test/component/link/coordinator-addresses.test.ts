/** An agent with several addresses of coordinators: it finds one that answers, and learns the others. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCoordinatorAddresses } from '../../../agent/identity/coordinator-address-file.js';
import { coordinatorPoster } from '../../../agent/identity/coordinator-post.js';
import { joinCoordinator } from '../../../agent/identity/join-coordinator.js';
import { podTokenRequester } from '../../../agent/identity/pod-token-request.js';
import { loadPki } from '../../../coordinator/pki/load-pki.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { tlsProxy } from '../../harness/api/tls-proxy.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { until } from '../../harness/basics/wait-until.js';
import {
  blackHole,
  forwarder,
  refusingCoordinator,
  stoppedCoordinator,
} from '../../harness/hub/coordinator-addresses-fixture.js';
import { startEnrolment } from '../../harness/hub/enrolment-fixture.js';

/** A list of coordinators that the test changes. */
function coordinatorList(...first: string[]) {
  let list = first;
  const listeners: (() => void)[] = [];
  return {
    list: () => list,
    machineNames: () => [],
    onChange: (listener: () => void) => void listeners.push(listener),
    set: (...next: string[]) => {
      list = next;
      for (const listener of listeners) listener();
    },
  };
}

const stored = ({ dataDir }: { dataDir: string }) => join(dataDir, 'coordinators.json');
const learnt = (options: { dataDir: string }) =>
  JSON.parse(readFileSync(stored(options), 'utf8')).coordinators as string[];

/** Without a shorter limit for several addresses, an attempt takes as long as the handshake of the link may take. */
const HANDSHAKE_MS = 15_000;

/** A join takes two connections. */
test('an address that drops packets costs two seconds, for the join and for the link', async (context) => {
  const fixture = await startEnrolment(context);
  const dead = await blackHole(context);
  const options = fixture.options({ server: `${dead},${fixture.api.url}` });
  const beforeJoin = performance.now();
  await joinCoordinator(options);
  const joinMs = performance.now() - beforeJoin;
  assert.ok(joinMs > 1_900 && joinMs < HANDSHAKE_MS, `joined after ${joinMs} ms`);
  const beforeLink = performance.now();
  const { link, identity, agent } = await fixture.host(options);
  await until(() => identity.addresses.current !== dead, { pollMs: 5 });
  const switchedMs = performance.now() - beforeLink;
  await until(() => link.phase === 'live', { pollMs: 5 });
  const liveMs = performance.now() - beforeLink;
  context.diagnostic(
    `joined after ${joinMs} ms, other address after ${switchedMs} ms, live after ${liveMs} ms`,
  );
  assert.ok(switchedMs > 1_900, `tried the other address after ${switchedMs} ms`);
  assert.ok(liveMs < HANDSHAKE_MS, `connected after ${liveMs} ms`);
  assert.equal(identity.addresses.current, fixture.api.url);
  assert.deepEqual(agent.failures, [], 'the round had another address');
});

test('a coordinator that accepts connections and is stopped costs four seconds', async (context) => {
  const fixture = await startEnrolment(context);
  const stopped = await stoppedCoordinator(context);
  const first = fixture.options({ server: fixture.api.url });
  await joinCoordinator(first);
  const beganMs = performance.now();
  const { link, identity } = await fixture.host({ ...first, server: `${stopped},${fixture.api.url}` });
  await until(() => link.phase === 'live', { pollMs: 5 });
  const liveMs = performance.now() - beganMs;
  context.diagnostic(`live after ${liveMs} ms`);
  assert.ok(liveMs > 3_500 && liveMs < HANDSHAKE_MS, `connected after ${liveMs} ms`);
  assert.equal(identity.addresses.current, fixture.api.url);
});

test('after a restart a host uses the learnt addresses if the configured one is gone', async (context) => {
  const list = coordinatorList();
  const fixture = await startEnrolment(context, { coordinators: list });
  const one = await forwarder(context, fixture.api.port);
  const two = await forwarder(context, fixture.api.port);
  list.set(one.address, two.address);
  const options = fixture.options({ server: one.address });
  const first = await fixture.host(options);
  await until(() => first.link.phase === 'live');
  await first.identity.addresses.flush();
  assert.deepEqual(learnt(options), [one.address, two.address]);
  assert.equal(statSync(stored(options)).mode & 0o777, 0o600);
  first.link.stop();
  one.stop();
  const second = await fixture.host(options);
  await until(() => second.link.phase === 'live');
  assert.equal(second.identity.addresses.current, two.address);
  await second.identity.addresses.flush();
  second.link.stop();
  const third = await openCoordinatorAddresses(options.dataDir, [one.address], silentLogger);
  assert.equal(third.current, two.address, 'the last good address is the first');
});

test('a host whose coordinator is lost continues at another one', async (context) => {
  const list = coordinatorList();
  const fixture = await startEnrolment(context, { coordinators: list });
  const one = await forwarder(context, fixture.api.port);
  const two = await forwarder(context, fixture.api.port);
  list.set(two.address, one.address);
  const { link, identity, agent } = await fixture.host(fixture.options({ server: one.address }));
  await until(() => agent.welcomes.length === 1);
  assert.equal(identity.addresses.current, one.address, 'a list does not move an open link');
  one.stop();
  await until(() => agent.welcomes.length === 2 && link.phase === 'live');
  assert.equal(identity.addresses.current, two.address);
  const ask = podTokenRequester(coordinatorPoster(() => identity.addresses.server, identity));
  const pod = { name: 'p', uid: 'u' };
  const request = { namespace: 'default', serviceAccount: 'none', pod, expirationSeconds: 3607 };
  assert.ok('refused' in (await ask(request)), 'requests over HTTPS follow the link');
});

test('a change of the list reaches a connected host', async (context) => {
  const list = coordinatorList('https://one.test:7443');
  const fixture = await startEnrolment(context, { coordinators: list });
  const options = fixture.options();
  const { link, agent, identity } = await fixture.host(options);
  await until(() => link.phase === 'live');
  assert.deepEqual(agent.welcomes[0]?.coordinators, ['https://one.test:7443']);
  list.set('https://two.test:7443', 'https://one.test:7443');
  await until(async () => {
    await identity.addresses.flush();
    return learnt(options).length === 2;
  });
  assert.deepEqual(learnt(options), ['https://two.test:7443', 'https://one.test:7443']);
  assert.equal(agent.welcomes.length, 1);
});

test('a single coordinator sends no list, and the host stores none', async (context) => {
  const fixture = await startEnrolment(context);
  const options = fixture.options();
  const { link, agent, identity } = await fixture.host(options);
  await until(() => link.phase === 'live');
  assert.equal(Object.hasOwn(agent.welcomes[0] ?? {}, 'coordinators'), false);
  await identity.addresses.flush();
  assert.deepEqual(learnt(options), []);
});

test('a coordinator that refuses with 503 counts as a failed address', async (context) => {
  const fixture = await startEnrolment(context);
  const standby = await refusingCoordinator(context, fixture.api.pki.serving);
  const options = fixture.options({ server: `${standby.address},${fixture.api.url}` });
  const { link, identity, agent } = await fixture.host(options);
  await until(() => link.phase === 'live');
  assert.equal(identity.addresses.current, fixture.api.url);
  assert.ok(standby.seen.requests >= 2, 'the join and the link tried it');
  assert.deepEqual(agent.failures, []);
});

test("a listed server of another authority receives no byte of the host's data", async (context) => {
  const list = coordinatorList();
  const fixture = await startEnrolment(context, { coordinators: list });
  const foreign = await loadPki(temporaryDirectory(), ['127.0.0.1'], Date.now());
  const trap = await tlsProxy(context, foreign.serving);
  const own = await forwarder(context, fixture.api.port);
  list.set(`https://127.0.0.1:${trap.port}`, fixture.api.url);
  const options = fixture.options({ server: own.address });
  const { link, identity, agent } = await fixture.host(options);
  await until(() => agent.welcomes.length === 1);
  own.stop();
  await until(() => agent.welcomes.length === 2 && link.phase === 'live');
  assert.equal(identity.addresses.current, fixture.api.url);
  assert.equal(trap.heard(), '');
});

test('if no address can be reached, the reasons of all are reported', async (context) => {
  const fixture = await startEnrolment(context);
  const ports = [await freePort(), await freePort()];
  const server = ports.map((port) => `https://127.0.0.1:${port}`).join(',');
  await assert.rejects(joinCoordinator(fixture.options({ server })), (error: Error) =>
    ports.every((port) => error.message.includes(`127.0.0.1:${port} cannot be reached`)),
  );
  const options = fixture.options();
  await joinCoordinator(options);
  const { agent } = await fixture.host({ ...options, server });
  await until(() => agent.failures.length >= 2);
  for (const [index, port] of ports.entries())
    assert.match(agent.failures[index] ?? '', new RegExp(`${port}`));
});

for (const [what, content] of [
  ['no JSON', '{"coordinators":["https://one'],
  ['no list', '{"coordinators":"https://one.test:7443"}'],
  ['another protocol', '{"coordinators":["http://one.test:7443"]}'],
  [
    'too many',
    JSON.stringify({ coordinators: Array.from({ length: 17 }, (_, n) => `https://n${n}.test:7443`) }),
  ],
] as const)
  test(`a stored list with ${what} is ignored with a log line`, async () => {
    const dataDir = temporaryDirectory();
    writeFileSync(stored({ dataDir }), content);
    const lines: string[] = [];
    const log = { ...silentLogger, warn: (_fields: object, msg: string) => void lines.push(msg) };
    const configured = ['https://typed.test:7443'];
    const addresses = await openCoordinatorAddresses(dataDir, configured, log as typeof silentLogger);
    assert.equal(addresses.current, configured[0]);
    assert.equal(addresses.failed(), false, 'there is no other address');
    assert.deepEqual(lines, ['stored addresses of the coordinators ignored: the file is damaged']);
  });
