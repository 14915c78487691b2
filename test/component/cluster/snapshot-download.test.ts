/** The snapshot with which a coordinator becomes a member. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readClusterKey } from '../../../coordinator/cluster/keys/sealed-value.js';
import { downloadSnapshot, SnapshotError } from '../../../coordinator/cluster/snapshot/snapshot-download.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { type ClusterFixture, startClusterFixture } from '../../harness/cluster/coordinator-data.js';

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
