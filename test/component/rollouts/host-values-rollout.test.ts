/** Changed host values go through the waves of a RolloutPolicy like a changed template. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { renderedValues } from '../../../shared/kube/host-values/rendered-values.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import {
  podUids,
  putValues,
  shownBy,
  valueVariable,
  withVariables,
} from '../../harness/controllers/host-values-fixture.js';
import {
  isNew,
  NODES,
  type RolloutFixture,
  SOAK_MS,
  withPolicy,
} from '../../harness/controllers/rollout-fixture.js';

const STORE = "hostValues['store']";
const WAVES = [{ name: 'canary', nodes: 1, soakSeconds: SOAK_MS / 1000 }];

/** Rolls out a template that uses `store`, with one value for all hosts. */
async function begin(rolling: RolloutFixture): Promise<void> {
  const { fleet } = rolling;
  await putValues(fleet, 'all', { values: { store: '1', other: 'a' } });
  await fleet.change('web', withVariables(valueVariable('STORE', STORE)));
  await fleet.settle();
  await rolling.advance(SOAK_MS);
  await expectShown(rolling, { '1': NODES.length });
  await until(() => rolling.status?.phase === 'Completed' || rolling.status?.message);
}

async function expectShown({ fleet }: RolloutFixture, expected: Record<string, number>): Promise<void> {
  const counts = () => {
    const found: Record<string, number> = {};
    for (const value of Object.values(shownBy(fleet, STORE)))
      found[String(value)] = (found[String(value)] ?? 0) + 1;
    return JSON.stringify(found);
  };
  await until(() => counts() === JSON.stringify(expected) || counts());
}

describe('values of hosts in a rollout by waves', () => {
  withPolicy('a value that all hosts use is changed wave by wave', { waves: WAVES }, async (rolling) => {
    await begin(rolling);
    await putValues(rolling.fleet, 'all', { values: { store: '2', other: 'a' } });
    await until(() => rolling.status?.phase === 'Soaking' || rolling.status?.message);
    await expectShown(rolling, { '1': 9, '2': 1 });
    await rolling.advance(SOAK_MS);
    await expectShown(rolling, { '2': 10 });
    await until(() => rolling.status?.phase === 'Completed' || rolling.status?.message);
  });

  withPolicy(
    'a changed value that no Pod uses replaces no Pod and starts no rollout',
    { waves: WAVES },
    async (rolling) => {
      await begin(rolling);
      const { startTime, revision } = rolling.status ?? {};
      const before = podUids(rolling.fleet);
      await putValues(rolling.fleet, 'all', { values: { store: '1', other: 'b' } });
      await rolling.fleet.settle();
      assert.deepEqual(podUids(rolling.fleet), before);
      assert.deepEqual([rolling.status?.startTime, rolling.status?.revision], [startTime, revision]);
    },
  );

  withPolicy(
    'failing values stop in the first wave, nothing rolls back, and changing them back repairs the host',
    { waves: WAVES, failureBudget: { maxFailed: 0, action: 'RollBack' } },
    async (rolling) => {
      await begin(rolling);
      const { fleet } = rolling;
      const before = podUids(fleet);
      const isBad = (pod: Pod) => renderedValues(pod).get(STORE) === 'bad';
      fleet.agents.ready = (pod) => !isBad(pod);
      await putValues(fleet, 'all', { values: { store: 'bad', other: 'a' } });
      await expectShown(rolling, { '1': 9, bad: 1 });
      const failing = fleet.pods().find(isBad);
      assert.ok(failing);
      await rolling.crash(failing);
      await until(() => rolling.status?.phase === 'Failed' || rolling.status?.message);
      assert.match(
        rolling.status?.message ?? '',
        /only HostValues or overrides have changed; restore them with "everynode values undo"/,
      );
      await rolling.advance(10 * SOAK_MS);
      await expectShown(rolling, { '1': 9, bad: 1 });
      const after = podUids(fleet);
      assert.equal(
        NODES.filter((node) => after[node] !== before[node]).length,
        1,
        'one Pod was replaced, once',
      );
      await putValues(fleet, 'all', { values: { store: '1', other: 'a' } });
      await expectShown(rolling, { '1': 10 });
      await rolling.advance(SOAK_MS);
      await until(() => rolling.status?.phase === 'Completed' || rolling.status?.message);
      const last = podUids(fleet);
      assert.equal(
        NODES.filter((node) => last[node] !== before[node]).length,
        1,
        'the others kept their Pods',
      );
    },
  );

  withPolicy(
    'a failed template rolls back to the earlier template with the present values',
    { waves: WAVES, failureBudget: { maxFailed: 0, action: 'RollBack' } },
    async (rolling) => {
      await begin(rolling);
      const { fleet } = rolling;
      fleet.agents.ready = (pod) => !isNew(pod);
      await putValues(fleet, 'all', { values: { store: '2', other: 'a' } });
      await expectShown(rolling, { '1': 9, '2': 1 });
      await fleet.change('web', ({ spec }) => {
        const [container] = spec.template.spec.containers;
        if (container) container.image = 'app:2';
      });
      await until(() => rolling.newPods().length === 1 || rolling.status?.message);
      const [failing] = rolling.newPods();
      assert.ok(failing);
      await rolling.crash(failing);
      await until(() => rolling.status?.phase === 'RolledBack' || rolling.status?.message);
      assert.deepEqual(rolling.newPods(), []);
      await expectShown(rolling, { '1': 9, '2': 1 });
    },
  );

  withPolicy(
    'values that contradict each other do not complete a rollout, and their repair completes it at once',
    { waves: WAVES },
    async (rolling) => {
      await begin(rolling);
      const { fleet } = rolling;
      const before = podUids(fleet);
      await putValues(fleet, 'rival', { values: { store: '2' } });
      await until(() => rolling.status?.phase === 'Progressing' || rolling.status?.message);
      await rolling.advance(10 * SOAK_MS);
      assert.notEqual(rolling.status?.phase, 'Completed');
      assert.equal(rolling.status?.updated, 0);
      assert.deepEqual(podUids(fleet), before, 'all hosts keep their Pods');
      assert.ok(fleet.events.some((text) => /HostValues all and rival have the same priority/.test(text)));
      await putValues(fleet, 'rival', { values: { store: '1' } });
      await rolling.advance(SOAK_MS);
      await until(() => rolling.status?.phase === 'Completed' || rolling.status?.message);
      assert.deepEqual(podUids(fleet), before);
    },
  );
});
