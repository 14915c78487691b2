/** Warnings to the author of a RolloutPolicy, about the existing DaemonSets, nodes and rollouts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManifestPlanner } from '../../../coordinator/controllers/plan/manifest-planner.js';
import { daemonSetKind, rolloutPolicyKind } from '../../../coordinator/kinds/index.js';
import type { RolloutPolicy, RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { READS_ALL } from '../../harness/api/access-fixture.js';
import { until } from '../../harness/basics/wait-until.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';

const WINDOW = { schedule: '0 3 * * *', durationSeconds: 3600, timeZoneLabel: 'tz' };

const daemonSet = (name: string, image = 'app:1') => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name, labels: { team: 'edge' } },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'app', image }] } },
  },
});
const manifest = (name: string, spec: Partial<RolloutPolicySpec> = {}) => ({
  apiVersion: 'fleet.everynode.dev/v1',
  kind: 'RolloutPolicy',
  metadata: { name, namespace: 'default' },
  spec: { selector: { matchLabels: { team: 'edge' } }, ...spec },
});
const policy = (...args: Parameters<typeof manifest>) => manifest(...args) as unknown as RolloutPolicy;

function remarks(planner: ManifestPlanner, write: { before?: RolloutPolicy; after?: RolloutPolicy }) {
  return planner.warningsFor({ ...write, mayNameNodes: true });
}

function remarksTest(rule: string, check: (fleet: DaemonFleet, planner: ManifestPlanner) => Promise<void>) {
  test(rule, async () => {
    const fleet = await DaemonFleet.start(['n1', 'n2', 'n3']);
    try {
      await check(fleet, new ManifestPlanner(fleet));
    } finally {
      await fleet.stop();
    }
  });
}

remarksTest(
  'warns of a selector without matches, and considers other manifests of the same plan',
  async (_, planner) => {
    const nobody = 'spec.selector: selects no DaemonSet of this namespace';
    assert.deepEqual(await remarks(planner, { after: policy('gentle') }), [nobody]);
    assert.deepEqual((await planner.planManifests({ manifests: [manifest('gentle')] }, READS_ALL)).notes, [
      nobody,
    ]);
    const both = await planner.planManifests(
      { manifests: [manifest('gentle'), daemonSet('till')] },
      READS_ALL,
    );
    assert.deepEqual(both.notes, []);
  },
);

remarksTest('waves and windows that find no node, and a policy that comes first', async (fleet, planner) => {
  await fleet.registry.create(daemonSetKind, 'default', daemonSet('till'));
  await fleet.rolledOut('till');
  await fleet.label('n2', { tz: 'Europe.Berlin' });
  await fleet.settle();
  const waves = [{ name: 'lab', nodeSelector: { matchLabels: { real: 'yes' } } }];
  assert.deepEqual(await remarks(planner, { after: policy('gentle', { waves, windows: [WINDOW] }) }), [
    'spec.waves[0].nodeSelector: matches none of the 3 nodes of DaemonSet till: wave lab has no effect',
    'spec.windows: no window ever opens for 2 of the 3 nodes of DaemonSet till (n1, n3); their Pods are never replaced',
  ]);
  await fleet.registry.create(rolloutPolicyKind, 'default', manifest('a'));
  await fleet.settle();
  assert.deepEqual(await remarks(planner, { after: policy('gentle') }), [
    'DaemonSet till is governed by RolloutPolicy a, the first by name that selects it',
  ]);
});

remarksTest('warns of a rollout that loses its policy', async (fleet, planner) => {
  const spec = { waves: [{ name: 'lab', nodes: 1, soakSeconds: 60 }] };
  const created = await fleet.registry.create(rolloutPolicyKind, 'default', manifest('gentle', spec));
  await fleet.registry.create(daemonSetKind, 'default', daemonSet('till'));
  await fleet.rolledOut('till');
  const before = created.object() as RolloutPolicy;
  assert.deepEqual(await remarks(planner, { before }), []);
  await fleet.setImage('till', 'app:2');
  const phase = () => fleet.informers.rollouts.get({ namespace: 'default', name: 'till' })?.status?.phase;
  await until(() => phase() === 'Soaking' || `${phase()}`);
  const left =
    'DaemonSet till is in a rollout (Soaking, wave lab, 1 of 3 nodes updated): without a policy it is rolled out to all nodes, as Kubernetes does';
  assert.deepEqual(await remarks(planner, { before }), [left]);
  const typo = policy('gentle', { ...spec, selector: { matchLabels: { team: 'egde' } } });
  assert.deepEqual(await remarks(planner, { before, after: typo }), [
    'spec.selector: selects no DaemonSet of this namespace',
    left,
  ]);
});
