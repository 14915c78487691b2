/** Starts with a wrong etcd or a wrong directory: one sentence with the reason, and nothing is changed. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { clusterize } from '../../../coordinator/cluster/clusterize.js';
import { openEtcdCluster } from '../../../coordinator/store/replica/etcd/open-etcd-cluster.js';
import { EXIT_CODES } from '../../../shared/process/exit-error.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { makeCoordinatorData } from '../../harness/cluster/coordinator-data.js';
import { type EtcdProcesses, missingEtcd, startEtcd } from '../../harness/etcd/etcd-process.js';
import { runEverynode } from '../../harness/processes/everynode-processes.js';

const missing = missingEtcd();

describe('a coordinator with --etcd refuses to start', () => {
  let etcd: EtcdProcesses;
  let empty: EtcdProcesses;
  let member: string;
  before(async () => {
    if (missing !== undefined) return;
    [etcd, empty] = [await startEtcd(), await startEtcd()];
    member = await makeCoordinatorData();
    await clusterize({
      ...{ dataDir: member, name: 'one', server: 'https://127.0.0.1:6443', now: Date.now() },
      secretsKeyPath: join(member, 'pki', 'secrets.key'),
      openStorage: (name) => openEtcdCluster({ access: etcd.access, name }),
    });
  });
  after(async () => {
    await etcd?.stop();
    await empty?.stop();
  });

  async function refuses(data: string, etcdOf: EtcdProcesses, sentence: RegExp): Promise<void> {
    const flags = ['--data', data, '--host', '127.0.0.1', '--port', '0', '--etcd', etcdOf.endpoints.join()];
    const { code, stderr } = await runEverynode(['coordinator', '--log-level', 'error', ...flags]);
    assert.match(stderr, sentence);
    assert.equal(code, EXIT_CODES.refused);
  }

  function refusal(name: string, run: () => Promise<void>): void {
    test(name, async (context) => {
      if (missing !== undefined) leaveOut(context, 'refused starts with etcd', missing);
      else await run();
    });
  }

  refusal('of a member with an etcd that has no fleet', async () => {
    await refuses(
      member,
      empty,
      /has no fleet, but .* belongs to one: check --etcd.*clusterize --undo --etcd-lost/,
    );
    assert.equal(empty.ctl(['get', '/', '--prefix', '--keys-only']), '');
  });
  refusal('of an empty directory with an etcd that serves a fleet', async () => {
    const data = join(temporaryDirectory(), 'data');
    await refuses(data, etcd, /already serves a fleet: join it with "everynode coordinator join"/);
    assert.equal(existsSync(data), false);
  });
  refusal(
    'of the data of another fleet with an etcd that serves one, and of clusterize as well',
    async () => {
      const other = await makeCoordinatorData();
      const before = readdirSync(other).sort();
      await refuses(other, etcd, /already serves a fleet: join it/);
      const flags = ['--data', other, '--advertise', '127.0.0.1', '--etcd', etcd.endpoints.join()];
      const { code, stderr } = await runEverynode(['coordinator', 'clusterize', ...flags]);
      assert.match(stderr, /belongs to another fleet \(.*\): each fleet needs an etcd cluster of its own/);
      assert.equal(code, EXIT_CODES.refused);
      assert.deepEqual(readdirSync(other).sort(), before);
    },
  );
  refusal('of a directory whose clusterize was interrupted, which has the only keys', async () => {
    renameSync(join(member, 'member.json'), join(member, 'member-pending.json'));
    await refuses(member, etcd, /was interrupted. Keep the directory, .* "everynode coordinator clusterize"/);
    renameSync(join(member, 'member-pending.json'), join(member, 'member.json'));
  });
});
