/** Changed host values go through the waves of a RolloutPolicy like a changed template. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { ManifestPlanner } from '../../../coordinator/controllers/plan/manifest-planner.js';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { renderedValues } from '../../../shared/kube/host-values/rendered-values.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { READS_ALL } from '../../harness/api/access-fixture.js';
import { until } from '../../harness/basics/wait-until.js';
import type { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';
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
  REF,
  type RolloutFixture,
  SOAK_MS,
  withPolicy,
} from '../../harness/controllers/rollout-fixture.js';

const STORE = "hostValues['store']";
const WAVES = [{ name: 'canary', nodes: 1, soakSeconds: SOAK_MS / 1000 }];

const NEXT = "hostValues['next']";
const LAB = { name: 'lab', nodeSelector: { matchLabels: { lab: 'yes' } } };
/** n0 is the lab. */
const LABELS = {
  labels: (_: string, index: number): Record<string, string> => (index === 0 ? { lab: 'yes' } : {}),
};

/** Values of `next` for all hosts but one. */
const nextValues = (without: string) => ({
  hosts: Object.fromEntries(NODES.filter((name) => name !== without).map((name) => [name, { next: 'a' }])),
});

const useNextIn = (daemonSet: DaemonSet) => {
  withVariables(valueVariable('NEXT', NEXT))(daemonSet);
  const [container] = daemonSet.spec.template.spec.containers;
  if (container) container.image = 'app:2';
};

/** Rolls out a template that needs `next`, which one host lacks. */
async function useNext({ fleet }: RolloutFixture, without = 'n0'): Promise<void> {
  await putValues(fleet, 'next', nextValues(without));
  await fleet.change('web', useNextIn);
  await fleet.settle();
}

/** Returns the manifest of that template. */
function manifestWithNext(fleet: DaemonFleet): DaemonSet {
  const manifest = structuredClone(fleet.informers.daemonSets.get(REF)) as DaemonSet;
  useNextIn(manifest);
  return manifest;
}

const sentenceOn = ({ fleet }: RolloutFixture, node: string) =>
  new DaemonSetExplainer(fleet).explainNode(REF, node).sentence;

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

  withPolicy(
    'a canary host that is lost and lacks a value holds its wave, and is updated when it returns with the value',
    { waves: [LAB] },
    async (rolling) => {
      const { fleet } = rolling;
      await begin(rolling);
      await rolling.contact('n0', 'Unknown', 'False');
      await fleet.taint('n0', [{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' }]);
      await useNext(rolling);
      await until(() => rolling.status?.phase === 'AwaitingHosts' || rolling.status?.message);
      assert.deepEqual(rolling.status?.codes, { WaitingForWave: 9, DeferredOffline: 1 });
      assert.match(sentenceOn(rolling, 'n0'), /not connected.*node n0 has no value for hostValues\['next'\]/);
      await putValues(fleet, 'next', { values: { next: 'b' } });
      await rolling.advance(10 * SOAK_MS);
      assert.equal(rolling.newPods().length, 0, 'the next wave stays closed');
      await fleet.taint('n0', []);
      await rolling.contact('n0', 'True', 'True');
      await rolling.expectStatus('Completed', 'rest', 10);
    },
    LABELS,
  );

  withPolicy(
    'a host with a taint that lacks a value keeps its Pod, and Events, why and a plan name the value',
    { waves: [LAB] },
    async (rolling) => {
      const { fleet } = rolling;
      await begin(rolling);
      await fleet.taint('n6', [{ key: 'gpu', effect: 'NoSchedule' }]);
      await putValues(fleet, 'next', nextValues('n6'));
      const missing = /node n6 has no value for hostValues\['next'\]/;
      const plan = await new ManifestPlanner(fleet).planManifests(
        { manifests: [manifestWithNext(fleet)] },
        READS_ALL,
      );
      const [planned] = plan.daemonSets;
      assert.equal(planned?.blockedBy, undefined);
      assert.match(
        planned?.sentence ?? '',
        new RegExp(`\\. 1 tainted host keeps its Pod: ${missing.source}`),
      );
      assert.match(planned?.hosts.find(({ node }) => node === 'n6')?.message ?? '', missing);
      await useNext(rolling, 'n6');
      await rolling.expectStatus('Completed', 'rest', 9);
      assert.ok(rolling.podOn('n6'));
      assert.deepEqual(rolling.status?.codes, { Updated: 9, NotEligible: 1 });
      assert.ok(
        fleet.events.some((text) => missing.test(text)),
        fleet.events.join('\n'),
      );
      assert.match(sentenceOn(rolling, 'n6'), missing);
    },
    LABELS,
  );
});
