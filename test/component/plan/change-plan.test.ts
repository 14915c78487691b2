/** Plans over a running controller. Their predictions equal the result of applying the manifests. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManifestPlanner } from '../../../coordinator/controllers/plan/manifest-planner.js';
import { daemonSetKind, nodeKind, rolloutPolicyKind } from '../../../coordinator/kinds/index.js';
import type { DaemonSetPlan, Plan, PlannedHost } from '../../../shared/kube/fleet/plan-types.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { READS_ALL } from '../../harness/api/access-fixture.js';
import { until } from '../../harness/basics/wait-until.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';

const NODES = Array.from({ length: 12 }, (_, index) => `n${index}`);
const SPEC: Omit<RolloutPolicySpec, 'selector'> = {
  waves: [
    { name: 'canary', nodes: 2, soakSeconds: 60 },
    { name: 'some', nodes: 4, maxUnavailable: 2, approval: 'Manual' },
  ],
};
const REF = { namespace: 'default', name: 'web' };

const daemonSet = (image: string, change: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    updateStrategy: { rollingUpdate: { maxUnavailable: 3 } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image }] } },
    ...change,
  },
});
const policy = (spec: Omit<RolloutPolicySpec, 'selector'>) => ({
  apiVersion: 'fleet.everynode.dev/v1',
  kind: 'RolloutPolicy',
  metadata: { name: 'gentle' },
  spec: { selector: {}, ...spec },
});

class Planned {
  readonly planner: ManifestPlanner;

  constructor(readonly fleet: DaemonFleet) {
    this.planner = new ManifestPlanner(fleet);
  }

  plan(...manifests: unknown[]): Promise<Plan> {
    return this.planner.planManifests({ manifests }, READS_ALL);
  }

  async one(...manifests: unknown[]): Promise<DaemonSetPlan> {
    const { daemonSets } = await this.plan(...manifests);
    assert.equal(daemonSets.length, 1);
    assert.ok(daemonSets[0]);
    return daemonSets[0];
  }

  async rollOut(image: string): Promise<void> {
    await this.fleet.registry.create(daemonSetKind, 'default', daemonSet(image));
    await this.fleet.rolledOut('web');
  }

  async govern(spec: Omit<RolloutPolicySpec, 'selector'>): Promise<void> {
    const { metadata, spec: own } = policy(spec);
    await this.fleet.registry.create(rolloutPolicyKind, 'default', { metadata, spec: own });
    await this.fleet.settle();
  }
}

function planTest(rule: string, check: (planned: Planned) => Promise<void>): void {
  test(rule, async () => {
    const fleet = await DaemonFleet.start(NODES);
    try {
      await check(new Planned(fleet));
    } finally {
      await fleet.stop();
    }
  });
}

const named = (hosts: readonly PlannedHost[], choose: (host: PlannedHost) => boolean) =>
  hosts
    .filter(choose)
    .map(({ node }) => node)
    .sort();

describe('without a policy', () => {
  planTest('a new DaemonSet is created on the nodes that the plan listed', async (planned) => {
    await planned.fleet.label('n3', { disk: 'ssd' });
    await planned.fleet.settle();
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'app', image: 'app:1' }], nodeSelector: { disk: 'ssd' } },
    };
    const manifest = daemonSet('app:1', { template });
    const plan = await planned.one(manifest);
    assert.deepEqual([plan.change, plan.counts.start, plan.counts.none], ['Create', 1, 11]);
    assert.deepEqual(plan.reasons, [
      { code: 'Creating', count: 1 },
      { code: 'NodeSelectorMismatch', count: 11 },
    ]);
    assert.equal(planned.fleet.pods().length, 0, 'nothing was done');
    await planned.fleet.registry.create(daemonSetKind, 'default', manifest);
    await planned.fleet.rolledOut('web');
    assert.deepEqual(
      Object.keys(planned.fleet.images()),
      named(plan.hosts, ({ action }) => action === 'start'),
    );
  });

  planTest('a replace removes unnamed fields, and is rejected when it is outdated', async (planned) => {
    const { planner, fleet } = planned;
    await planned.rollOut('app:1');
    const stored = (await fleet.registry.get(daemonSetKind, REF)).object();
    const selective = { ...stored.spec.template.spec, nodeSelector: { disk: 'ssd' } };
    const narrowed = {
      ...stored,
      spec: { ...stored.spec, template: { ...stored.spec.template, spec: selective } },
    };
    await fleet.registry.update(daemonSetKind, REF, narrowed);
    await fleet.settle();
    const current = (await fleet.registry.get(daemonSetKind, REF)).object();
    const back = {
      ...stored,
      metadata: { ...stored.metadata, resourceVersion: current.metadata.resourceVersion },
    };
    const plan = await planner.planManifests({ manifests: [back], mode: 'replace' }, READS_ALL);
    assert.deepEqual([plan.verdict, plan.daemonSets[0]?.counts.start], ['Changes', NODES.length]);
    const late = await planner.planManifests({ manifests: [stored], mode: 'replace' }, READS_ALL);
    assert.equal(late.verdict, 'Blocked');
    assert.match(late.refused[0]?.message ?? '', /the object has been modified/);
  });

  planTest('a new template replaces as many Pods at once as the budget allows', async (planned) => {
    await planned.rollOut('app:1');
    assert.equal((await planned.plan(daemonSet('app:1'))).verdict, 'NoChange');
    const plan = await planned.one(daemonSet('app:2'));
    assert.equal(plan.counts.replace, 12);
    assert.deepEqual(plan.reasons, [
      { code: 'Updating', count: 3 },
      { code: 'Budget', count: 9 },
    ]);
    // Four rounds of three, each with a stop and a start.
    const starts = new Set(plan.hosts.map(({ startSeconds }) => startSeconds));
    assert.equal(starts.size, 4);
  });

  planTest('a removed label stops the Pods that require it', async (planned) => {
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'app', image: 'app:1' }], nodeSelector: { disk: 'ssd' } },
    };
    for (const name of ['n1', 'n2']) await planned.fleet.label(name, { disk: 'ssd' });
    await planned.fleet.registry.create(daemonSetKind, 'default', daemonSet('app:1', { template }));
    await planned.fleet.rolledOut('web');
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels: { disk: 'hdd' } } };
    const plan = await planned.one(node);
    assert.deepEqual(
      named(plan.hosts, ({ action }) => action === 'stop'),
      ['n1'],
    );
    assert.equal(plan.counts.keep, 1);
  });

  planTest('what the API refuses is named, and the rest is planned all the same', async (planned) => {
    const wrong = { ...daemonSet('app:1'), metadata: { name: 'Wrong Name' } };
    const { verdict, refused, daemonSets, notes } = await planned.plan(wrong, daemonSet('app:1'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'other' },
    });
    assert.equal(verdict, 'Blocked');
    assert.deepEqual([refused[0]?.name, daemonSets.length], ['Wrong Name', 1]);
    assert.match(notes[0] ?? '', /ConfigMap other: does not start or stop Pods/);
  });
});

describe('with a policy', () => {
  planTest('waves, their times and their hosts equal those of the following rollout', async (planned) => {
    const { fleet } = planned;
    await planned.govern(SPEC);
    await planned.rollOut('app:1');
    const plan = await planned.one(daemonSet('app:2'));
    assert.equal(plan.policy, 'gentle');
    assert.deepEqual(
      plan.waves.map(({ name, changes, needsApproval }) => [name, changes, needsApproval === true]),
      [
        ['canary', 2, false],
        ['some', 4, true],
        ['rest', 6, false],
      ],
    );
    assert.ok(plan.assumptions.some((text) => text.includes('wave some is approved')));
    assert.ok((plan.waves[1]?.startSeconds ?? 0) >= 60, 'the canaries are watched first');
    assert.deepEqual(plan.reasons, [
      { code: 'Updating', count: 2 },
      { code: 'WaitingForWave', count: 10 },
    ]);
    const canaries = named(plan.hosts, ({ wave }) => wave === 'canary');
    await fleet.setImage('web', 'app:2');
    const updated = () => Object.entries(fleet.images()).filter(([, image]) => image === 'app:2');
    await until(() => updated().length === 2);
    await fleet.settle();
    assert.deepEqual(
      updated()
        .map(([node]) => node)
        .sort(),
      canaries,
    );
    const status = fleet.informers.rollouts.get(REF)?.status;
    assert.deepEqual(
      status?.waves.map(({ nodes }) => nodes),
      [2, 4, 6],
    );
  });

  planTest('a template with another node selector removes and creates Pods wave by wave', async (planned) => {
    const { fleet } = planned;
    for (const [index, node] of NODES.entries()) await fleet.label(node, { zone: index < 8 ? 'a' : 'b' });
    const zoneB = { name: 'b', nodeSelector: { matchLabels: { zone: 'b' } } };
    await planned.govern({ waves: [{ name: 'canary', nodes: 2, soakSeconds: 60 }, zoneB] });
    await planned.rollOut('app:1');
    const template = (image: string, values: string[]) => {
      const { template: made } = daemonSet(image).spec;
      const nodeSelectorTerms = [{ matchExpressions: [{ key: 'zone', operator: 'In', values }] }];
      const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
      return { template: { ...made, spec: { ...made.spec, affinity: { nodeAffinity: required } } } };
    };
    const narrow = template('app:2', ['a']);
    const narrowed = await planned.one(daemonSet('app:2', narrow));
    const taken = named(narrowed.hosts, ({ action }) => action === 'stop');
    assert.deepEqual(taken, ['n10', 'n11', 'n8', 'n9']);
    assert.ok(narrowed.hosts.every(({ action }) => action === 'stop' || action === 'replace'));
    await fleet.change('web', ({ spec }) => {
      spec.template.spec = narrow.template.spec as PodSpec;
    });
    const phase = () => fleet.informers.rollouts.get(REF)?.status?.phase;
    await until(() => phase() === 'Soaking' || `${phase()}`);
    fleet.clock.advance(60_000);
    await until(() => phase() === 'Completed' || `${phase()}`);
    await fleet.settle();
    const widened = await planned.one(daemonSet('app:3', template('app:3', ['a', 'b'])));
    assert.deepEqual(
      named(widened.hosts, ({ action }) => action === 'start'),
      taken,
    );
    const [first] = widened.hosts.filter(({ action }) => action === 'start');
    assert.equal(first?.code, first?.wave === 'canary' ? 'Creating' : 'WaitingForWave');
    assert.equal(
      widened.waves.reduce((sum, { nodes }) => sum + nodes, 0),
      12,
    );
  });

  planTest('a rollout that needs an approval is blocked, and the plan says by what', async (planned) => {
    await planned.rollOut('app:1');
    const { verdict, daemonSets } = await planned.plan(policy({ paused: true }), daemonSet('app:2'));
    assert.equal(verdict, 'Blocked');
    assert.match(daemonSets[0]?.blockedBy ?? '', /the policy is paused/);
    assert.deepEqual(daemonSets[0]?.reasons, [{ code: 'RolloutPaused', count: 12 }]);
    assert.equal(daemonSets[0]?.counts.wait, 12);
  });

  planTest('a closed window delays hosts until it opens', async (planned) => {
    // The clock is at midnight, UTC.
    const windows = [{ schedule: '0 3 * * *', durationSeconds: 3600 }];
    await planned.govern({ windows });
    await planned.rollOut('app:1');
    const plan = await planned.one(daemonSet('app:2'));
    assert.deepEqual(plan.reasons, [{ code: 'OutsideWindow', count: 12 }]);
    const first = Math.min(...plan.hosts.map(({ startSeconds = 0 }) => startSeconds));
    assert.ok(first >= 2 * 3600 && first <= 3 * 3600, `the first begins after ${first} s`);
    assert.equal(plan.counts.replace, 12);
  });

  planTest('the estimate includes the time in which hosts confirm their Pods', async (planned) => {
    await planned.govern({ confirm: { deadlineSeconds: 60 } });
    await planned.rollOut('app:1');
    // Three at a time of twelve.
    const plan = await planned.one(daemonSet('app:2'));
    assert.equal(plan.counts.replace, 12);
    const { endSeconds = 0 } = plan;
    assert.ok(endSeconds >= 240 && endSeconds < 300, `${endSeconds} s`);
    planned.fleet.agents.startsHandovers = false;
    await planned.fleet.setImage('web', 'app:2');
    const { informers, clock } = planned.fleet;
    const end = () => informers.rollouts.get(REF)?.status?.estimatedEndTime;
    await until(() => end() !== undefined || 'no estimate yet');
    const leftSeconds = (Date.parse(end() ?? '') - clock.now()) / 1000;
    assert.ok(leftSeconds >= 240 && leftSeconds < 300, `${leftSeconds} s are left`);
  });

  planTest('offline hosts are updated later, and block none', async (planned) => {
    await planned.govern(SPEC);
    await planned.rollOut('app:1');
    await planned.fleet.registry.modify(
      nodeKind,
      { name: 'n5' },
      (stored): undefined => {
        stored.status = { ...stored.status, conditions: [{ type: 'Connected', status: 'False' }] };
      },
      { subresource: 'status' },
    );
    await planned.fleet.settle();
    const plan = await planned.one(daemonSet('app:2'));
    assert.deepEqual([plan.counts.replace, plan.counts.wait, plan.blockedBy], [11, 1, undefined]);
    const [dark] = plan.hosts.filter(({ node }) => node === 'n5');
    assert.equal(dark?.code, 'DeferredOffline');
  });

  planTest('the same fleet and manifests give the same plan', async (planned) => {
    await planned.govern(SPEC);
    await planned.rollOut('app:1');
    assert.deepEqual(await planned.plan(daemonSet('app:2')), await planned.plan(daemonSet('app:2')));
  });
});
