/** Rollouts by waves of templates with other node selectors, and over hosts where no Pod belongs any longer. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import { rolloutPolicyKind } from '../../../coordinator/kinds/index.js';
import { until } from '../../harness/basics/wait-until.js';
import { REF, type RolloutFixture, withPolicy } from '../../harness/controllers/rollout-fixture.js';

const LAB = { name: 'lab', nodeSelector: { matchLabels: { lab: 'yes' } } };
const SHOPS = { name: 'shops', nodeSelector: { matchLabels: { zone: 'b' } }, approval: 'Manual' as const };
/** n0 is the lab; n5 to n9 are the shops of zone b. */
const labels = (_: string, index: number): Record<string, string> => ({
  zone: index < 5 ? 'a' : 'b',
  ...(index === 0 ? { lab: 'yes' } : {}),
});
const SHOP_HOSTS = ['n5', 'n6', 'n7', 'n8', 'n9'];

async function release(rolling: RolloutFixture, image: string, nodeSelector?: Record<string, string>) {
  await rolling.fleet.change('web', ({ spec }) => {
    const { nodeSelector: _, ...rest } = spec.template.spec;
    const containers = [{ name: 'app', image }];
    spec.template.spec = { ...rest, containers, ...(nodeSelector && { nodeSelector }) };
  });
  await rolling.fleet.settle();
}

/** Waits until the rollout is in this phase and wave, and hosts have these images. */
async function comesTo(rolling: RolloutFixture, phase: string, wave: string, images: Record<string, number>) {
  const wanted = JSON.stringify([phase, wave, images]);
  const found = () => {
    const sorted = Object.fromEntries(Object.entries(rolling.images).sort());
    return JSON.stringify([rolling.status?.phase, rolling.status?.wave, sorted]);
  };
  await until(() => found() === wanted || `${found()} ${rolling.status?.message}`);
  await rolling.fleet.settle();
  assert.equal(found(), wanted, 'and it stays so');
}

describe('a template with another node selector', () => {
  withPolicy(
    'removes and creates Pods wave by wave, like any other',
    { waves: [LAB, SHOPS] },
    async (rolling) => {
      const { fleet } = rolling;
      await release(rolling, 'app:2', { zone: 'a' });
      await comesTo(rolling, 'AwaitingApproval', 'lab', { 'app:1': 9, 'app:2': 1 });
      const explainer = new DaemonSetExplainer(fleet);
      const kept = explainer.explainNode(REF, 'n5');
      assert.equal(kept.code, 'WaitingForApproval');
      assert.match(kept.sentence, /node selector requires zone=a .*and its wave shops waits/);
      await rolling.approve('shops');
      await comesTo(rolling, 'Completed', 'rest', { 'app:2': 5 });
      assert.deepEqual(rolling.status?.codes, { Updated: 5, NotEligible: 5 });

      await release(rolling, 'app:3');
      await comesTo(rolling, 'AwaitingApproval', 'lab', { 'app:2': 4, 'app:3': 1 });
      assert.deepEqual(rolling.status?.codes, { Updated: 1, WaitingForApproval: 5, WaitingForWave: 4 });
      assert.equal(fleet.pods().length, 5, 'no Pod waits where its revision has no place');
      assert.equal(fleet.status('web')?.desiredNumberScheduled, 10);
      const { code, sentence } = explainer.explainNode(REF, 'n5');
      assert.equal(code, 'WaitingForApproval');
      assert.match(sentence, /its wave shops waits for approval/);
      await fleet.restartController();
      await comesTo(rolling, 'AwaitingApproval', 'lab', { 'app:2': 4, 'app:3': 1 });
      await rolling.approve('shops');
      await comesTo(rolling, 'Completed', 'rest', { 'app:3': 10 });
    },
    { labels },
  );

  withPolicy(
    'when it fails is removed from them again, without a replacement',
    { waves: [LAB, SHOPS], failureBudget: { maxFailed: 0, action: 'RollBack' } },
    async (rolling) => {
      const { fleet } = rolling;
      await release(rolling, 'app:2', { zone: 'a' });
      await rolling.approve('shops');
      await comesTo(rolling, 'Completed', 'rest', { 'app:2': 5 });
      fleet.agents.ready = ({ spec }) => spec.nodeName !== 'n7';
      await release(rolling, 'app:3');
      await rolling.approve('shops');
      await comesTo(rolling, 'Progressing', 'shops', { 'app:2': 4, 'app:3': 6 });
      const ill = rolling.podOn('n7');
      assert.ok(ill);
      await rolling.crash(ill);
      await comesTo(rolling, 'RolledBack', 'shops', { 'app:2': 5 });
      assert.deepEqual(
        SHOP_HOSTS.flatMap((host) => rolling.podOn(host)?.metadata.name ?? []),
        [],
      );
    },
    { labels },
  );

  withPolicy(
    'reaches all hosts when the policy is deleted in the middle',
    { waves: [LAB, SHOPS] },
    async (rolling) => {
      const { fleet } = rolling;
      await release(rolling, 'app:2', { zone: 'a' });
      await rolling.approve('shops');
      await comesTo(rolling, 'Completed', 'rest', { 'app:2': 5 });
      await release(rolling, 'app:3');
      await comesTo(rolling, 'AwaitingApproval', 'lab', { 'app:2': 4, 'app:3': 1 });
      await fleet.registry.delete(rolloutPolicyKind, { ...REF, name: 'gentle' });
      await until(() => rolling.images['app:3'] === 10 || JSON.stringify(rolling.images));
    },
    { labels },
  );

  withPolicy(
    'reaches an offline host when it reconnects',
    { waves: [LAB] },
    async (rolling) => {
      const { fleet } = rolling;
      await release(rolling, 'app:2', { zone: 'a' });
      await comesTo(rolling, 'Completed', 'rest', { 'app:2': 5 });
      fleet.agents.ready = ({ spec }) => spec.nodeName !== 'n0';
      await rolling.contact('n9', 'True', 'False');
      await release(rolling, 'app:3');
      await comesTo(rolling, 'Progressing', 'lab', { 'app:2': 4, 'app:3': 1 });
      assert.equal(rolling.status?.codes?.DeferredOffline, 1);
      fleet.agents.ready = () => true;
      const canary = rolling.podOn('n0');
      assert.ok(canary);
      await fleet.setPod(canary, 'Running', true);
      await comesTo(rolling, 'Completed', 'rest', { 'app:3': 9 });
      await rolling.contact('n9', 'True', 'True');
      await comesTo(rolling, 'Completed', 'rest', { 'app:3': 10 });
    },
    { labels },
  );
});

describe('a host that is tainted NoSchedule while it has a Pod', () => {
  withPolicy(
    'loses the old Pod in its wave, as upstream, and gets no other',
    { waves: [LAB, SHOPS] },
    async (rolling) => {
      await rolling.fleet.taint('n6', [{ key: 'gpu', effect: 'NoSchedule' }]);
      await rolling.fleet.settle();
      assert.ok(rolling.podOn('n6'), 'it may stay');
      await release(rolling, 'app:2');
      await comesTo(rolling, 'AwaitingApproval', 'lab', { 'app:1': 9, 'app:2': 1 });
      assert.equal(rolling.status?.nodes, 10);
      await rolling.approve('shops');
      await comesTo(rolling, 'Completed', 'rest', { 'app:2': 9 });
      assert.equal(rolling.podOn('n6'), undefined);
      assert.deepEqual(rolling.status?.codes, { Updated: 9, NotEligible: 1 });
    },
    { labels },
  );

  withPolicy(
    'loses the old Pod with surge too, once the other hosts allow it',
    { waves: [LAB] },
    async (rolling) => {
      await rolling.fleet.change('web', ({ spec }) => {
        spec.updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } };
      });
      await rolling.fleet.taint('n6', [{ key: 'gpu', effect: 'NoSchedule' }]);
      await release(rolling, 'app:2');
      await comesTo(rolling, 'Completed', 'rest', { 'app:2': 9 });
    },
    { labels },
  );

  withPolicy(
    'keeps the old Pod outside its window',
    { windows: [{ schedule: '0 3 * * *', durationSeconds: 3600 }] },
    async (rolling) => {
      await rolling.fleet.taint('n6', [{ key: 'gpu', effect: 'NoSchedule' }]);
      await release(rolling, 'app:2');
      await comesTo(rolling, 'AwaitingWindow', 'rest', { 'app:1': 10 });
      assert.deepEqual(rolling.status?.codes, { OutsideWindow: 10 });
      for (let hour = 0; hour < 24 && rolling.images['app:1'] === 10; hour += 1) {
        await rolling.advance(3_600_000);
      }
      await comesTo(rolling, 'Completed', 'rest', { 'app:2': 9 });
    },
    { labels },
  );
});
