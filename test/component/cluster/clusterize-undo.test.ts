/** Clusterize and its way back. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CLUSTER_KEY, KEYS_KEY } from '../../../coordinator/cluster/cluster-member.js';
import { registerMember } from '../../../coordinator/cluster/cluster-view.js';
import { clusterize, undoClusterize } from '../../../coordinator/cluster/clusterize.js';
import { readMemberFile } from '../../../coordinator/cluster/member-file.js';
import type { LogName } from '../../../coordinator/store/replica/etcd/etcd-keys.js';
import {
  type ClusterStorage,
  LogFull,
  LogUnavailable,
} from '../../../coordinator/store/replica/replicated-log.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import {
  type ClusterFixture,
  makeCoordinatorData,
  startClusterFixture,
  stateOf,
} from '../../harness/cluster/coordinator-data.js';
import { MemoryCluster } from '../../harness/replica/memory-cluster.js';
import { MemoryEngine } from '../../harness/replica/memory-engine.js';

function again(fixture: ClusterFixture, dataDir: string, name = 'first') {
  const about = { name, server: 'https://first:6443', now: Date.now() };
  const secretsKeyPath = join(dataDir, 'pki', 'secrets.key');
  return clusterize({ ...about, dataDir, secretsKeyPath, openStorage: fixture.openStorage });
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
