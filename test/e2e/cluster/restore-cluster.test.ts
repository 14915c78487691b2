/** Several coordinators that lost everything are restored from a backup, as docs/several-coordinators.md describes. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { MovedFleet, type Place } from '../../harness/cluster/moved-fleet.js';
import { missingEtcd, startEtcd } from '../../harness/etcd/etcd-process.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

test('several coordinators are restored from a backup, and hosts keep their containers', async (context) => {
  const missing = missingEtcd();
  if (missing !== undefined) return leaveOut(context, 'a restore of several coordinators', missing);
  const fleet = new MovedFleet();
  context.after(() => fleet.close());
  const lost = await startEtcd();
  context.after(() => lost.stop());
  const [first, second] = [await fleet.place('first'), await fleet.place('second')];
  const join2 = async (etcdFlags: string): Promise<void> => {
    const printed = await fleet.run(`everynode coordinator token --data ${first.data}`);
    const [line = ''] = /^ {2}echo .*$/m.exec(printed) ?? [];
    await fleet.run(`${line.trim()} ${fleet.flags(second)}`);
    await fleet.start(second, etcdFlags);
    await fleet.untilRoles(second, 'Follower', 'Leader');
  };
  const before = `--etcd ${lost.endpoints.join()}`;
  await fleet.start(first, before);
  const run = await fleet.startHost(first);
  assert.equal(await fleet.request(first, 'POST', CONFIG_MAPS, { metadata: { name: 'kept' } }), 201);
  await join2(before);
  const backup = join(fleet.folder, 'backup.tar.gz');
  await fleet.run(`everynode backup --data ${first.data} --to ${backup}`);
  assert.equal(await fleet.request(first, 'POST', CONFIG_MAPS, { metadata: { name: 'later' } }), 201);

  for (const place of [first, second]) await fleet.stop(place, 'SIGKILL');
  await lost.stop();
  const moveAway = ({ data }: Place): void => renameSync(data, `${data}.old`);
  moveAway(first);
  moveAway(second);

  // The members of etcd with empty data directories.
  const etcd = await startEtcd();
  context.after(() => etcd.stop());
  const etcdFlags = `--etcd ${etcd.endpoints.join()}`;
  await fleet.run(`everynode restore ${backup} --data ${first.data}`);
  await fleet.run(`everynode coordinator clusterize ${fleet.flags(first)} ${etcdFlags}`);
  await fleet.start(first, etcdFlags);
  assert.equal(await fleet.runAt(first), run);
  await fleet.run(`everynode confirm-restore --data ${first.data}`);
  assert.equal(await fleet.request(first, 'GET', `${CONFIG_MAPS}/kept`), 200);
  assert.equal(await fleet.request(first, 'GET', `${CONFIG_MAPS}/later`), 404);

  await join2(etcdFlags);
  await fleet.run(`everynode coordinator step-down --data ${second.data}`);
  assert.equal(await fleet.runAt(second), run);
  assert.equal(await fleet.request(second, 'GET', `${CONFIG_MAPS}/kept`), 200);
});
