/** Rollouts by waves: their progress, and the conditions that block them. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import { daemonSetKind, nodeKind, rolloutPolicyKind } from '../../../coordinator/kinds/index.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { PAST_ROLLOUT_LABEL } from '../../../shared/kube/rollouts/rollout-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { isNew, REF, SOAK_MS, withPolicy } from '../../harness/controllers/rollout-fixture.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';

const WAVES = [
  { name: 'canary', nodes: 1, soakSeconds: SOAK_MS / 1000 },
  { name: 'some', nodes: '30%', maxUnavailable: 1 },
];

describe('a rollout by waves', () => {
  withPolicy(
    'runs wave by wave, each done and soaked before the next, and each within its own budget',
    { waves: WAVES },
    async (rolling) => {
      const { fleet } = rolling;
      fleet.agents.ready = (pod) => !isNew(pod);
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 1);
      await rolling.makeNewReady();
      await rolling.expectStatus('Soaking', 'canary', 1);
      assert.deepEqual(rolling.status?.codes, { Soaking: 1, WaitingForWave: 9 });
      const { conditions = [], observedGeneration } = rolling.status ?? {};
      assert.deepEqual(
        [observedGeneration, ...conditions.map(({ type, status }) => `${type}=${status}`)],
        [1, 'Ready=False', 'Reconciling=True', 'Stalled=False'],
      );
      assert.ok(rolling.status?.estimatedEndTime);
      await rolling.advance(SOAK_MS - 1_000);
      await rolling.expectStatus('Soaking', 'canary', 1);
      await rolling.advance(1_000);
      for (const updated of [2, 3, 4]) {
        await rolling.expectStatus('Progressing', 'some', updated);
        await rolling.makeNewReady();
      }
      await rolling.expectStatus('Progressing', 'rest', 10);
      await rolling.makeNewReady();
      await rolling.expectStatus('Completed', 'rest', 10);
      const { nodes, updated, failed, deferred, waves } = rolling.status ?? {};
      assert.ok(isConditionTrue(rolling.status?.conditions, 'Ready'));
      await until(
        () => isConditionTrue(fleet.informers.daemonSets.get(REF)?.status?.conditions, 'Ready') || undefined,
      );
      assert.deepEqual([nodes, updated, failed, deferred], [10, 10, 0, 0]);
      assert.deepEqual(
        waves?.map((wave) => wave.nodes),
        [1, 3, 6],
      );
    },
  );

  withPolicy(
    'finds its open wave by name when the policy gets another wave before it',
    { waves: WAVES },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Soaking', 'canary', 1);
      await rolling.policy((spec) => {
        spec.waves = [{ name: 'lab', nodes: 2, approval: 'Manual' }, ...(spec.waves ?? [])];
      });
      await rolling.advance(1_000);
      assert.equal(rolling.status?.wave, 'canary');
      assert.ok((rolling.images['app:2'] ?? 0) <= 3);
    },
  );

  withPolicy(
    'assigns the same canary for the next release',
    { waves: [{ name: 'canary', nodes: 1, approval: 'Automatic', soakSeconds: 5 }] },
    async (rolling) => {
      const { fleet } = rolling;
      const canary = async (image: string) => {
        await fleet.setImage('web', image);
        await until(() => Object.values(fleet.images()).filter((one) => one === image).length === 1);
        const [node] = Object.entries(fleet.images()).find(([, one]) => one === image) ?? [];
        return node;
      };
      const first = await canary('app:2');
      assert.ok(first);
      assert.equal(await canary('app:3'), first);
    },
  );

  withPolicy('continues in the same wave when the controller restarts', { waves: WAVES }, async (rolling) => {
    const { fleet } = rolling;
    fleet.agents.ready = (pod) => !isNew(pod);
    await fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Progressing', 'canary', 1);
    await fleet.restartController();
    await rolling.expectStatus('Progressing', 'canary', 1);
    await rolling.makeNewReady();
    await rolling.expectStatus('Soaking', 'canary', 1);
    await fleet.restartController();
    await rolling.expectStatus('Soaking', 'canary', 1);
    await rolling.advance(SOAK_MS);
    await rolling.expectStatus('Progressing', 'some', 2);
    await fleet.restartController();
    await rolling.expectStatus('Progressing', 'some', 2);
  });
});

describe('past rollouts', () => {
  withPolicy(
    "keep their outcome, with causes and times, up to the policy's limit",
    {
      failureBudget: { maxFailed: 0, action: 'RollBack' },
      rolloutHistoryLimit: 2,
      waves: [{ name: 'canary', nodes: 2 }],
    },
    async (rolling) => {
      const { fleet } = rolling;
      const past = () =>
        [...fleet.informers.rollouts.list()]
          .filter(({ metadata }) => metadata.labels?.[PAST_ROLLOUT_LABEL] === 'web')
          .map(({ metadata, status }) => `${metadata.name} ${status?.phase} ${status?.failures?.length ?? 0}`)
          .sort();
      fleet.agents.ready = (pod) => !isNew(pod);
      await fleet.setImage('web', 'app:2');
      await until(() => rolling.newPods().length > 0);
      const [ill] = rolling.newPods();
      assert.ok(ill);
      await rolling.crash(ill);
      await rolling.expectStatus('RolledBack', 'canary', 0);
      const [failure] = rolling.status?.failures ?? [];
      assert.deepEqual([failure?.node, failure?.reason], [ill.spec.nodeName, 'CrashLoopBackOff']);
      assert.ok(rolling.status?.endTime);
      fleet.agents.ready = () => true;
      await fleet.setImage('web', 'app:3');
      await fleet.rolledOut('web');
      await until(() => past().includes('web.r2 RolledBack 1') || past().join());
      await fleet.restartController();
      await fleet.setImage('web', 'app:4');
      await fleet.rolledOut('web');
      await fleet.settle();
      assert.deepEqual(past(), ['web.r2 RolledBack 1', 'web.r3 Completed 0']);
    },
  );

  withPolicy(
    'a rollout that another one replaced is recorded as replaced',
    { waves: WAVES },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Soaking', 'canary', 1);
      await fleet.setImage('web', 'app:3');
      const phase = () => fleet.informers.rollouts.get({ ...REF, name: 'web.r2' })?.status?.phase;
      await until(() => phase() === 'Superseded' || `${phase()}`);
    },
  );

  withPolicy(
    'a rollout whose policy is deleted ends there, and is kept in the history',
    { waves: WAVES },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Soaking', 'canary', 1);
      const before = rolling.status;
      await fleet.registry.delete(rolloutPolicyKind, { namespace: 'default', name: 'gentle' });
      await until(() => rolling.status === undefined);
      const kept = fleet.informers.rollouts.get({ ...REF, name: 'web.r2' })?.status;
      assert.equal(kept?.phase, 'Superseded');
      assert.equal(kept?.message, `no policy governs the DaemonSet any longer: ${before?.message}`);
      assert.deepEqual([kept?.updated, kept?.waves], [before?.updated, before?.waves]);
      assert.ok(kept?.endTime);
      assert.deepEqual(
        fleet.events.filter((event) => event.includes('RolloutSuperseded')),
        [`Warning RolloutSuperseded ${kept?.message}`],
      );
      await fleet.rolledOut('web');
      assert.equal(rolling.status, undefined, 'upstream rolls on without one');
    },
  );

  withPolicy(
    'are kept when the policy is deleted, next to those of the same revision under the next one',
    { waves: WAVES, rolloutHistoryLimit: 12 },
    async (rolling) => {
      const { fleet } = rolling;
      const past = () =>
        [...fleet.informers.rollouts.list()].filter(
          ({ metadata }) => metadata.labels?.[PAST_ROLLOUT_LABEL] === 'web',
        );
      for (let release = 2; release <= 12; release += 1) {
        await fleet.setImage('web', `app:${release}`);
        await until(() => {
          const { phase, revisionNumber } = rolling.status ?? {};
          return (phase === 'Soaking' && revisionNumber === release) || `${revisionNumber} ${phase}`;
        });
      }
      await fleet.settle();
      const started = rolling.status?.startTime;
      await fleet.registry.delete(rolloutPolicyKind, { namespace: 'default', name: 'gentle' });
      await until(() => rolling.status === undefined);
      await fleet.rolledOut('web');
      assert.equal(past().length, 12);
      await rolling.advance(3_600_000);
      const policy = { metadata: { name: 'next' }, spec: { selector: {}, rolloutHistoryLimit: 12 } };
      await fleet.registry.create(rolloutPolicyKind, 'default', policy);
      await until(() => rolling.status?.phase === 'Completed');
      const again = rolling.status?.startTime;
      assert.notEqual(again, started);
      await fleet.setImage('web', 'app:13');
      await fleet.rolledOut('web');
      const kept = (name: string) => past().find(({ metadata }) => metadata.name === name)?.status;
      await until(() => kept('web.r12.2')?.phase === 'Completed');
      assert.deepEqual(
        [kept('web.r12')?.phase, kept('web.r12')?.startTime, kept('web.r12.2')?.startTime],
        ['Superseded', started, again],
      );
    },
  );

  withPolicy('a rollout whose DaemonSet becomes OnDelete ends there', { waves: WAVES }, async (rolling) => {
    const { fleet } = rolling;
    await fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Soaking', 'canary', 1);
    const { message } = rolling.status ?? {};
    await fleet.change('web', ({ spec }) => {
      spec.updateStrategy = { type: 'OnDelete' };
    });
    await until(() => rolling.status === undefined);
    const kept = fleet.informers.rollouts.get({ ...REF, name: 'web.r2' })?.status;
    assert.equal(kept?.message, `the update strategy is OnDelete now: ${message}`);
  });

  withPolicy(
    'are not kept for a DaemonSet whose name is too long for a label',
    { waves: WAVES },
    async ({ fleet }) => {
      const name = 'w'.repeat(64);
      const ref = { namespace: 'default', name };
      const { spec } = daemonSet('till');
      await fleet.registry.create(daemonSetKind, 'default', { metadata: { name }, spec });
      const revision = () => fleet.informers.rollouts.get(ref)?.status?.revision;
      await until(() => revision() !== undefined);
      const first = revision();
      await fleet.registry.modify(daemonSetKind, ref, ({ spec: { template } }): undefined => {
        template.spec.containers = [{ name: 'app', image: 'app:2' }];
      });
      await until(() => revision() !== first);
    },
  );
});

withPolicy(
  'the first Event of a rollout has the number of its nodes, and so has that of the next revision',
  { waves: [{ name: 'canary', nodes: 3 }] },
  async (rolling) => {
    const rollouts = () => rolling.fleet.events.filter((text) => /^Normal Rollout/.test(text));
    // The first Pods may be ready by then.
    const [, updated = '0', starting] =
      /^Normal RolloutCompleted (?:the first revision has nothing to replace|(\d+) nodes? (?:is|are) updated), (\d+) gets? /.exec(
        rollouts()[0] ?? '',
      ) ?? [];
    assert.equal(Number(updated) + Number(starting), 10, rollouts()[0]);
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Completed', 'rest', 10);
    const messages = new Set(rollouts());
    assert.ok(messages.has('Normal RolloutProgressing wave canary: 3 nodes to go'), [...messages].join('\n'));
    assert.ok(messages.has('Normal RolloutCompleted all nodes are updated'), [...messages].join('\n'));
  },
);

describe('holds', () => {
  const waves = [
    { name: 'canary', nodes: 2 },
    { name: 'shops', nodes: 3, approval: 'Manual' as const },
  ];
  withPolicy('a wave that waits for an approval opens once, when it is named', { waves }, async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('AwaitingApproval', 'canary', 2);
    const { reasons } = await new DaemonSetExplainer(rolling.fleet).explainFleet(REF);
    assert.deepEqual(
      reasons.map(({ code, count }) => `${count} ${code}`),
      ['2 Running', '3 WaitingForApproval', '5 WaitingForWave'],
    );
    const explainer = new DaemonSetExplainer(rolling.fleet);
    const wish = { codes: ['WaitingForApproval'], limit: 2 };
    const first = await explainer.rolloutHosts(REF, wish);
    assert.deepEqual([first.total, first.hosts.length, first.hosts[0]?.wave], [3, 2, 'shops']);
    assert.match(first.hosts[0]?.sentence ?? '', /its wave shops waits for approval/);
    const after = first.continue ?? '';
    const second = await explainer.rolloutHosts(REF, { ...wish, after });
    assert.deepEqual([second.total, second.hosts.length, second.continue], [3, 1, undefined]);
    const { code, rollout } = explainer.explainNode(REF, first.hosts[0]?.node ?? '');
    assert.deepEqual([code, rollout], ['WaitingForApproval', { code: 'WaitingForApproval', wave: 'shops' }]);
    await rolling.approve('rest');
    await rolling.expectStatus('AwaitingApproval', 'canary', 2);
    await rolling.approve('shops');
    await rolling.expectStatus('Completed', 'rest', 10);
    const { metadata, status } = rolling.fleet.informers.rollouts.get(REF) ?? {};
    assert.equal(metadata?.annotations, undefined, 'it has become a request');
    assert.deepEqual(
      status?.steering?.requests?.map(({ verb, targets, user }) => [verb, targets, user]),
      [
        ['approve', ['rest'], 'ann'],
        ['approve', ['shops'], 'ann'],
      ],
    );
  });

  withPolicy('a pause replaces nothing, and gives new hosts their Pod', { paused: true }, async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Paused', '', 0);
    const [node] = await rolling.fleet.informers.nodes.list();
    const { status } = node ?? {};
    await rolling.fleet.registry.create(nodeKind, undefined, { metadata: { name: 'late' } });
    await rolling.fleet.registry.modify(
      nodeKind,
      { name: 'late' },
      (stored): undefined => {
        if (status) stored.status = status;
      },
      { subresource: 'status' },
    );
    await rolling.expectStatus('Paused', '', 0);
    assert.equal(rolling.images['app:1'], 11, 'of the revision that is completed');
    await rolling.policy((spec) => {
      spec.paused = false;
    });
    await rolling.expectStatus('Completed', 'rest', 11);
  });

  withPolicy('without its policy a DaemonSet is updated as upstream', { paused: true }, async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Paused', '', 0);
    await rolling.fleet.registry.delete(rolloutPolicyKind, { namespace: 'default', name: 'gentle' });
    await rolling.fleet.rolledOut('web');
    assert.deepEqual(rolling.images, { 'app:2': 10 });
    assert.equal(rolling.status, undefined, 'a Rollout that nothing keeps true is gone');
  });
});
