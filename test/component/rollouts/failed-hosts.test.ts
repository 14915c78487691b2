/** After a rollback every host runs the earlier revision again. The failed hosts are still reported. */
import assert from 'node:assert/strict';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import { isNew, REF, type RolloutFixture, withPolicy } from '../../harness/controllers/rollout-fixture.js';

const FAILED = { codes: ['Failed'], limit: 10 };
const waves = [{ name: 'canary', nodes: 3, maxUnavailable: 3 }];
const failureBudget = { maxFailed: 1, action: 'RollBack' as const };

/** Two of three canaries crash, and all three revert. Returns the names of the two. */
async function rolledBack(rolling: RolloutFixture): Promise<string[]> {
  const { fleet } = rolling;
  fleet.agents.ready = (pod) => !isNew(pod);
  await fleet.setImage('web', 'app:2');
  await rolling.expectStatus('Progressing', 'canary', 3);
  const [well, ...ill] = rolling.newPods();
  assert.ok(well);
  await rolling.advance(2_000);
  await fleet.setPod(well, 'Running', true);
  for (const pod of ill) await rolling.crash(pod);
  await rolling.expectStatus('RolledBack', 'canary', 0);
  return ill.map(({ spec }) => spec.nodeName ?? '').sort();
}

/** The fields that the commands and the console show. */
async function shown({ fleet, status }: RolloutFixture) {
  const { total, hosts } = await new DaemonSetExplainer(fleet).rolloutHosts(REF, FAILED);
  return {
    hosts: hosts.map(({ node }) => node),
    total,
    failed: status?.failed,
    byWave: status?.waves.map(({ name, failed }) => `${name} ${failed}`),
    codes: status?.codes,
  };
}

withPolicy(
  'after a rollback, the failed hosts are listed and counted by wave',
  { waves, failureBudget },
  async (rolling) => {
    const ill = await rolledBack(rolling);
    assert.deepEqual(await shown(rolling), {
      hosts: ill,
      ...{ total: 2, failed: 2, byWave: ['canary 2', 'rest 0'] },
      codes: { Failed: 2, Reverted: 1, RolloutFailed: 7 },
    });
  },
);

withPolicy(
  'after a restart and after a change of the policy, the same hosts are reported as failed',
  { waves, failureBudget },
  async (rolling) => {
    await rolledBack(rolling);
    const before = await shown(rolling);
    assert.equal(before.total, 2);
    await rolling.fleet.restartController();
    await rolling.advance(60_000);
    assert.deepEqual(await shown(rolling), before);
    await rolling.policy((spec) => {
      spec.rolloutHistoryLimit = 3;
    });
    await rolling.fleet.change('web', ({ spec }) => {
      spec.minReadySeconds = 1;
    });
    await rolling.advance(60_000);
    assert.deepEqual(await shown(rolling), before);
  },
);

withPolicy(
  'a failed host is listed with its cause, and why reports that it reverted',
  { waves, failureBudget },
  async (rolling) => {
    const [node = ''] = await rolledBack(rolling);
    await rolling.advance(1_000);
    const explainer = new DaemonSetExplainer(rolling.fleet);
    const { hosts } = await explainer.rolloutHosts(REF, FAILED);
    assert.match(
      hosts[0]?.sentence ?? '',
      /it failed \(CrashLoopBackOff: .*\) and was rolled back to its earlier revision/,
    );
    const { code, rollout } = explainer.explainNode(REF, node);
    assert.deepEqual([code, rollout?.code], ['Reverted', 'Failed']);
  },
);

withPolicy('a retry starts without failed hosts', { waves, failureBudget }, async (rolling) => {
  await rolledBack(rolling);
  rolling.fleet.agents.ready = () => true;
  await rolling.steer('retry', '', 'the cause is gone');
  await rolling.expectStatus('Completed', 'rest', 10);
  assert.deepEqual([rolling.status?.failed, rolling.status?.failedNodes], [0, undefined]);
  assert.deepEqual((await shown(rolling)).hosts, []);
});

withPolicy(
  'a failed host whose Node is deleted is not counted',
  { waves, failureBudget },
  async (rolling) => {
    const [gone = '', left = ''] = await rolledBack(rolling);
    const { fleet } = rolling;
    const pod = rolling.podOn(gone);
    assert.ok(pod);
    await fleet.registry.delete(nodeKind, { name: gone });
    await fleet.delete(pod);
    await rolling.advance(60_000);
    assert.deepEqual((await shown(rolling)).hosts, [left]);
    assert.deepEqual([rolling.status?.failed, rolling.status?.failedNodes], [1, [left]]);
  },
);
