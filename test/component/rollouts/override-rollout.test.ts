/** Changed overrides go through the waves of a RolloutPolicy like a changed template. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { until } from '../../harness/basics/wait-until.js';
import { podUids } from '../../harness/controllers/host-values-fixture.js';
import { deleteOverride, onApp, putOverride } from '../../harness/controllers/override-fixture.js';
import { isNew, NODES, SOAK_MS, withPolicy } from '../../harness/controllers/rollout-fixture.js';

const WAVES = [{ name: 'canary', nodes: 1, soakSeconds: SOAK_MS / 1000 }];
const BIG = { nodeSelector: { matchLabels: { size: 'big' } } };
/** The first four hosts are big. */
const LABELS = {
  labels: (_: string, index: number): Record<string, string> => (index < 4 ? { size: 'big' } : {}),
};

describe('overrides in a rollout by waves', () => {
  withPolicy(
    'an override of all hosts is applied and deleted wave by wave',
    { waves: WAVES },
    async (rolling) => {
      const { fleet } = rolling;
      await putOverride(fleet, 'all', onApp({ image: 'app:2' }));
      await rolling.expectStatus('Soaking', 'canary', 1);
      assert.match(rolling.status?.revision ?? '', /^[a-z0-9]+\+[0-9a-f]{8}$/);
      await rolling.advance(SOAK_MS);
      await rolling.expectStatus('Completed', 'rest', NODES.length);
      await deleteOverride(fleet, 'all');
      await rolling.expectStatus('Soaking', 'canary', NODES.length - 1);
      assert.doesNotMatch(rolling.status?.revision ?? '', /\+/);
      await rolling.advance(SOAK_MS);
      await rolling.expectStatus('Completed', 'rest', 0);
    },
  );

  withPolicy(
    'an override that changes no Pod replaces none',
    { waves: WAVES },
    async (rolling) => {
      const before = podUids(rolling.fleet);
      await putOverride(rolling.fleet, 'same', { ...BIG, ...onApp({ image: 'app:1' }) });
      await rolling.advance(SOAK_MS);
      await rolling.expectStatus('Completed', 'rest', 0);
      assert.deepEqual(podUids(rolling.fleet), before);
    },
    LABELS,
  );

  withPolicy(
    'a failing override stops in the first wave, and its deletion repairs the host',
    { waves: WAVES, failureBudget: { maxFailed: 0, action: 'RollBack' } },
    async (rolling) => {
      const { fleet } = rolling;
      const before = podUids(fleet);
      fleet.agents.ready = (pod) => !isNew(pod);
      await putOverride(fleet, 'all', onApp({ image: 'app:2' }));
      await until(() => rolling.newPods().length === 1 || rolling.status?.message);
      const [failing] = rolling.newPods();
      assert.ok(failing);
      await rolling.crash(failing);
      await rolling.expectStatus('Failed', 'canary', 1);
      assert.match(rolling.status?.message ?? '', /only HostValues or overrides have changed/);
      await rolling.advance(10 * SOAK_MS);
      await rolling.expectStatus('Failed', 'canary', 1);
      await deleteOverride(fleet, 'all');
      await until(() => rolling.newPods().length === 0 || rolling.status?.message);
      await rolling.advance(SOAK_MS);
      await rolling.expectStatus('Completed', 'rest', 0);
      const after = podUids(fleet);
      assert.equal(NODES.filter((node) => before[node] !== after[node]).length, 1, 'one Pod was replaced');
    },
  );

  withPolicy(
    'a changed template and an override are rolled out together, each host with both',
    { waves: WAVES },
    async (rolling) => {
      const { fleet } = rolling;
      await putOverride(fleet, 'big', { ...BIG, ...onApp({ env: [{ name: 'SIZE', value: 'big' }] }) });
      await rolling.advance(SOAK_MS);
      await rolling.expectStatus('Completed', 'rest', 0);
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Soaking', 'canary', 1);
      await rolling.advance(SOAK_MS);
      await rolling.expectStatus('Completed', 'rest', NODES.length);
      const sizes = NODES.map((node) => rolling.podOn(node)?.spec.containers[0]?.env?.[0]?.value);
      assert.deepEqual(
        sizes,
        NODES.map((_, index) => (index < 4 ? 'big' : undefined)),
      );
    },
    LABELS,
  );
});
