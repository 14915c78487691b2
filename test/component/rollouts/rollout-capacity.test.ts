/** Hosts without capacity for the next release keep the old Pod. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { REF, type RolloutFixture, withPolicy } from '../../harness/controllers/rollout-fixture.js';

const CPU = '6';

async function releaseThatWants(rolling: RolloutFixture, cpu: string): Promise<void> {
  await rolling.fleet.change('web', ({ spec }) => {
    spec.updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
    spec.template.spec.containers = [{ name: 'app', image: 'app:2', resources: { requests: { cpu } } }];
  });
  await rolling.fleet.settle();
}

async function giveCpu({ fleet }: RolloutFixture, name: string, cpu: string): Promise<void> {
  const edit = (stored: Node): undefined => {
    stored.status = { ...stored.status, allocatable: { ...stored.status?.allocatable, cpu } };
  };
  await fleet.registry.modify(nodeKind, { name }, edit, { subresource: 'status' });
}

describe('a host without capacity for the next Pod', () => {
  withPolicy(
    'keeps the old Pod, reports the reason, and continues once it has capacity',
    { confirm: {} },
    async (rolling) => {
      const { fleet } = rolling;
      for (const { metadata } of fleet.informers.nodes.list()) await giveCpu(rolling, metadata.name, '4');
      await releaseThatWants(rolling, CPU);
      await until(
        () => rolling.status?.codes?.InsufficientResources === 1 || JSON.stringify(rolling.status?.codes),
      );
      await rolling.advance(60_000);
      assert.deepEqual(
        [rolling.images, rolling.status?.codes],
        [{ 'app:1': 10 }, { InsufficientResources: 1, Budget: 9 }],
      );
      assert.ok(
        fleet.events.some((text) =>
          /FailedPlacement failed to place pod on "n\d": Insufficient cpu/.test(text),
        ),
      );
      const { reasons } = await new DaemonSetExplainer(fleet).explainFleet(REF);
      const [node = ''] = reasons.find(({ code }) => code === 'InsufficientResources')?.nodes ?? [];
      for (const { metadata } of fleet.informers.nodes.list()) await giveCpu(rolling, metadata.name, '8');
      await rolling.advance(10_000);
      await rolling.expectStatus('Completed', 'rest', 10);
      assert.ok(rolling.podOn(node));
    },
  );

  withPolicy(
    'fails after the progress deadline, and loses nothing',
    { confirm: {}, failureBudget: { maxFailed: 0, progressDeadlineSeconds: 120 } },
    async (rolling) => {
      const { fleet } = rolling;
      for (const { metadata } of fleet.informers.nodes.list()) await giveCpu(rolling, metadata.name, '4');
      await releaseThatWants(rolling, CPU);
      await until(() => rolling.status?.codes?.InsufficientResources === 1);
      await rolling.advance(121_000);
      await rolling.expectStatus('Failed', 'rest', 0);
      assert.deepEqual(rolling.images, { 'app:1': 10 });
      assert.deepEqual(rolling.status?.codes, { Failed: 1, RolloutFailed: 9 });
    },
  );

  withPolicy(
    'is told that its update lock is overridden, once its handover is pending',
    { updateLock: {} },
    async (rolling) => {
      const { fleet } = rolling;
      fleet.agents.startsHandovers = false;
      const turns = () => fleet.pods().flatMap((pod) => handoverOf(pod) ?? []);
      for (const { metadata } of fleet.informers.nodes.list()) await giveCpu(rolling, metadata.name, '8');
      await releaseThatWants(rolling, CPU);
      await until(() => turns().length === 1);
      for (const { metadata } of fleet.informers.nodes.list()) await giveCpu(rolling, metadata.name, '4');
      await fleet.settle();
      await rolling.steer('override-locks', '*', 'a recall');
      await until(() => turns()[0]?.forcedBy === 'ann: a recall');
      await fleet.settle();
      assert.ok(!fleet.events.some((text) => text.includes('FailedPlacement')));
    },
  );

  withPolicy(
    'reserves the capacity of a handover from the moment it is created',
    { confirm: {} },
    async (rolling) => {
      const { fleet } = rolling;
      fleet.agents.startsHandovers = false;
      for (const { metadata } of fleet.informers.nodes.list()) await giveCpu(rolling, metadata.name, '8');
      await releaseThatWants(rolling, CPU);
      await until(() => fleet.pods().some((pod) => handoverOf(pod)));
      const node = fleet.pods().find((pod) => handoverOf(pod))?.spec.nodeName;
      await fleet.create('other', {
        template: {
          metadata: { labels: { app: 'other' } },
          spec: { containers: [{ name: 'app', image: 'other:1', resources: { requests: { cpu: '4' } } }] },
        },
      });
      await fleet.settle();
      const others = () => fleet.pods().filter(({ metadata }) => metadata.labels?.app === 'other');
      await until(() => others().length === 10);
      assert.deepEqual(
        others().filter(({ spec }) => !spec.nodeName).length,
        1,
        `no other Pod that would leave too little capacity is bound to ${node}`,
      );
    },
  );
});
