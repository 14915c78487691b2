/** Failure budgets of rollouts by waves, and hosts that are updated late. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { isNew, NODES, SOAK_MS, withPolicy } from '../../harness/controllers/rollout-fixture.js';

describe('budgets', () => {
  withPolicy(
    'a wave may have a smaller budget',
    {
      waves: [
        { name: 'canary', nodes: 2, maxFailed: 0 },
        { name: 'some', nodes: 4 },
      ],
      failureBudget: { maxFailed: 5 },
    },
    async (rolling) => {
      rolling.fleet.agents.ready = (pod) => !isNew(pod);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 2);
      const [first] = rolling.newPods();
      assert.ok(first);
      await rolling.crash(first);
      await rolling.expectStatus('Failed', 'canary', 2);
      assert.match(rolling.status?.failure ?? '', /wave canary: 1 host failed; the limit is 0/);
    },
  );

  withPolicy(
    'failures that are too old do not count',
    {
      waves: [{ name: 'canary', nodes: 4, maxUnavailable: 1 }],
      failureBudget: { maxFailed: 1, withinSeconds: 3600, progressDeadlineSeconds: 60 },
    },
    async (rolling) => {
      rolling.fleet.agents.ready = (pod) => !isNew(pod);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 1);
      const [pod] = rolling.newPods();
      assert.ok(pod);
      await rolling.fleet.setPod(pod, 'Running', false);
      await rolling.crash(pod);
      await rolling.expectStatus('Progressing', 'canary', 2);
      // The first failure no longer counts when the second host is late.
      await rolling.advance(3_600_000);
      await rolling.expectStatus('Progressing', 'canary', 3);
      assert.equal(rolling.status?.failed, 2);
    },
  );
});

describe('hosts that are updated after completion', () => {
  const others = (rolling: { newPods(): { spec: { nodeName?: string } }[] }) => {
    const canaries = rolling.newPods().map(({ spec }) => spec.nodeName);
    return NODES.filter((name) => !canaries.includes(name));
  };

  withPolicy(
    'are limited in number; beyond the budget no other is updated, and the failed ones revert alone',
    {
      waves: [{ name: 'canary', nodes: 2, soakSeconds: 60 }],
      failureBudget: { maxFailed: 1, action: 'RollBack' },
      catchUp: { maxParallel: 1 },
    },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Soaking', 'canary', 2);
      const dark = others(rolling).slice(0, 5);
      for (const node of dark) await rolling.contact(node, 'True', 'False');
      await rolling.advance(SOAK_MS);
      await rolling.expectStatus('Completed', 'rest', 5);
      fleet.agents.ready = (pod) => !isNew(pod);
      for (const node of dark) await rolling.contact(node, 'True', 'True');
      await rolling.expectStatus('Completed', 'rest', 6);
      const crashNewest = async () => {
        const [pod] = rolling
          .newPods()
          .filter(({ status }) => !status?.conditions && !status?.containerStatuses);
        assert.ok(pod);
        await rolling.crash(pod);
      };
      await crashNewest();
      await rolling.expectStatus('Completed', 'rest', 7);
      await crashNewest();
      await rolling.expectStatus('Failed', 'rest', 5);
      assert.match(rolling.status?.failure ?? '', /among late nodes: 2 hosts failed; the limit is 1/);
      assert.deepEqual(rolling.images, { 'app:1': 5, 'app:2': 5 });
      await fleet.restartController();
      await rolling.advance(3_600_000);
      await rolling.expectStatus('Failed', 'rest', 5);
      const [healthy] = rolling.newPods();
      assert.ok(healthy);
      fleet.agents.ready = () => true;
      await fleet.delete(healthy);
      await rolling.expectStatus('Failed', 'rest', 5);
      await rolling.steer('retry', '', 'repaired on the hosts');
      await rolling.expectStatus('Completed', 'rest', 10);
      assert.equal(rolling.status?.caughtUp, true);
    },
  );

  withPolicy(
    'once all are updated, later failures do not count for the rollout',
    { failureBudget: { maxFailed: 0, action: 'RollBack' } },
    async (rolling) => {
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Completed', 'rest', 10);
      const [pod] = rolling.newPods();
      assert.ok(pod);
      await rolling.crash(pod);
      await rolling.expectStatus('Completed', 'rest', 10);
    },
  );
});
