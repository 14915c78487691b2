/** Pods that the API rejects: `plan` reports the rejection before the apply, `why` reports it afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManifestPlanner } from '../../../coordinator/controllers/plan/manifest-planner.js';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import {
  daemonSetKind,
  namespaceKind,
  podKind,
  rolloutPolicyKind,
  serviceAccountKind,
} from '../../../coordinator/kinds/index.js';
import type { Plan } from '../../../shared/kube/fleet/plan-types.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { READS_ALL } from '../../harness/api/access-fixture.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';

const NODES = ['n0', 'n1', 'n2'];
const REF = { namespace: 'default', name: 'web' };
const CONTAINERS = [{ name: 'app', image: 'app:1' }];
const ROBOT = { serviceAccountName: 'robot', containers: CONTAINERS };

const daemonSet = (spec: PodSpec, change: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec },
    ...change,
  },
});

class Refusing {
  readonly #planner: ManifestPlanner;
  readonly #explainer: DaemonSetExplainer;

  constructor(readonly fleet: DaemonFleet) {
    this.#planner = new ManifestPlanner(fleet);
    this.#explainer = new DaemonSetExplainer(fleet);
  }

  plan(...manifests: unknown[]): Promise<Plan> {
    return this.#planner.planManifests({ manifests }, READS_ALL);
  }

  async apply(spec: PodSpec, change: object = {}): Promise<void> {
    await this.fleet.registry.create(daemonSetKind, 'default', daemonSet(spec, change));
    await this.fleet.settle();
  }

  async enforce(level: string): Promise<void> {
    await this.fleet.registry.modify(namespaceKind, { name: 'default' }, (stored): undefined => {
      stored.metadata.labels = { 'pod-security.kubernetes.io/enforce': level };
    });
    await this.fleet.settle();
  }

  why(node: string) {
    return this.#explainer.explainNode(REF, node);
  }

  fleetReasons() {
    return this.#explainer.explainFleet(REF);
  }
}

function refusedTest(rule: string, check: (refusing: Refusing) => Promise<void>): void {
  test(rule, async () => {
    const fleet = await DaemonFleet.start(NODES, { accounts: true });
    try {
      await check(new Refusing(fleet));
    } finally {
      await fleet.stop();
    }
  });
}

/** Causes of a rejection. `prepare` sets one up, `spec` is the rejected template, `message` the API's text. */
const CAUSES: [
  cause: string,
  prepare: (refusing: Refusing) => Promise<void>,
  spec: PodSpec,
  message: RegExp,
][] = [
  [
    'a Pod Security level that the template violates',
    (refusing) => refusing.enforce('restricted'),
    { containers: CONTAINERS },
    /^pods "web-\w*" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false/,
  ],
  [
    'an image with a space at its end',
    async () => undefined,
    { containers: [{ name: 'app', image: 'app:1 ' }] },
    /^Pod "web-\w*" is invalid: spec\.containers\[0\]\.image: .*must not have leading or trailing whitespace/,
  ],
  [
    'a ServiceAccount that does not exist',
    async () => undefined,
    ROBOT,
    /^pods "web-" is forbidden: error looking up service account default\/robot: serviceaccount "robot" not found$/,
  ],
];

for (const [cause, prepare, spec, message] of CAUSES) {
  refusedTest(`plan reports ${cause}`, async (refusing) => {
    await prepare(refusing);
    const { verdict, daemonSets } = await refusing.plan(daemonSet(spec));
    const [plan] = daemonSets;
    assert.equal(verdict, 'Blocked');
    assert.match(plan?.blockedBy?.replace('the API refuses its Pods: ', '') ?? 'no obstacle', message);
    assert.deepEqual([plan?.counts.start, plan?.counts.wait], [0, NODES.length]);
    for (const { code } of plan?.hosts ?? []) assert.equal(code, 'FailedCreate');
  });

  refusedTest(`why reports ${cause}, also on hosts whose create waits for its retry`, async (refusing) => {
    await prepare(refusing);
    await refusing.apply(spec);
    for (const node of NODES) {
      const { code, sentence, failedCreate } = refusing.why(node);
      assert.equal(code, 'FailedCreate', node);
      assert.match(failedCreate?.message ?? '', message);
      assert.ok(sentence.includes(failedCreate?.message ?? 'no message'), sentence);
    }
    const { reasons, sentence, failedCreate } = await refusing.fleetReasons();
    assert.deepEqual(reasons, [{ code: 'FailedCreate', count: NODES.length, nodes: NODES }]);
    assert.ok(sentence.includes(`FailedCreate: ${failedCreate?.message}`), sentence);
  });
}

test('in a terminating namespace, why and plan report why no Pod follows an ended one', async () => {
  const fleet = await DaemonFleet.start(NODES);
  try {
    const ref = { namespace: 'shops', name: 'web' };
    await fleet.registry.create(namespaceKind, undefined, { metadata: { name: 'shops' } });
    await fleet.registry.create(daemonSetKind, 'shops', daemonSet({ containers: CONTAINERS }));
    await fleet.settle();
    // No namespace controller runs in this test, so the objects are kept.
    await fleet.registry.delete(namespaceKind, { name: 'shops' });
    const { records } = await fleet.registry.list(podKind, { namespace: 'shops' });
    const pod = records[0]?.object();
    assert.ok(pod);
    await fleet.registry.delete(podKind, { namespace: 'shops', name: pod.metadata.name });
    await fleet.settle();
    const message = /unable to create new content in namespace shops because it is being terminated$/;
    const { code, failedCreate } = new DaemonSetExplainer(fleet).explainNode(ref, pod.spec.nodeName ?? '');
    assert.equal(code, 'FailedCreate');
    assert.match(failedCreate?.message ?? '', message);
    const manifest = { ...daemonSet({ containers: CONTAINERS }), metadata: ref };
    const { verdict, daemonSets } = await new ManifestPlanner(fleet).planManifests(
      { manifests: [manifest] },
      READS_ALL,
    );
    assert.equal(verdict, 'Blocked');
    assert.match(daemonSets[0]?.blockedBy ?? '', message);
  } finally {
    await fleet.stop();
  }
});

refusedTest('why counts the rejections and forgets them when a Pod is created', async (refusing) => {
  await refusing.apply(ROBOT);
  const first = refusing.why('n0').failedCreate;
  refusing.fleet.clock.advance(1_000);
  await refusing.fleet.settle();
  const second = refusing.why('n0').failedCreate;
  assert.ok((second?.count ?? 0) > (first?.count ?? 0), `${first?.count}, then ${second?.count}`);
  assert.equal(second?.firstTime, first?.firstTime);
  const account = { metadata: { name: 'robot' } };
  await refusing.fleet.registry.create(serviceAccountKind, 'default', account);
  await refusing.fleet.settle();
  refusing.fleet.clock.advance(60_000);
  await refusing.fleet.settle();
  assert.deepEqual([refusing.why('n0').code, refusing.why('n0').failedCreate], ['Running', undefined]);
  assert.equal((await refusing.fleetReasons()).failedCreate, undefined);
});

refusedTest('after many rejections, a change of the template is tried at once', async (refusing) => {
  await refusing.apply({ containers: [{ name: 'app', image: 'app:1 ' }] });
  for (let round = 0; round < 12; round += 1) {
    refusing.fleet.clock.advance(2 ** round * 10);
    await refusing.fleet.settle();
  }
  await refusing.fleet.change('web', ({ spec }) => {
    spec.template.spec = { containers: CONTAINERS };
  });
  await refusing.fleet.settle();
  const { records } = await refusing.fleet.registry.list(podKind, { namespace: 'default' });
  assert.equal(records.length, NODES.length);
  assert.equal(refusing.why('n0').failedCreate, undefined);
});

refusedTest('plan treats objects that the same manifests create as existing', async (refusing) => {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } };
  assert.equal((await refusing.plan(account, daemonSet(ROBOT))).verdict, 'Changes');
  assert.equal((await refusing.plan(daemonSet(ROBOT), account)).verdict, 'Changes');
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const shops = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shops', labels } };
  const web = daemonSet({ containers: CONTAINERS });
  const inShops = { ...web, metadata: { name: 'web', namespace: 'shops' } };
  const { refused, verdict, daemonSets } = await refusing.plan(shops, inShops);
  assert.deepEqual([refused, verdict], [[], 'Blocked']);
  assert.match(daemonSets[0]?.blockedBy ?? '', /violates PodSecurity "restricted:latest"/);
});

refusedTest('a rolling update stops as many Pods as it may, as plan predicts', async (refusing) => {
  await refusing.apply({ containers: CONTAINERS });
  const { verdict, daemonSets } = await refusing.plan(daemonSet(ROBOT));
  assert.equal(verdict, 'Blocked');
  assert.deepEqual([daemonSets[0]?.counts.stop, daemonSets[0]?.counts.wait], [1, 2]);
  await refusing.fleet.change('web', ({ spec }) => {
    spec.template.spec = ROBOT;
  });
  await refusing.fleet.settle();
  assert.equal(refusing.fleet.pods().length, 2);
  const { reasons } = await refusing.fleetReasons();
  assert.deepEqual(reasons, [{ code: 'FailedCreate', count: NODES.length, nodes: NODES }]);
});

refusedTest('with surge no Pod stops for one that is rejected', async (refusing) => {
  const updateStrategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  await refusing.apply({ containers: CONTAINERS }, { updateStrategy });
  const { verdict, daemonSets } = await refusing.plan(daemonSet(ROBOT, { updateStrategy }));
  assert.equal(verdict, 'Blocked');
  assert.deepEqual([daemonSets[0]?.counts.stop, daemonSets[0]?.counts.wait], [0, NODES.length]);
});

refusedTest('no host gets a handover to a Pod that its namespace rejects', async (refusing) => {
  const { fleet } = refusing;
  const spec = { selector: {}, updateLock: {}, waves: [{ name: 'canary', nodes: 1 }] };
  await fleet.registry.create(rolloutPolicyKind, 'default', { metadata: { name: 'gentle' }, spec });
  await refusing.apply({ containers: CONTAINERS });
  await refusing.enforce('baseline');
  const hostPID: PodSpec = { containers: CONTAINERS, hostPID: true };
  const { daemonSets } = await refusing.plan(daemonSet(hostPID));
  assert.match(daemonSets[0]?.blockedBy ?? '', /violates PodSecurity "baseline:latest"/);
  assert.deepEqual([daemonSets[0]?.counts.stop, daemonSets[0]?.counts.wait], [0, NODES.length]);
  await fleet.change('web', ({ spec: changed }) => {
    changed.template.spec = hostPID;
  });
  await fleet.settle();
  fleet.clock.advance(1_000);
  await fleet.settle();
  const { records } = await fleet.registry.list(podKind, { namespace: 'default' });
  assert.deepEqual(
    records.map((record) => record.object().spec.hostPID ?? false),
    NODES.map(() => false),
  );
  const refused = fleet.events.filter((text) => text.startsWith('Warning FailedCreate'));
  assert.ok(refused.length > 0 && refused.length < 20, `${refused.length} Events`);
  const { reasons, failedCreate } = await refusing.fleetReasons();
  assert.match(failedCreate?.message ?? '', /violates PodSecurity "baseline:latest"/);
  assert.deepEqual(
    reasons.map(({ code, count }) => [code, count]),
    [
      ['FailedCreate', 1],
      ['WaitingForWave', 2],
    ],
  );
});
