/** Another coordinator joins over TLS, and everything that must not join. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { joinCluster } from '../../../coordinator/cluster/join/join-cluster.js';
import { FLEET_KEY_FILES } from '../../../coordinator/cluster/keys/fleet-keys.js';
import { readMemberFile } from '../../../coordinator/cluster/member-file.js';
import { newJoinToken, tokenSecret } from '../../../coordinator/hub/identity/new-join-token.js';
import { secretKind } from '../../../coordinator/kinds/index.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { StoreError } from '../../../coordinator/store/store-error.js';
import type { CoordinatorTokenDocument } from '../../../shared/kube/fleet/coordinator-types.js';
import { COORDINATOR_JOIN_PATH, JOIN_PATH } from '../../../shared/link/messages/link-limits.js';
import { ExitError } from '../../../shared/process/exit-error.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { call } from '../../harness/api/https-call.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import {
  type ClusterFixture,
  contentOf,
  startClusterFixture,
} from '../../harness/cluster/coordinator-data.js';

const TOKENS = 'POST /apis/fleet.everynode.dev/v1/coordinatortokens';
const MINUTE_MS = 60_000;

async function tokenFrom({ api }: ClusterFixture): Promise<string> {
  const answer = await call(api, TOKENS);
  assert.equal(answer.code, 201, answer.text);
  return answer.json<CoordinatorTokenDocument & Record<string, unknown>>().token;
}

function joinOf(
  { api, openStorage }: ClusterFixture,
  token: string,
  dataDir = newDirectory(),
  change: { now?: number; logFormat?: number } = {},
) {
  const about = { name: 'second', server: 'https://second:6443', now: Date.now(), ...change };
  return { dataDir, joined: joinCluster({ ...about, coordinator: api.url, token, dataDir, openStorage }) };
}

/** A directory that does not exist yet. */
function newDirectory(): string {
  return join(temporaryDirectory(), 'data');
}

/** Rejects with `message`, and leaves no file and no member behind. */
async function refuses(fixture: ClusterFixture, token: string, message: RegExp): Promise<void> {
  const { dataDir, joined } = joinOf(fixture, token);
  await assert.rejects(joined, (error) => error instanceof ExitError && message.test(error.message));
  assert.equal(existsSync(dataDir), false);
  assert.equal((await fixture.members()).length, 1);
}

test('a coordinator joins with a token: it has all keys, its own member file, and is registered', async (context) => {
  const fixture = await startClusterFixture(context);
  const { dataDir, joined } = joinOf(fixture, await tokenFrom(fixture));
  const member = await joined;
  assert.deepEqual(await readMemberFile(dataDir), member);
  assert.equal(member.generation, fixture.member.generation);
  for (const name of FLEET_KEY_FILES.filter((each) => existsSync(join(fixture.dataDir, each)))) {
    const expected = await contentOf(fixture.dataDir, name);
    // The leader's machine may die, so the kubeconfig has the address of the new member.
    const own = name === 'kubeconfig' ? expected.replace(/server: .*/, `server: ${member.server}`) : expected;
    assert.equal(await contentOf(dataDir, name), own, name);
    assert.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600, name);
  }
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  assert.equal(existsSync(join(dataDir, 'pki', 'serving.pem')), false);
  assert.deepEqual(readdirSync(dataDir).sort(), [
    'fleet-keys.json',
    'kubeconfig',
    'lock',
    'member.json',
    'pki',
  ]);
  const members = await fixture.members();
  assert.deepEqual(members.map((each) => each.member.name).sort(), ['first', 'second']);
  const joins = fixture.audit.events.filter(({ verb }) => verb === 'join');
  assert.deepEqual(
    joins.map(({ objectRef, responseStatus }) => [objectRef?.name, responseStatus.code]),
    [[member.memberId, 200]],
  );
});

test('a token admits one coordinator', async (context) => {
  const fixture = await startClusterFixture(context);
  const token = await tokenFrom(fixture);
  await joinOf(fixture, token).joined;
  const { dataDir, joined } = joinOf(fixture, token);
  await assert.rejects(joined, /wrong, expired or used/);
  assert.equal(existsSync(dataDir), false);
});

test('of two coordinators with one token at the same time, one joins', async (context) => {
  const fixture = await startClusterFixture(context);
  const token = await tokenFrom(fixture);
  const outcomes = await Promise.allSettled([joinOf(fixture, token).joined, joinOf(fixture, token).joined]);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

test('a wrong secret is refused, and the token can still be used', async (context) => {
  const fixture = await startClusterFixture(context);
  const token = await tokenFrom(fixture);
  const [id, , hash] = token.split('.');
  await refuses(fixture, `${id}.${'x'.repeat(32)}.${hash}`, /Unauthorized/);
  assert.deepEqual(fixture.audit.entriesFor('join'), [
    `401 Unauthorized everynode:coordinator-token:${id} 127.0.0.1`,
  ]);
  await joinOf(fixture, token).joined;
});

test('an expired token is refused', async (context) => {
  const fixture = await startClusterFixture(context);
  const token = await tokenFrom(fixture);
  fixture.clock.advance(15 * MINUTE_MS);
  await refuses(fixture, token, /Unauthorized/);
});

test('a server without the authority of the token receives nothing', async (context) => {
  const fixture = await startClusterFixture(context);
  const [id, secret] = (await tokenFrom(fixture)).split('.');
  await refuses(fixture, `${id}.${secret}.${'0'.repeat(64)}`, /does not present the certificate authority/);
  assert.deepEqual(fixture.audit.entriesFor('join'), []);
});

test("a host's token gets no keys, also not through a hand-made request", async (context) => {
  const fixture = await startClusterFixture(context);
  const token = newJoinToken();
  await fixture.api.registry.create(secretKind, 'kube-system', tokenSecret(token));
  const hash = (await tokenFrom(fixture)).split('.')[2];
  await refuses(fixture, `${token.id}.${token.secret}.${hash}`, /not of the form/);
  await refuses(fixture, `${token.id}.${token.secret.repeat(2)}.${hash}`, /Unauthorized/);
});

test('a token of a coordinator admits no host', async (context) => {
  const fixture = await startClusterFixture(context);
  const [id, secret] = (await tokenFrom(fixture)).split('.');
  const answer = await call(fixture.api, `POST ${JOIN_PATH}`, { token: `${id}.${secret}`, body: {} });
  assert.equal(answer.code, 401);
});

test('a version that cannot read the log and a wrong clock are refused, and the token can still be used', async (context) => {
  const fixture = await startClusterFixture(context);
  const token = await tokenFrom(fixture);
  const attempts: [{ now?: number; logFormat?: number }, RegExp][] = [
    [{ logFormat: 0 }, /reads format 0 of the log, .*: upgrade it first\.$/],
    [{ now: Date.now() - 10 * MINUTE_MS }, /its clock is 10 minutes behind the leader's.*: set the clock/],
  ];
  for (const [change, message] of attempts) {
    const { dataDir, joined } = joinOf(fixture, token, newDirectory(), change);
    await assert.rejects(joined, (error) => error instanceof ExitError && message.test(error.message));
    assert.equal(existsSync(dataDir), false);
    assert.equal((await fixture.members()).length, 1);
  }
  await joinOf(fixture, token).joined;
});

test('an etcd of another fleet is refused before the token is used', async (context) => {
  const fixture = await startClusterFixture(context);
  const other = await startClusterFixture(context);
  const token = await tokenFrom(fixture);
  const { dataDir, joined } = joinOf({ ...fixture, openStorage: other.openStorage }, token);
  await assert.rejects(joined, /belongs to another fleet/);
  assert.equal(existsSync(dataDir), false);
  await joinOf(fixture, token).joined;
});

test('a directory with data of a coordinator is refused, and is not changed', async (context) => {
  const fixture = await startClusterFixture(context);
  const token = await tokenFrom(fixture);
  const before = readdirSync(fixture.dataDir).sort();
  await assert.rejects(joinOf(fixture, token, fixture.dataDir).joined, /contains pki of a coordinator/);
  assert.deepEqual(readdirSync(fixture.dataDir).sort(), before);
});

test('guessing is limited', async (context) => {
  const fixture = await startClusterFixture(context);
  const codes: number[] = [];
  for (let attempt = 0; attempt < 12; attempt += 1) {
    codes.push((await call(fixture.api, `POST ${COORDINATOR_JOIN_PATH}`, { body: {} })).code);
  }
  assert.deepEqual([...new Set(codes)], [400, 429]);
});

test('only a user with the right may make a token', async (context) => {
  const fixture = await startClusterFixture(context);
  assert.equal((await call(fixture.api, TOKENS, { token: null })).code, 401);
  assert.equal((await call(fixture.api, `${TOKENS}?ttlSeconds=999999`)).code, 400);
});

test('a coordinator that has joined does not start alone, with an empty database and the keys of the fleet', async (context) => {
  const fixture = await startClusterFixture(context);
  const { dataDir, joined } = joinOf(fixture, await tokenFrom(fixture));
  await joined;
  const opening = openSqliteStore({ dataDir, clock: systemClock, log: silentLogger });
  await assert.rejects(opening, (error) => error instanceof StoreError && error.code === 'occupied');
  assert.equal(existsSync(join(dataDir, 'everynode.db')), false);
});
