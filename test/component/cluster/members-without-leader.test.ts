/** `everynode coordinator members` on a machine of the fleet while no coordinator leads, with a real etcd. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { registerMember, writeStatus } from '../../../coordinator/cluster/cluster-view.js';
import { clusterize } from '../../../coordinator/cluster/clusterize.js';
import { openEtcdCluster } from '../../../coordinator/store/replica/etcd/open-etcd-cluster.js';
import type { CoordinatorList } from '../../../shared/kube/fleet/coordinator-types.js';
import { EXIT_CODES } from '../../../shared/process/exit-error.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { makeCoordinatorData } from '../../harness/cluster/coordinator-data.js';
import { missingEtcd, startEtcd } from '../../harness/etcd/etcd-process.js';
import { runEverynode } from '../../harness/processes/everynode-processes.js';

test('members reads etcd if no coordinator leads, and names what is wrong', async (context) => {
  const missing = missingEtcd();
  if (missing !== undefined) return leaveOut(context, 'members without a leader', missing);
  const etcd = await startEtcd();
  context.after(() => etcd.stop());
  const server = `https://127.0.0.1:${await freePort()}`;
  const dataDir = await makeCoordinatorData(server);
  const own = await clusterize({
    ...{ dataDir, name: 'first', server, now: Date.now() },
    secretsKeyPath: join(dataDir, 'pki', 'secrets.key'),
    openStorage: (name) => openEtcdCluster({ access: etcd.access, name }),
  });
  const storage = openEtcdCluster({ access: etcd.access, name: own });
  context.after(() => storage.close());
  await registerMember(storage, { id: 'ffffffff', name: 'second', server: 'https://second:1', joinedAt: 0 });
  const state = { role: 'impeded', reason: 'DiskFull', message: 'Free its disk.' } as const;
  await writeStatus(storage, 'ffffffff', {
    ...{ version: '1.0.0', logFormat: 1, appliedRecord: 0, clockMs: Date.now(), state },
  });
  const members = (...more: string[]) => {
    const args = ['coordinator', 'members', '--data', dataDir, '--etcd', etcd.endpoints.join(','), ...more];
    return runEverynode(args, { KUBECONFIG: '' });
  };

  const text = await members();
  assert.equal(text.code, EXIT_CODES.environment);
  assert.match(text.stdout, new RegExp(`first +${own.memberId} +${server} +Down`));
  assert.match(text.stdout, /second +ffffffff +https:\/\/second:1 +Impeded/);
  assert.match(text.stdout, /error: No coordinator leads, and none of those listed can/);
  assert.match(text.stdout, /error: second: second cannot take over. Free its disk./);
  assert.match(text.stdout, new RegExp(`${etcd.endpoints[0]} +leader`));
  assert.match(text.stderr, /No coordinator serves, so this list is from etcd.*does not respond/);

  const list: CoordinatorList = JSON.parse((await members('-o', 'json')).stdout);
  assert.deepEqual(
    list.items.map(({ metadata, status }) => [metadata.name, status.role]),
    [
      ['first', 'Down'],
      ['second', 'Impeded'],
    ],
  );
  assert.equal(list.problems?.[0]?.reason, 'NoLeader');

  await etcd.kill(0);
  const without = await members();
  assert.equal(without.code, EXIT_CODES.environment);
  assert.match(without.stdout, /error: 0 of 1 members of etcd answer, and 1 must: writes are refused/);
  assert.match(without.stdout, /The coordinators cannot be read: etcd: /);

  const elsewhere = await runEverynode(['coordinator', 'members', '--data', dataDir], { KUBECONFIG: '' });
  assert.equal(elsewhere.stdout, '');
  assert.match(elsewhere.stderr, /does not respond/);
});
