/** Stopping a coordinator while etcd does not answer: it must end before systemd kills it after 60 s. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { CoordinatorCluster } from '../../harness/cluster/coordinator-cluster.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

test('a leader with a write in progress stops without etcd, and loses no acknowledged write', async (context) => {
  const cluster = await CoordinatorCluster.open({ coordinators: 1 });
  if (typeof cluster === 'string') {
    leaveOut(context, 'a stop without etcd', cluster);
    return;
  }
  context.after(() => cluster.close());
  const leader = await cluster.untilLeader();
  const api = cluster.api(leader);
  await api.request('POST', CONFIG_MAPS, { metadata: { name: 'before' } });
  leader.cutEtcd();
  // 504: its outcome is unknown. 503: a write of a controller is in progress, so this one was refused.
  const during = await api.send('POST', CONFIG_MAPS, { metadata: { name: 'during' } });
  assert.ok([503, 504].includes(during.code), String(during.code));
  const refused = await api.send('POST', CONFIG_MAPS, { metadata: { name: 'after' } });
  assert.equal(refused.code, 503);
  await api.request('GET', `${CONFIG_MAPS}/before`);
  const began = performance.now();
  await leader.stop();
  const tookMs = performance.now() - began;
  assert.ok(tookMs < 45_000, `the stop took ${tookMs} ms`);
  assert.match(leader.log, /stopping without waiting for it/);
  assert.doesNotMatch(leader.log, /store failed/);
  leader.healEtcd();
  leader.start();
  await cluster.untilLeader();
  await api.request('GET', `${CONFIG_MAPS}/before`);
});
