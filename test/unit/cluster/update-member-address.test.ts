/** A coordinator that was given another address registers it once, and only while it is a member. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberKey } from '../../../coordinator/cluster/cluster-member.js';
import { registerMember, serverOf } from '../../../coordinator/cluster/cluster-view.js';
import { readMemberFile, writeMemberFile } from '../../../coordinator/cluster/member-file.js';
import { updateMemberAddress } from '../../../coordinator/cluster/update-member-address.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { MemoryCluster } from '../../harness/replica/memory-cluster.js';
import { MemoryEngine } from '../../harness/replica/memory-engine.js';

const MEMBER = {
  ...{ memberId: '0a1b2c3d', clusterUID: 'fleet', generation: 'first', name: 'one' },
  server: 'https://192.0.2.11:6443',
};
const MOVED = 'https://one.example.net:6443';

async function fixture() {
  const dataDir = temporaryDirectory();
  const { storage } = new MemoryCluster(new MemoryEngine(new ManualClock()), MEMBER);
  await writeMemberFile(dataDir, MEMBER);
  const { memberId: id, name, server } = MEMBER;
  await registerMember(storage, { id, name, server, joinedAt: 5 });
  return { dataDir, storage };
}

test('a new address of a coordinator is stored in etcd and on disk', async () => {
  const { dataDir, storage } = await fixture();
  const moved = await updateMemberAddress(storage, dataDir, MEMBER, MOVED);
  assert.deepEqual(moved, { ...MEMBER, server: MOVED });
  assert.deepEqual(await readMemberFile(dataDir), moved);
  const stored = await storage.get(memberKey(MEMBER.memberId));
  assert.deepEqual(JSON.parse(String(stored?.value)), {
    ...{ id: MEMBER.memberId, name: 'one', server: MOVED, joinedAt: 5 },
  });
});

test('an unchanged address writes nothing', async () => {
  const { dataDir, storage } = await fixture();
  const before = await storage.get(memberKey(MEMBER.memberId));
  assert.equal(await updateMemberAddress(storage, dataDir, MEMBER, MEMBER.server), MEMBER);
  assert.equal((await storage.get(memberKey(MEMBER.memberId)))?.version, before?.version);
});

test('the new address of a removed coordinator is not registered', async () => {
  const { dataDir, storage } = await fixture();
  await storage.delete(memberKey(MEMBER.memberId));
  assert.equal(await updateMemberAddress(storage, dataDir, MEMBER, MOVED), MEMBER);
  assert.equal(await serverOf(storage, MEMBER.memberId), undefined);
});
