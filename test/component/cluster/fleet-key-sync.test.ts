/** The keys of a follower follow those of the leader. */
import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportFleetKeys, importFleetKeys } from '../../../coordinator/cluster/keys/fleet-key-files.js';
import { FleetKeySync } from '../../../coordinator/cluster/keys/fleet-key-sync.js';
import { LogUnavailable } from '../../../coordinator/store/replica/replicated-log.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import {
  type ClusterFixture,
  contentOf,
  startClusterFixture,
  stateOf,
} from '../../harness/cluster/coordinator-data.js';

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
