/** Failures in rollouts by waves: when they stop a rollout, and which hosts revert. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { controllerRevisionKind, podKind } from '../../../coordinator/kinds/index.js';
import { REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { isNew, NODES, REF, SOAK_MS, withPolicy } from '../../harness/controllers/rollout-fixture.js';

describe('failures', () => {
  const failureBudget = { maxFailed: 1, progressDeadlineSeconds: 120 };
  const waves = [{ name: 'canary', nodes: 3, maxUnavailable: 2 }];

  withPolicy(
    'stop the rollout beyond the budget; the revision is barred until the template changes',
    { waves, failureBudget },
    async (rolling) => {
      const { fleet } = rolling;
      fleet.agents.ready = (pod) => !isNew(pod);
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 2);
      const [first, second] = rolling.newPods();
      assert.ok(first && second);
      await rolling.crash(first);
      // The failure budget covers it, so another host is updated.
      await rolling.expectStatus('Progressing', 'canary', 3);
      await rolling.crash(second);
      await rolling.expectStatus('Failed', 'canary', 3);
      assert.match(rolling.status?.failure ?? '', /2 hosts failed; the limit is 1/);
      assert.ok(isConditionTrue(rolling.status?.conditions, 'Stalled'));
      assert.ok(fleet.events.some((event) => event.startsWith('Warning RolloutFailed')));
      await fleet.restartController();
      await rolling.advance(3_600_000);
      await rolling.expectStatus('Failed', 'canary', 3);
      fleet.agents.ready = () => true;
      await fleet.setImage('web', 'app:3');
      await fleet.rolledOut('web');
      assert.equal(rolling.status?.phase, 'Completed');
      assert.equal(rolling.status?.failure, undefined);
    },
  );

  withPolicy(
    'include a Pod that is not available in time',
    { failureBudget: { maxFailed: 0, progressDeadlineSeconds: 120 }, waves: [{ name: 'canary', nodes: 1 }] },
    async (rolling) => {
      rolling.fleet.agents.ready = (pod) => !isNew(pod);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 1);
      await rolling.advance(119_000);
      await rolling.expectStatus('Progressing', 'canary', 1);
      await rolling.advance(1_000);
      await rolling.expectStatus('Failed', 'canary', 1);
    },
  );

  withPolicy(
    'do not include a host that was offline before its handover, which is updated later; a host lost after it has failed',
    { waves: [{ name: 'canary', nodes: 2, soakSeconds: 60 }], failureBudget: { maxFailed: 0 } },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Soaking', 'canary', 2);
      const canaries = rolling.newPods().map(({ spec }) => spec.nodeName ?? '');
      const [other = ''] = NODES.filter((name) => !canaries.includes(name));
      await rolling.contact(other, 'True', 'False');
      await rolling.advance(SOAK_MS);
      await rolling.expectStatus('Completed', 'rest', 9);
      assert.equal(rolling.status?.deferred, 1);
      await rolling.contact(other, 'True', 'True');
      await rolling.expectStatus('Completed', 'rest', 10);
      await fleet.setImage('web', 'app:1');
      await fleet.settle();
      await until(() => rolling.status?.phase === 'Soaking');
      await rolling.contact(canaries[0] ?? '', 'True', 'False');
      assert.equal(rolling.status?.phase, 'Soaking', 'a link that is down may be a blink');
      await rolling.contact(canaries[0] ?? '', 'Unknown', 'False');
      await until(() => rolling.status?.phase === 'Failed');
    },
  );

  const healing = { maxFailed: 0, action: 'RollBack' as const };
  withPolicy(
    'make the affected hosts revert automatically, without editing the template',
    { waves: [{ name: 'canary', nodes: 3, maxUnavailable: 2 }], failureBudget: healing },
    async (rolling) => {
      const { fleet } = rolling;
      fleet.agents.ready = (pod) => !isNew(pod);
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 2);
      const [well, ill] = rolling.newPods();
      assert.ok(well && ill);
      await rolling.advance(2_000);
      await fleet.setPod(well, 'Running', true);
      await rolling.crash(ill);
      await rolling.expectStatus('RolledBack', 'canary', 0);
      assert.deepEqual(rolling.images, { 'app:1': 10 });
      assert.deepEqual(rolling.status?.codes, { Failed: 1, Reverted: 2, RolloutFailed: 7 });
      const stored = fleet.informers.daemonSets.get(REF);
      assert.equal(stored?.spec.template.spec.containers[0]?.image, 'app:2');
      assert.equal(fleet.status('web')?.updatedNumberScheduled ?? 0, 0, 'rollout status tells the truth');
      await fleet.restartController();
      await rolling.advance(3_600_000);
      await rolling.expectStatus('RolledBack', 'canary', 0);
      const [lost] = fleet.pods();
      assert.ok(lost);
      await fleet.delete(lost);
      await rolling.expectStatus('RolledBack', 'canary', 0);
      assert.deepEqual(rolling.images, { 'app:1': 10 }, 'a Pod made anew is of the stable revision');
      fleet.agents.ready = () => true;
      await fleet.setImage('web', 'app:3');
      await fleet.rolledOut('web');
    },
  );

  withPolicy(
    'include a host that is found to have an earlier failed release, which reverts with the others',
    { waves: [{ name: 'canary', nodes: 1 }], failureBudget: healing },
    async (rolling) => {
      const { fleet } = rolling;
      const imageOf = ({ spec }: Pod) => spec.containers[0]?.image;
      fleet.agents.ready = (pod) => imageOf(pod) === 'app:1';
      const release = async (image: string) => {
        await fleet.setImage('web', image);
        await until(() => fleet.pods().some((pod) => imageOf(pod) === image));
        const ill = fleet.pods().find((pod) => imageOf(pod) === image);
        assert.ok(ill);
        await rolling.crash(ill);
        await until(() => rolling.status?.phase === 'RolledBack' || rolling.status?.message);
        await fleet.settle();
        return ill.metadata.labels?.[REVISION_HASH_LABEL];
      };
      const bad = await release('app:2');
      await release('app:3');
      // As reported by a host that started its handover while offline, two releases ago.
      const [stray] = fleet.pods();
      assert.ok(stray && bad);
      await fleet.registry.modify(podKind, stray.metadata, ({ metadata }): undefined => {
        metadata.labels = { ...metadata.labels, [REVISION_HASH_LABEL]: bad };
      });
      await until(() => !fleet.pods().some(({ metadata }) => metadata.uid === stray.metadata.uid));
      await fleet.settle();
      assert.deepEqual(rolling.images, { 'app:1': 10 });
      assert.equal(rolling.status?.phase, 'RolledBack');
      assert.ok(fleet.pods().every(({ metadata }) => metadata.labels?.[REVISION_HASH_LABEL] !== bad));
      assert.equal(rolling.status?.codes?.RollingBack, undefined);
    },
  );

  withPolicy(
    'do not include restarts from before the rollout, of a Pod whose revision returned',
    { waves: [{ name: 'canary', nodes: 1 }], failureBudget: { maxFailed: 0 } },
    async (rolling) => {
      const { fleet } = rolling;
      const [old] = fleet.pods();
      assert.ok(old);
      await fleet.registry.modify(
        podKind,
        old.metadata,
        ({ status }): undefined => {
          const app = { name: 'app', image: 'app:1', imageID: '', ready: true, restartCount: 4, state: {} };
          if (status) status.containerStatuses = [app];
        },
        { subresource: 'status' },
      );
      fleet.agents.ready = (pod) => !isNew(pod);
      await fleet.setImage('web', 'app:2');
      await until(() => rolling.newPods().length === 1);
      const [ill] = rolling.newPods();
      assert.ok(ill);
      await rolling.crash(ill);
      await until(() => rolling.status?.phase === 'Failed');
      await rolling.advance(5_000);
      await fleet.setImage('web', 'app:1');
      await fleet.rolledOut('web');
      await rolling.expectStatus('Completed', 'rest', 0);
      assert.equal(rolling.status?.failed, 0);
    },
  );

  withPolicy(
    'revert no host to a revision whose ControllerRevision was deleted',
    { waves: [{ name: 'canary', nodes: 3, maxUnavailable: 2 }], failureBudget: healing },
    async (rolling) => {
      const { fleet } = rolling;
      fleet.agents.ready = (pod) => !isNew(pod);
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 2);
      const [first] = fleet.revisions();
      const [well, ill] = rolling.newPods();
      assert.ok(first && well && ill);
      await fleet.registry.delete(controllerRevisionKind, first.metadata);
      await rolling.advance(2_000);
      const before = rolling.newPods().map(({ metadata }) => metadata.uid);
      // The failure first: a Pod that is ready would let the next host of the wave begin.
      await rolling.crash(ill);
      await fleet.setPod(well, 'Running', true);
      await rolling.expectStatus('Failed', 'canary', 2);
      assert.match(rolling.status?.message ?? '', /no rollback: there is no ControllerRevision of /);
      assert.deepEqual(
        rolling.newPods().map(({ metadata }) => metadata.uid),
        before,
      );
    },
  );

  withPolicy(
    'and aborts find the last completed revision, however few revisions the DaemonSet keeps',
    { waves: [{ name: 'canary', nodes: 3 }], failureBudget: healing },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.change('web', ({ spec }) => {
        spec.revisionHistoryLimit = 0;
      });
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Completed', 'rest', 10);
      assert.equal(fleet.revisions().length, 2);
      await rolling.steer('abort', '', 'it leaks');
      await rolling.expectStatus('RolledBack', 'rest', 0);
      assert.deepEqual(rolling.images, { 'app:1': 10 });
    },
  );

  withPolicy(
    'a Pod that is recreated before its wave is open has the stable revision, also at the start of a controller',
    { waves: [{ name: 'canary', nodes: 1, soakSeconds: 60 }] },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Soaking', 'canary', 1);
      const loseOne = async () => {
        const [old] = fleet.pods().filter((pod) => !isNew(pod));
        if (old) await fleet.delete(old);
      };
      await loseOne();
      await rolling.expectStatus('Soaking', 'canary', 1);
      await fleet.restartController();
      await loseOne();
      await rolling.expectStatus('Soaking', 'canary', 1);
      await rolling.advance(SOAK_MS);
      await rolling.expectStatus('Completed', 'rest', 10);
    },
  );

  withPolicy(
    'without a budget block their wave within maxUnavailable, as upstream',
    { waves: [{ name: 'canary', nodes: 4, maxUnavailable: 2 }] },
    async (rolling) => {
      rolling.fleet.agents.ready = (pod) => !isNew(pod);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 2);
      for (const pod of rolling.newPods()) await rolling.crash(pod);
      await rolling.advance(3_600_000);
      await rolling.expectStatus('Progressing', 'canary', 2);
    },
  );

  withPolicy(
    'OnDelete ignores waves: a deleted Pod returns with the newest revision',
    { waves: [{ name: 'canary', nodes: 1 }] },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.change('web', ({ spec }) => {
        spec.updateStrategy = { type: 'OnDelete' };
        spec.template.spec.containers = [{ name: 'app', image: 'app:2' }];
      });
      await fleet.settle();
      const [pod] = fleet.pods();
      assert.ok(pod);
      await fleet.delete(pod);
      await fleet.settle();
      assert.deepEqual(rolling.images, { 'app:1': 9, 'app:2': 1 });
      assert.equal(rolling.status, undefined);
    },
  );
});
