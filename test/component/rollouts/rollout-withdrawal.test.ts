/** Revoked handovers: until a host has acknowledged, it may have started. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { podKind, rolloutPolicyKind } from '../../../coordinator/kinds/index.js';
import {
  HANDOVER_ANNOTATION,
  HANDOVER_CONDITION,
  handoverOf,
  WITHDRAWN,
  withdrawnMessage,
  withdrawnSuccessorOf,
} from '../../../shared/kube/handovers/host-handover.js';
import { withCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { REF, type RolloutFixture, withPolicy } from '../../harness/controllers/rollout-fixture.js';

const nodesOf = (pods: readonly Pod[]) => pods.map(({ spec }) => spec.nodeName ?? '').sort();
const turned = ({ fleet }: RolloutFixture) => fleet.pods().filter((pod) => handoverOf(pod) !== undefined);
const withdrawn = ({ fleet }: RolloutFixture) =>
  fleet.pods().filter((pod) => withdrawnSuccessorOf(pod) !== undefined);

/** One host at a time. None starts by itself. */
async function oneTurned(rolling: RolloutFixture): Promise<string> {
  const { fleet } = rolling;
  fleet.agents.startsHandovers = false;
  await fleet.change('web', ({ spec }) => {
    spec.updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
  });
  await fleet.setImage('web', 'app:2');
  await until(() => turned(rolling).length === 1);
  await fleet.settle();
  const [node] = nodesOf(turned(rolling));
  assert.equal(turned(rolling).length, 1);
  return node ?? '';
}

/** Acts as the host's agent that has received the revocation. */
async function hostKnows({ fleet }: RolloutFixture, pod: Pod): Promise<void> {
  const message = withdrawnMessage(withdrawnSuccessorOf(pod) ?? '');
  const condition = { type: HANDOVER_CONDITION, status: 'False' as const, reason: WITHDRAWN, message };
  const edit = (stored: Pod): undefined => {
    const conditions = withCondition(stored.status?.conditions, condition, toTimestamp(fleet.clock.now()));
    stored.status = { ...stored.status, conditions };
  };
  await fleet.registry.modify(podKind, pod.metadata, edit, { subresource: 'status' });
  await fleet.settle();
}

describe('a revoked handover', () => {
  withPolicy('uses its budget until its host has acknowledged it', { confirm: {} }, async (rolling) => {
    const { fleet } = rolling;
    const node = await oneTurned(rolling);
    await rolling.steer('pause');
    await until(() => withdrawn(rolling).length === 1);
    assert.deepEqual(nodesOf(withdrawn(rolling)), [node]);
    assert.equal(rolling.status?.codes?.RolloutPaused, 10);
    await rolling.steer('resume');
    await rolling.advance(1_000);
    assert.deepEqual(nodesOf(turned(rolling)), [], 'nobody else has a turn: that host may have begun');
    await fleet.restartController();
    await rolling.advance(1_000);
    assert.deepEqual([nodesOf(turned(rolling)), nodesOf(withdrawn(rolling))], [[], [node]]);

    const [pod] = withdrawn(rolling);
    assert.ok(pod);
    await hostKnows(rolling, pod);
    await until(() => turned(rolling).length === 1 && withdrawn(rolling).length === 0);
    const [again] = turned(rolling);
    assert.ok(again);
    // The host's report on the first handover is still on its Pod, and counts for that handover only.
    await rolling.steer('pause');
    await until(() => withdrawn(rolling).length === 1);
    await rolling.advance(1_000);
    assert.equal(withdrawn(rolling).length, 1);
  });

  withPolicy(
    'does no harm where the host started before it received the revocation',
    { confirm: {} },
    async (rolling) => {
      const { fleet } = rolling;
      const node = await oneTurned(rolling);
      const [pod] = turned(rolling);
      const successor = pod && handoverOf(pod)?.successor;
      assert.ok(pod && successor);
      await rolling.steer('pause');
      await until(() => withdrawn(rolling).length === 1);
      // Acts as the hub on the host's report.
      await fleet.registry.delete(podKind, pod.metadata, {});
      await fleet.registry.confirmStopped(pod.metadata, pod.metadata.uid ?? '');
      await fleet.registry.restoreObject(podKind, successor);
      await until(() => rolling.images['app:2'] === 1 || JSON.stringify(rolling.images));
      assert.equal(rolling.podOn(node)?.metadata.uid, successor.metadata.uid);
      await rolling.advance(1_000);
      assert.deepEqual(rolling.images, { 'app:1': 9, 'app:2': 1 });
    },
  );

  withPolicy(
    'is caused by a newer release, whose handover follows only after it',
    { confirm: {} },
    async (rolling) => {
      const { fleet } = rolling;
      const node = await oneTurned(rolling);
      await fleet.setImage('web', 'app:3');
      await until(() => withdrawn(rolling).length === 1);
      await rolling.advance(1_000);
      assert.deepEqual([nodesOf(withdrawn(rolling)), turned(rolling).length], [[node], 0]);
      const [pod] = withdrawn(rolling);
      assert.ok(pod);
      await hostKnows(rolling, pod);
      await until(() => turned(rolling).length === 1);
      const images = turned(rolling).map((each) => handoverOf(each)?.successor.spec.containers[0]?.image);
      assert.deepEqual(images, ['app:3']);
    },
  );

  withPolicy(
    'is caused by a deleted policy: the coordinator replaces the Pods',
    { confirm: {} },
    async (rolling) => {
      const { fleet } = rolling;
      await oneTurned(rolling);
      await fleet.registry.delete(rolloutPolicyKind, { ...REF, name: 'gentle' });
      await until(() => withdrawn(rolling).length === 1);
      assert.equal(rolling.images['app:1'], 10);
      const [pod] = withdrawn(rolling);
      assert.ok(pod);
      await hostKnows(rolling, pod);
      await fleet.rolledOut('web');
      assert.deepEqual(rolling.images, { 'app:2': 10 });
      assert.ok(
        fleet.pods().every(({ metadata }) => metadata.annotations?.[HANDOVER_ANNOTATION] === undefined),
      );
    },
  );

  withPolicy('is caused by a taint: no successor belongs there', { confirm: {} }, async (rolling) => {
    const { fleet } = rolling;
    const node = await oneTurned(rolling);
    await fleet.taint(node, [{ key: 'gpu', effect: 'NoSchedule' }]);
    await until(() => withdrawn(rolling).length === 1);
    const [pod] = withdrawn(rolling);
    assert.ok(pod);
    await hostKnows(rolling, pod);
    await until(() => rolling.podOn(node) === undefined || turned(rolling).length === 1);
    assert.ok(!nodesOf(turned(rolling)).includes(node));
  });

  withPolicy(
    'counts as failed for its own revision where the host is lost, and not for the revision that fixes it',
    { confirm: {}, failureBudget: { maxFailed: 0, action: 'RollBack' } },
    async (rolling) => {
      const { fleet } = rolling;
      const node = await oneTurned(rolling);
      await rolling.contact(node, 'Unknown', 'False');
      await until(() => rolling.status?.failure !== undefined || `${rolling.status?.phase}`);
      assert.deepEqual(nodesOf(withdrawn(rolling)), [node]);
      fleet.agents.startsHandovers = true;
      await fleet.setImage('web', 'app:3');
      await until(() => rolling.images['app:3'] === 9 || JSON.stringify(rolling.images));
      await fleet.settle();
      const { phase, failed, deferred } = rolling.status ?? {};
      assert.deepEqual([phase, failed, deferred], ['Completed', 0, 1]);
    },
  );
});
