/** Clusterize and its way back, snapshots, the keys of a follower, and the API of the members. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { coordinatorLines } from '../../../coordinator/cli/terminal/coordinator-lines.js';
import { CLUSTER_KEY, KEYS_KEY, statusKey } from '../../../coordinator/cluster/cluster-member.js';
import { registerMember } from '../../../coordinator/cluster/cluster-view.js';
import { clusterize, undoClusterize } from '../../../coordinator/cluster/clusterize.js';
import { exportFleetKeys, importFleetKeys } from '../../../coordinator/cluster/keys/fleet-key-files.js';
import { FleetKeySync } from '../../../coordinator/cluster/keys/fleet-key-sync.js';
import { readClusterKey } from '../../../coordinator/cluster/keys/sealed-value.js';
import { readMemberFile } from '../../../coordinator/cluster/member-file.js';
import { downloadSnapshot, SnapshotError } from '../../../coordinator/cluster/snapshot/snapshot-download.js';
import type { LogName } from '../../../coordinator/store/replica/etcd/etcd-keys.js';
import {
  type ClusterStorage,
  LogFull,
  LogUnavailable,
} from '../../../coordinator/store/replica/replicated-log.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { startTestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import {
  type ClusterFixture,
  contentOf,
  makeCoordinatorData,
  startClusterFixture,
} from '../../harness/cluster/coordinator-data.js';
import { MemoryCluster } from '../../harness/replica/memory-cluster.js';
import { MemoryEngine } from '../../harness/replica/memory-engine.js';

const COORDINATORS = '/apis/fleet.everynode.dev/v1/coordinators';

function again(fixture: ClusterFixture, dataDir: string, name = 'first') {
  const about = { name, server: 'https://first:6443', now: Date.now() };
  const secretsKeyPath = join(dataDir, 'pki', 'secrets.key');
  return clusterize({ ...about, dataDir, secretsKeyPath, openStorage: fixture.openStorage });
}

/** The names and contents of all files but the lock and the database. */
function stateOf(dataDir: string): Record<string, string> {
  const names = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  const files = names.filter((each) => each.isFile() && !/^(lock|everynode\.db)/.test(each.name));
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name), 'base64'),
    ]),
  );
}

test('a coordinator that is clusterized and undone is a single one with its data', async (context) => {
  const fixture = await startClusterFixture(context);
  const { dataDir, openStorage, member } = fixture;
  assert.deepEqual(await readMemberFile(dataDir), member);
  await undoClusterize(dataDir, openStorage);
  assert.equal(await readMemberFile(dataDir), undefined);
  assert.equal(existsSync(join(dataDir, 'pki', 'cluster.key')), false);
  const storage = openStorage(member);
  assert.equal(await storage.get(CLUSTER_KEY), undefined);
  assert.deepEqual(await storage.list('members/'), []);
  await storage.close();
  assert.notEqual((await again(fixture, dataDir)).generation, member.generation);
  await undoClusterize(dataDir, openStorage);
  const onFailed = (error: unknown) => assert.fail(String(error));
  const store = await openSqliteStore({ dataDir, clock: systemClock, log: silentLogger, onFailed });
  assert.equal((await store.get('/things/a'))?.value.toString(), '{}');
  await store.close();
});

test('an etcd with another fleet is refused, and nothing changes', async (context) => {
  const fixture = await startClusterFixture(context);
  const dataDir = await makeCoordinatorData();
  const before = stateOf(dataDir);
  await assert.rejects(again(fixture, dataDir), /belongs to another fleet/);
  assert.deepEqual(stateOf(dataDir), before);
});

test('the second of two directories with the data of one fleet is refused, and deletes no registration', async (context) => {
  const fixture = await startClusterFixture(context);
  const storage = fixture.openStorage(fixture.member);
  context.after(() => storage.close());
  // All members have the host name of the caller, and none reports.
  await registerMember(storage, { id: 'ffffffff', name: 'first', server: 'https://b:1', joinedAt: 0 });
  const copy = temporaryDirectory();
  cpSync(fixture.dataDir, copy, { recursive: true });
  rmSync(join(copy, 'member.json'));
  await assert.rejects(
    again(fixture, copy),
    /has the coordinators of this fleet already: .*first \(ffffffff\)/,
  );
  const ids = (await fixture.members()).map((each) => each.member.id).sort();
  assert.deepEqual(ids, [fixture.member.memberId, 'ffffffff'].sort());
});

test('clusterize that was killed after the record of the cluster is continued, with the same log', async () => {
  const dataDir = await makeCoordinatorData();
  const engine = new MemoryEngine(systemClock);
  const killed = temporaryDirectory();
  const about = { name: 'first', server: 'https://first:6443', now: Date.now() };
  const clusterizeWith = (directory: string, openStorage: (name: LogName) => ClusterStorage) => {
    const secretsKeyPath = join(directory, 'pki', 'secrets.key');
    return clusterize({ ...about, dataDir: directory, secretsKeyPath, openStorage });
  };
  const first = await clusterizeWith(dataDir, (name) => {
    const { storage } = new MemoryCluster(engine, name);
    const put = storage.put.bind(storage);
    storage.put = async (key, value, options) => {
      const isWritten = await put(key, value, options);
      // What kill -9 leaves at this moment.
      if (key === CLUSTER_KEY) cpSync(dataDir, killed, { recursive: true });
      return isWritten;
    };
    return storage;
  });
  assert.equal(existsSync(join(dataDir, 'member-pending.json')), false);
  assert.equal(await readMemberFile(killed), undefined);
  const second = await clusterizeWith(killed, (name) => new MemoryCluster(engine, name).storage);
  assert.deepEqual(second, first);
  assert.deepEqual(await readMemberFile(killed), first);
});

test('clusterize whose continuation fails as well can still be continued', async () => {
  const dataDir = await makeCoordinatorData();
  const engine = new MemoryEngine(systemClock);
  const secretsKeyPath = join(dataDir, 'pki', 'secrets.key');
  const options = { dataDir, secretsKeyPath, name: 'first', server: 'https://first:6443', now: Date.now() };
  const failing = (key: string, error: Error, isWritten: boolean) => (name: LogName) => {
    const { storage } = new MemoryCluster(engine, name);
    const put = storage.put.bind(storage);
    storage.put = async (each, value, more) => {
      if (each === key && !isWritten) throw error;
      const result = await put(each, value, more);
      if (each === key) throw error;
      return result;
    };
    return storage;
  };
  const lost = failing(CLUSTER_KEY, new LogUnavailable('the answer was lost'), true);
  await assert.rejects(clusterize({ ...options, openStorage: lost }), /the answer was lost/);
  const full = failing(KEYS_KEY, new LogFull('etcd is full'), false);
  await assert.rejects(clusterize({ ...options, openStorage: full }), /etcd is full/);
  const openStorage = (name: LogName) => new MemoryCluster(engine, name).storage;
  const member = await clusterize({ ...options, openStorage });
  assert.deepEqual(await readMemberFile(dataDir), member);
});

test('undo that was interrupted by etcd can be repeated', async (context) => {
  const { dataDir, openStorage, member } = await startClusterFixture(context);
  const interrupted = (name: LogName) => {
    const storage = openStorage(name);
    storage.trim = () => Promise.reject(new LogUnavailable('no answer'));
    return storage;
  };
  await assert.rejects(undoClusterize(dataDir, interrupted), /no answer/);
  assert.deepEqual(await readMemberFile(dataDir), member);
  await undoClusterize(dataDir, openStorage);
  assert.equal(await readMemberFile(dataDir), undefined);
});

test('clusterize is refused for a member, and for Secrets that are encrypted with a file elsewhere', async (context) => {
  const fixture = await startClusterFixture(context);
  await assert.rejects(again(fixture, fixture.dataDir), /is already coordinator/);
  const dataDir = await makeCoordinatorData();
  const options = { dataDir, secretsKeyPath: '/etc/keys', name: 'x', server: 'https://x:1', now: 0 };
  await assert.rejects(
    clusterize({ ...options, openStorage: fixture.openStorage }),
    /settings name \/etc\/keys/,
  );
});

test('undo with an etcd that does not know the fleet needs a confirmation that etcd lost its data', async (context) => {
  const { dataDir, member } = await startClusterFixture(context);
  const engine = new MemoryEngine(systemClock);
  const openEmpty = (name: LogName) => new MemoryCluster(engine, name).storage;
  await assert.rejects(undoClusterize(dataDir, openEmpty), /has no record of this fleet/);
  assert.deepEqual(await readMemberFile(dataDir), member);
  await undoClusterize(dataDir, openEmpty, { isEtcdLost: true });
  assert.equal(await readMemberFile(dataDir), undefined);
});

test('undo is refused while others are members, while one leads, and while records of the log are missing', async (context) => {
  const { dataDir, openStorage, member, control } = await startClusterFixture(context);
  const storage = openStorage(member);
  context.after(() => storage.close());
  await registerMember(storage, { id: 'ffffffff', name: 'second', server: 'https://second:1', joinedAt: 0 });
  await assert.rejects(undoClusterize(dataDir, openStorage), /has other coordinators: second \(ffffffff\)/);
  assert.equal(await control.removeMember('ffffffff'), 'removed');
  const leadership = await storage.campaign({ memberId: 'ffffffff', bootId: 'boot' });
  await assert.rejects(undoClusterize(dataDir, openStorage), /a coordinator leads/i);
  await storage.append({ index: 1, bytes: Buffer.from('x') }, leadership?.term ?? 0);
  await leadership?.resign();
  await assert.rejects(undoClusterize(dataDir, openStorage), /lacks 1 records of the log/);
  assert.deepEqual(await readMemberFile(dataDir), member);
});

function syncOf({ openStorage, member }: ClusterFixture, dataDir: string): FleetKeySync {
  const keys = openStorage(member);
  return new FleetKeySync({
    dataDir,
    keys,
    server: 'https://follower:6443',
    clusterUID: member.clusterUID,
    clock: systemClock,
    log: silentLogger,
  });
}

test('a key that changes on the leader reaches a follower, once, and not the other way round', async (context) => {
  const fixture = await startClusterFixture(context);
  const follower = temporaryDirectory();
  await importFleetKeys(
    follower,
    { ...(await exportFleetKeys(fixture.dataDir)), version: 1 },
    'https://follower:6443',
  );
  const [leading, following] = [syncOf(fixture, fixture.dataDir), syncOf(fixture, follower)];
  await leading.publish();
  assert.equal(await following.pull(), false);
  appendFileSync(join(fixture.dataDir, 'pki', 'secrets.key'), 'new 0000\n');
  writeFileSync(join(follower, 'pki', 'secrets.key'), 'changed by hand');
  await leading.publish();
  assert.equal(await following.pull(), true);
  assert.equal(
    await contentOf(follower, 'pki/secrets.key'),
    await contentOf(fixture.dataDir, 'pki/secrets.key'),
  );
  assert.equal((await exportFleetKeys(follower)).version, 2);
  assert.equal(await following.pull(), false);
  // A leader that fell behind must not overwrite newer keys.
  writeFileSync(join(follower, 'fleet-keys.json'), '{"version":1}');
  writeFileSync(join(follower, 'pki', 'secrets.key'), 'old');
  await assert.rejects(syncOf(fixture, follower).publish(), /newer keys/);
});

test('a leader whose write of new keys got no answer publishes again', async (context) => {
  const fixture = await startClusterFixture(context);
  const { dataDir, openStorage, member } = fixture;
  const keys = openStorage(member);
  const put = keys.put.bind(keys);
  let isLost = true;
  keys.put = async (...input) => {
    const isWritten = await put(...input);
    if (isLost) throw new LogUnavailable('the answer was lost');
    return isWritten;
  };
  const { clusterUID } = member;
  const leading = new FleetKeySync({
    ...{ dataDir, keys, server: 'https://first:6443', clusterUID, clock: systemClock, log: silentLogger },
  });
  const secretsKey = join(dataDir, 'pki', 'secrets.key');
  appendFileSync(secretsKey, 'second 0000\n');
  await assert.rejects(leading.publish(), /the answer was lost/);
  isLost = false;
  appendFileSync(secretsKey, 'third 0000\n');
  await leading.publish();
  const follower = temporaryDirectory();
  const first = { ...(await exportFleetKeys(dataDir)), version: 1 };
  await importFleetKeys(follower, first, 'https://follower:6443');
  writeFileSync(join(follower, 'pki', 'secrets.key'), 'old');
  assert.equal(await syncOf(fixture, follower).pull(), true);
  assert.match(await contentOf(follower, 'pki/secrets.key'), /third 0000/);
});

test("a follower's kubeconfig has the address of its own machine, also after the administrator's token changed", async (context) => {
  const fixture = await startClusterFixture(context);
  const follower = temporaryDirectory();
  await syncOf(fixture, fixture.dataDir).publish();
  const copied = { ...(await exportFleetKeys(fixture.dataDir)), version: 1 };
  await importFleetKeys(follower, copied, 'https://follower:6443');
  const serverAndToken = (text: string): string[] =>
    [/server: (.*)/, /token: (.*)/].map((pattern) => pattern.exec(text)?.[1] ?? '');
  const [server, token] = serverAndToken(await contentOf(follower, 'kubeconfig'));
  assert.equal(server, 'https://follower:6443');
  const text = await contentOf(fixture.dataDir, 'kubeconfig');
  writeFileSync(join(fixture.dataDir, 'kubeconfig'), text.replace(token ?? '', 'new'));
  writeFileSync(join(fixture.dataDir, 'pki', 'admin-token.sha256'), 'new');
  await syncOf(fixture, fixture.dataDir).publish();
  assert.equal(await syncOf(fixture, follower).pull(), true);
  assert.deepEqual(serverAndToken(await contentOf(follower, 'kubeconfig')), ['https://follower:6443', 'new']);
});

test('keys that another writer of etcd put there are not taken', async (context) => {
  const fixture = await startClusterFixture(context);
  const storage = fixture.openStorage(fixture.member);
  context.after(() => storage.close());
  const before = stateOf(fixture.dataDir);
  await storage.put('keys', Buffer.from('{"format":1,"version":9,"files":{}}'));
  await assert.rejects(syncOf(fixture, fixture.dataDir).pull(), /unknown format/);
  assert.deepEqual(stateOf(fixture.dataDir), before);
});

async function sourceOf({ api, dataDir, member }: ClusterFixture) {
  const clusterKey = await readClusterKey(dataDir);
  return { ...member, server: api.url, ca: api.pki.ca.cert, clusterKey, now: Date.now() };
}

test('a member gets the database with its place in the log, and replaces its own', async (context) => {
  const fixture = await startClusterFixture(context);
  const target = temporaryDirectory();
  writeFileSync(join(target, 'everynode.db'), 'an old database');
  const position = await downloadSnapshot(await sourceOf(fixture), target);
  assert.deepEqual(position, { generation: fixture.member.generation, record: 0, term: 0, chain: '' });
  assert.deepEqual(readdirSync(target), ['everynode.db']);
  assert.deepEqual(
    readdirSync(fixture.dataDir).filter((name) => name.startsWith('snapshot-')),
    [],
  );
  assert.equal(
    fixture.audit.entriesFor('get').at(-1),
    `200  everynode:coordinator:${fixture.member.memberId} 127.0.0.1`,
  );
});

test('without the key of the cluster, after a removal, or for another log there is no snapshot', async (context) => {
  const fixture = await startClusterFixture(context);
  const source = await sourceOf(fixture);
  const target = temporaryDirectory();
  writeFileSync(join(target, 'everynode.db'), 'an old database');
  const attempts: [object, RegExp][] = [
    [{ clusterKey: Buffer.alloc(32) }, /it refuses this coordinator/],
    [{ memberId: 'ffffffff' }, /it refuses this coordinator/],
    [{ now: Date.now() - 3_600_000 }, /it refuses this coordinator/],
    [{ generation: 'other' }, /another fleet or another log/],
  ];
  for (const [bad, message] of attempts) {
    const isExpected = (error: unknown) => error instanceof SnapshotError && message.test(error.message);
    await assert.rejects(downloadSnapshot({ ...source, ...bad }, target), isExpected);
  }
  assert.equal(readFileSync(join(target, 'everynode.db'), 'utf8'), 'an old database');
  assert.deepEqual(readdirSync(target), ['everynode.db']);
});

/** Time for which the API may answer from memory. */
const FRESH_MS = 1_100;

test('the API removes followers, and keeps the last coordinator that can lead', async (context) => {
  const fixture = await startClusterFixture(context);
  const { api, member, openStorage } = fixture;
  const storage = openStorage(member);
  context.after(() => storage.close());
  const status = { version: '1', logFormat: 1, appliedRecord: 0, clockMs: Date.now() };
  const put = (id: string, state: object) =>
    storage.put(statusKey(id), Buffer.from(JSON.stringify({ ...status, state })));
  await put(member.memberId, { role: 'leader', term: 1 });
  await registerMember(storage, { id: 'ffffffff', name: 'second', server: 'https://second:1', joinedAt: 0 });
  const { items } = (await call(api, `GET ${COORDINATORS}`)).json() as { items: Coordinator[] };
  assert.deepEqual(
    items.map((each) => [each.metadata.name, each.status.role]),
    [
      ['first', 'Leader'],
      ['second', 'Down'],
    ],
  );
  const refused = await call(api, `POST ${COORDINATORS}/first/stepdown`);
  assert.match(refused.text, /must stay the leader: no other coordinator is a follower/);
  await put('ffffffff', { role: 'follower' });
  assert.equal((await call(api, `POST ${COORDINATORS}/second/stepdown`)).code, 409);
  assert.equal(fixture.stepDowns(), 0);
  assert.equal((await call(api, `POST ${COORDINATORS}/first/stepdown`)).code, 200);
  assert.equal(fixture.stepDowns(), 1);
  assert.match((await call(api, `DELETE ${COORDINATORS}/first`)).text, /leads and cannot be removed/);
  assert.equal((await call(api, `DELETE ${COORDINATORS}/second`)).code, 200);
  assert.deepEqual(
    (await fixture.members()).map((each) => each.member.name),
    ['first'],
  );
  const isGone = async () => (await call(api, `DELETE ${COORDINATORS}/second`)).code === 404;
  await until(isGone, { what: 'the API to read the members again', timeoutMs: 10 * FRESH_MS });
});

test('a single coordinator admits none, and says why', async (context) => {
  const api = await startTestApi();
  context.after(() => api.stop());
  for (const line of [
    'POST /apis/fleet.everynode.dev/v1/coordinatortokens',
    'POST /coordinators/join',
    'GET /coordinators/snapshot',
  ]) {
    const answer = await call(api, line);
    assert.equal(answer.code, 404, line);
    assert.match(answer.text, /single coordinator/, line);
  }
});

const ROW: Coordinator = {
  ...{ kind: 'Coordinator', apiVersion: 'fleet.everynode.dev/v1' },
  metadata: { name: 'first', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { server: 'https://first:6443', memberId: '0a1b2c3d' },
  status: { role: 'Leader', version: '1', lagRecords: 0, clockSkewSeconds: 0, problems: [], conditions: [] },
};

test('members are printed with their etcd and what is wrong', () => {
  const message = 'second is down.';
  const problems = [{ severity: 'error', reason: 'Down', message }] as const;
  const etcd = [
    { endpoint: 'https://e1:2379', version: '3.5.9', isLeader: true, dbBytes: 1 },
    { endpoint: 'https://e2:2379', error: 'connection refused' },
  ];
  const second: Coordinator = {
    ...{ kind: 'Coordinator', apiVersion: ROW.apiVersion, metadata: { name: 'second' } },
    spec: { server: 'https://second:6443', memberId: 'ffffffff' },
    status: { role: 'Down', problems, conditions: [] },
  };
  assert.deepEqual(coordinatorLines([{ ...ROW, status: { ...ROW.status, etcd } }, second]), [
    'NAME    ID        SERVER               ROLE    LAG  VERSION',
    'first   0a1b2c3d  https://first:6443   Leader  0    1',
    'second  ffffffff  https://second:6443  Down    -    -',
    '',
    'ETCD             STATE   VERSION  SIZE',
    'https://e1:2379  leader  3.5.9    1 MiB',
    'https://e2:2379  error   -        -',
    '',
    'error: second: second is down.',
  ]);
  assert.equal(coordinatorLines([ROW]).at(-1), 'No problems.');
});
