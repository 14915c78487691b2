/** Plans of HostValues and DaemonSetOverrides. Their predictions equal the result of applying the manifests. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { ManifestPlanner } from '../../../coordinator/controllers/plan/manifest-planner.js';
import { namespaceKind } from '../../../coordinator/kinds/index.js';
import type { DaemonSetPlan, Plan } from '../../../shared/kube/fleet/plan-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { READS_ALL } from '../../harness/api/access-fixture.js';
import {
  podUids,
  putValues,
  valueVariable,
  withVariables,
} from '../../harness/controllers/host-values-fixture.js';
import { onApp, putOverride } from '../../harness/controllers/override-fixture.js';
import { NODES, type RolloutFixture, withPolicy } from '../../harness/controllers/rollout-fixture.js';

const WAVES = [{ name: 'canary', nodes: 1 }];
const BIG = { nodeSelector: { matchLabels: { size: 'big' } } };
const STORE = "hostValues['store']";
/** The first four hosts are big. */
const LABELS = {
  labels: (_: string, index: number): Record<string, string> => (index < 4 ? { size: 'big' } : {}),
};

const fleetObject = (kind: string, name: string, spec: object) => ({
  apiVersion: `${FLEET_GROUP}/v1`,
  kind,
  metadata: { name },
  spec,
});
const override = (name: string, spec: object) =>
  fleetObject('DaemonSetOverride', name, { daemonSetName: 'web', ...spec });

function planOf({ fleet }: RolloutFixture, ...manifests: unknown[]): Promise<Plan> {
  return new ManifestPlanner(fleet).planManifests({ manifests }, READS_ALL);
}

async function onePlan(rolling: RolloutFixture, ...manifests: unknown[]): Promise<DaemonSetPlan> {
  const { daemonSets, refused } = await planOf(rolling, ...manifests);
  assert.deepEqual([daemonSets.length, refused], [1, []]);
  assert.ok(daemonSets[0]);
  return daemonSets[0];
}

const shown = ({ variants }: DaemonSetPlan) =>
  variants.map(({ images, hosts, changes }) => `${hosts} ${images.app} ${changes}`);

async function replacedBy({ fleet }: RolloutFixture, change: () => Promise<void>): Promise<string[]> {
  const before = podUids(fleet);
  await change();
  await fleet.rolledOut('web');
  await fleet.settle();
  const after = podUids(fleet);
  return NODES.filter((node) => before[node] !== after[node]);
}

describe('a plan', () => {
  withPolicy(
    'of an override shows its hosts, what they would run, and the waves',
    { waves: WAVES },
    async (rolling) => {
      const change = { ...BIG, ...onApp({ image: 'app:2' }) };
      const plan = await onePlan(rolling, override('big', change));
      assert.deepEqual(shown(plan), ['6 app:1 0', '4 app:2 4']);
      assert.deepEqual(plan.variants[1]?.settings, [
        { path: 'containers[app].image', value: 'app:2', from: 'DaemonSetOverride big' },
      ]);
      assert.deepEqual(
        [plan.change, plan.counts.replace, plan.counts.keep, plan.waves.map(({ name }) => name)],
        ['None', 4, 6, ['canary', 'rest']],
      );
      const planned = plan.hosts.filter(({ action }) => action === 'replace').map(({ node }) => node);
      const replaced = await replacedBy(rolling, () => putOverride(rolling.fleet, 'big', change));
      assert.deepEqual(replaced, planned);
      const { verdict, daemonSets } = await planOf(rolling, override('big', change));
      assert.deepEqual([verdict, daemonSets], ['NoChange', []], 'the stored object is no change');
    },
    LABELS,
  );

  withPolicy('of a changed value shows the hosts that use it', { waves: WAVES }, async (rolling) => {
    const { fleet } = rolling;
    const values = (store: string) => ({ values: { store: '1', other: store }, hosts: { n3: { store } } });
    await putValues(fleet, 'all', values('3'));
    await fleet.change('web', withVariables(valueVariable('STORE', STORE)));
    await fleet.rolledOut('web');
    const plan = await onePlan(rolling, fleetObject('HostValues', 'all', values('4')));
    assert.deepEqual(
      [plan.hosts.filter(({ action }) => action !== 'keep').map(({ node }) => node), plan.counts.replace],
      [['n3'], 1],
    );
    assert.deepEqual(
      plan.variants.map(({ hosts, settings }) => [hosts, settings]),
      [
        [9, [{ path: STORE, value: '1', from: 'HostValues all' }]],
        [1, [{ path: STORE, value: '4', from: 'HostValues all' }]],
      ],
    );
    assert.deepEqual(await replacedBy(rolling, () => putValues(fleet, 'all', values('4'))), ['n3']);
    const unused = fleetObject('HostValues', 'more', { values: { other: 'x' } });
    assert.deepEqual((await planOf(rolling, unused)).daemonSets, []);
  });

  withPolicy(
    'of a contradiction names it, and its hosts keep their Pods',
    {
      waves: [
        { name: 'others', nodeSelector: { matchExpressions: [{ key: 'size', operator: 'DoesNotExist' }] } },
      ],
    },
    async (rolling) => {
      await putOverride(rolling.fleet, 'big', { ...BIG, ...onApp({ image: 'app:2' }) });
      await rolling.fleet.rolledOut('web');
      const { verdict, daemonSets } = await planOf(rolling, override('all', onApp({ image: 'app:3' })));
      const [plan] = daemonSets;
      assert.deepEqual([verdict, plan?.counts.wait, plan?.counts.replace], ['Blocked', 4, 6]);
      assert.match(
        plan?.blockedBy ?? '',
        /4 hosts get no new Pod: node n0: DaemonSetOverrides all and big have/,
      );
      const refused = plan?.hosts.filter(({ code }) => code === 'FailedCreate') ?? [];
      assert.deepEqual(
        refused.map(({ node }) => node),
        ['n0', 'n1', 'n2', 'n3'],
      );
      assert.deepEqual(
        plan && shown(plan),
        ['6 app:3 6'],
        'hosts whose Pod cannot be made are in no variant',
      );
    },
    LABELS,
  );

  withPolicy(
    'of an override that admission refuses is blocked for its hosts alone',
    { waves: WAVES },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.change('web', ({ spec }) => {
        spec.template.spec.volumes = [{ name: 'data', emptyDir: {} }];
      });
      await fleet.rolledOut('web');
      await fleet.registry.modify(namespaceKind, { name: 'default' }, (stored): undefined => {
        stored.metadata.labels = { 'pod-security.kubernetes.io/enforce': 'baseline' };
      });
      await fleet.settle();
      const data = [{ name: 'data', hostPath: { path: '/srv' } }];
      const { verdict, daemonSets } = await planOf(rolling, override('big', { ...BIG, volumes: data }));
      assert.equal(verdict, 'Blocked');
      assert.match(daemonSets[0]?.blockedBy ?? '', /the API refuses its Pods: .*hostPath volumes/);
      assert.equal(daemonSets[0]?.counts.keep, 6);
      const refused = daemonSets[0]?.hosts.filter(({ code }) => code === 'FailedCreate') ?? [];
      assert.ok(refused.length > 0 && refused.every(({ node }) => ['n0', 'n1', 'n2', 'n3'].includes(node)));
    },
    LABELS,
  );

  withPolicy('hides values from a caller that may not read them', { waves: WAVES }, async (rolling) => {
    const rights = { ...READS_ALL, mayRead: (kind: { resource: string }) => kind.resource === 'daemonsets' };
    const manifests = [override('all', onApp({ image: 'app:2' }))];
    const { daemonSets } = await new ManifestPlanner(rolling.fleet).planManifests({ manifests }, rights);
    assert.deepEqual([daemonSets[0]?.variants, daemonSets[0]?.counts.replace], [[], 10]);
  });
});
