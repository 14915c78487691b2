/** A single coordinator with a host becomes two on a real etcd, and one again. The host's container never restarts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { MovedFleet } from '../../harness/cluster/moved-fleet.js';
import { missingEtcd, startEtcd } from '../../harness/etcd/etcd-process.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

test('a single coordinator becomes several and a single one again, and hosts keep their containers', async (context) => {
  const missing = missingEtcd();
  if (missing !== undefined) return leaveOut(context, 'clusterize with a host', missing);
  const etcd = await startEtcd();
  context.after(() => etcd.stop());
  const fleet = new MovedFleet();
  context.after(() => fleet.close());
  const etcdFlags = `--etcd ${etcd.endpoints.join()}`;
  const [first, second] = [await fleet.place('first'), await fleet.place('second')];
  await fleet.start(first);
  const run = await fleet.startHost(first);
  assert.equal(await fleet.request(first, 'POST', CONFIG_MAPS, { metadata: { name: 'kept' } }), 201);

  await fleet.stop(first);
  const printed = await fleet.run(`everynode coordinator clusterize ${fleet.flags(first)} ${etcdFlags}`);
  assert.match(printed, new RegExp(`Start it: everynode coordinator .*${etcdFlags}`));
  await fleet.start(first, etcdFlags);
  assert.equal(await fleet.runAt(first), run);

  const [line = ''] =
    /^ {2}echo .*$/m.exec(await fleet.run(`everynode coordinator token --data ${first.data}`)) ?? [];
  await fleet.run(`${line.trim()} ${fleet.flags(second)}`);
  await fleet.start(second, etcdFlags);
  await fleet.untilRoles(second, 'Follower', 'Leader');

  const handover = await fleet.run(`everynode coordinator step-down --data ${second.data}`);
  assert.match(handover, new RegExp(`leads at https://127.0.0.1:${second.port}`));
  await fleet.untilEnded(first);
  assert.equal(await fleet.runAt(second), run);

  const members = await fleet.untilRoles(second, 'Down', 'Leader');
  const former = members.find(({ spec }) => spec.server === `https://127.0.0.1:${first.port}`);
  await fleet.run(`everynode coordinator remove ${former?.spec.memberId} --data ${second.data}`);
  await fleet.stop(second);
  await fleet.run(`everynode coordinator clusterize --undo ${fleet.flags(second)} ${etcdFlags}`);
  // The last entry of the log stays.
  const keys = etcd.ctl(['get', '/everynode', '--prefix', '--keys-only']).trim().split(/\s+/);
  assert.deepEqual(
    keys.filter((key) => !/\/(?:head|log\/[0-9a-f]+)$/.test(key)),
    [],
  );
  await fleet.start(second);
  assert.equal(await fleet.runAt(second), run);
  assert.equal(await fleet.request(second, 'GET', `${CONFIG_MAPS}/kept`), 200);
});
