/** Rollouts by waves: the controller over a registry, with stand-ins for the agents. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DaemonSetExplainer } from '../../coordinator/controllers/daemonset-explain.js';
import { nodeKind, podKind, rolloutKind, rolloutPolicyKind } from '../../coordinator/kinds/index.js';
import type { ConditionStatus } from '../../shared/kube/conditions.js';
import type { Pod } from '../../shared/kube/pod.js';
import { APPROVE_ANNOTATION, type RolloutPolicySpec, type RolloutStatus } from '../../shared/kube/rollout.js';
import { DaemonFleet, type FleetOptions } from '../harness/daemon-fleet.js';
import { eventually } from '../harness/eventually.js';

const NODES = Array.from({ length: 10 }, (_, index) => `n${index}`);
const REF = { namespace: 'default', name: 'web' };
const SOAK_MS = 60_000;

const isNew = (pod: Pod) => pod.spec.containers[0]?.image === 'app:2';

class Rolling {
  constructor(readonly fleet: DaemonFleet) {}

  get status(): RolloutStatus | undefined {
    return this.fleet.informers.rollouts.get(REF)?.status;
  }

  /** How many nodes have each image. */
  get images(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const image of Object.values(this.fleet.images())) counts[image] = (counts[image] ?? 0) + 1;
    return counts;
  }

  /** Phase, open wave, and nodes with the new image. */
  async stands(phase: string, wave: string, updated: number): Promise<void> {
    await this.fleet.settle();
    await eventually(() => {
      const found = [this.status?.phase, this.status?.wave, this.images['app:2'] ?? 0].join();
      return found === [phase, wave, updated].join() || `${found} ${this.status?.message}`;
    });
    await this.fleet.settle();
    assert.equal(this.images['app:2'] ?? 0, updated, 'and it stays so');
  }

  async advance(ms: number): Promise<void> {
    this.fleet.clock.advance(ms);
    await this.fleet.settle();
  }

  async policy(change: (spec: RolloutPolicySpec) => void): Promise<void> {
    await this.fleet.registry.modify(
      rolloutPolicyKind,
      { namespace: 'default', name: 'gentle' },
      ({ spec }): undefined => {
        change(spec);
      },
    );
    await this.fleet.settle();
  }

  async approve(wave: string): Promise<void> {
    await this.fleet.registry.modify(rolloutKind, REF, ({ metadata }): undefined => {
      metadata.annotations = { [APPROVE_ANNOTATION]: wave };
    });
    await this.fleet.settle();
  }

  /** What a node's agent is to the coordinator. */
  async contact(node: string, ready: ConditionStatus, connected: ConditionStatus): Promise<void> {
    const conditions = [
      { type: 'Ready', status: ready },
      { type: 'Connected', status: connected },
    ];
    await this.fleet.registry.modify(
      nodeKind,
      { name: node },
      (stored): undefined => {
        stored.status = { ...stored.status, conditions };
      },
      { subresource: 'status' },
    );
    await this.fleet.settle();
  }

  async crash(pod: Pod): Promise<void> {
    const waiting = { reason: 'CrashLoopBackOff' };
    await this.fleet.registry.modify(
      podKind,
      pod.metadata,
      (stored): undefined => {
        const status = {
          name: 'app',
          image: 'app:2',
          imageID: '',
          ready: false,
          restartCount: 1,
          state: { waiting },
        };
        stored.status = { ...stored.status, phase: 'Running', containerStatuses: [status] };
      },
      { subresource: 'status' },
    );
    await this.fleet.settle();
  }

  newPods(): Pod[] {
    return this.fleet.pods().filter(isNew);
  }

  async makeNewReady(): Promise<void> {
    for (const pod of this.newPods()) await this.fleet.setPod(pod, 'Running', true);
    await this.fleet.settle();
  }
}

/** A DaemonSet `web` of `app:1`, rolled out to ten nodes, and a policy. */
function withPolicy(
  rule: string,
  spec: Omit<RolloutPolicySpec, 'selector'>,
  check: (rolling: Rolling) => Promise<void>,
  options: FleetOptions = {},
): void {
  test(rule, async () => {
    const fleet = await DaemonFleet.start(NODES, options);
    const rolling = new Rolling(fleet);
    try {
      const policy = { metadata: { name: 'gentle' }, spec: { selector: {}, ...spec } };
      await fleet.registry.create(rolloutPolicyKind, 'default', policy);
      await fleet.create('web', {
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
      });
      await fleet.setImage('web', 'app:1');
      await fleet.rolledOut('web');
      await rolling.stands('Completed', 'rest', 0);
      await check(rolling);
    } finally {
      await fleet.stop();
    }
  });
}

const WAVES = [
  { name: 'canary', nodes: 1, soakSeconds: SOAK_MS / 1000 },
  { name: 'some', nodes: '30%', maxUnavailable: 1 },
];

describe('a rollout by waves', () => {
  withPolicy(
    'goes wave by wave, each done and soaked before the next, within each its own budget',
    { waves: WAVES },
    async (rolling) => {
      const { fleet } = rolling;
      fleet.agents.ready = (pod) => !isNew(pod);
      await fleet.setImage('web', 'app:2');
      await rolling.stands('Progressing', 'canary', 1);
      await rolling.makeNewReady();
      await rolling.stands('Soaking', 'canary', 1);
      await rolling.advance(SOAK_MS - 1_000);
      await rolling.stands('Soaking', 'canary', 1);
      await rolling.advance(1_000);
      for (const updated of [2, 3, 4]) {
        await rolling.stands('Progressing', 'some', updated);
        await rolling.makeNewReady();
      }
      await rolling.stands('Progressing', 'rest', 10);
      await rolling.makeNewReady();
      await rolling.stands('Completed', 'rest', 10);
      const { nodes, updated, failed, deferred, waves } = rolling.status ?? {};
      assert.deepEqual([nodes, updated, failed, deferred], [10, 10, 0, 0]);
      assert.deepEqual(
        waves?.map((wave) => wave.nodes),
        [1, 3, 6],
      );
    },
  );

  withPolicy(
    'finds its open wave by name when the policy gets another before it',
    { waves: WAVES },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.setImage('web', 'app:2');
      await rolling.stands('Soaking', 'canary', 1);
      await rolling.policy((spec) => {
        spec.waves = [{ name: 'lab', nodes: 2, approval: 'Manual' }, ...(spec.waves ?? [])];
      });
      await rolling.advance(1_000);
      assert.equal(rolling.status?.wave, 'canary');
      assert.ok((rolling.images['app:2'] ?? 0) <= 3);
    },
  );

  withPolicy(
    'draws the same canary for the next release',
    { waves: [{ name: 'canary', nodes: 1, approval: 'Automatic', soakSeconds: 5 }] },
    async (rolling) => {
      const { fleet } = rolling;
      const canary = async (image: string) => {
        await fleet.setImage('web', image);
        await eventually(() => Object.values(fleet.images()).filter((one) => one === image).length === 1);
        const [node] = Object.entries(fleet.images()).find(([, one]) => one === image) ?? [];
        return node;
      };
      const first = await canary('app:2');
      assert.ok(first);
      assert.equal(await canary('app:3'), first);
    },
  );

  withPolicy('goes on where it was when the controller restarts', { waves: WAVES }, async (rolling) => {
    const { fleet } = rolling;
    fleet.agents.ready = (pod) => !isNew(pod);
    await fleet.setImage('web', 'app:2');
    await rolling.stands('Progressing', 'canary', 1);
    await fleet.restartController();
    await rolling.stands('Progressing', 'canary', 1);
    await rolling.makeNewReady();
    await rolling.stands('Soaking', 'canary', 1);
    await fleet.restartController();
    await rolling.stands('Soaking', 'canary', 1);
    await rolling.advance(SOAK_MS);
    await rolling.stands('Progressing', 'some', 2);
    await fleet.restartController();
    await rolling.stands('Progressing', 'some', 2);
  });
});

describe('holds', () => {
  const waves = [
    { name: 'canary', nodes: 2 },
    { name: 'shops', nodes: 3, approval: 'Manual' as const },
  ];
  withPolicy('a wave that waits for approval opens once, when it is named', { waves }, async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.stands('AwaitingApproval', 'canary', 2);
    const { reasons } = await new DaemonSetExplainer(rolling.fleet).explainFleet(REF);
    assert.deepEqual(
      reasons.map(({ code, count }) => `${count} ${code}`),
      ['2 Running', '8 WaitingForWave'],
    );
    await rolling.approve('rest');
    await rolling.stands('AwaitingApproval', 'canary', 2);
    await rolling.approve('shops');
    await rolling.stands('Completed', 'rest', 10);
    assert.equal(
      rolling.fleet.informers.rollouts.get(REF)?.metadata.annotations?.[APPROVE_ANNOTATION],
      undefined,
    );
  });

  withPolicy('a pause replaces nothing, and serves new hosts', { paused: true }, async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.stands('Paused', '', 0);
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
    await rolling.stands('Paused', '', 0);
    assert.equal(rolling.images['app:1'], 11, 'of the revision that is completed');
    await rolling.policy((spec) => {
      spec.paused = false;
    });
    await rolling.stands('Completed', 'rest', 11);
  });

  withPolicy('without its policy a DaemonSet goes on as upstream', { paused: true }, async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.stands('Paused', '', 0);
    await rolling.fleet.registry.delete(rolloutPolicyKind, { namespace: 'default', name: 'gentle' });
    await rolling.fleet.rolledOut('web');
    assert.deepEqual(rolling.images, { 'app:2': 10 });
    assert.equal(rolling.status, undefined, 'a Rollout that nothing keeps true is gone');
  });
});

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
      await rolling.stands('Progressing', 'canary', 2);
      const [first, second] = rolling.newPods();
      assert.ok(first && second);
      await rolling.crash(first);
      // The budget of failures pays for it, so another host has its turn.
      await rolling.stands('Progressing', 'canary', 3);
      await rolling.crash(second);
      await rolling.stands('Failed', 'canary', 3);
      assert.match(rolling.status?.failure ?? '', /2 nodes have failed, 1 may/);
      assert.ok(fleet.events.some((event) => event.startsWith('Warning RolloutFailed')));
      await fleet.restartController();
      await rolling.advance(3_600_000);
      await rolling.stands('Failed', 'canary', 3);
      fleet.agents.ready = () => true;
      await fleet.setImage('web', 'app:3');
      await fleet.rolledOut('web');
      assert.equal(rolling.status?.phase, 'Completed');
      assert.equal(rolling.status?.failure, undefined);
    },
  );

  withPolicy(
    'a Pod that is not available in time is one',
    { failureBudget: { maxFailed: 0, progressDeadlineSeconds: 120 }, waves: [{ name: 'canary', nodes: 1 }] },
    async (rolling) => {
      rolling.fleet.agents.ready = (pod) => !isNew(pod);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.stands('Progressing', 'canary', 1);
      await rolling.advance(119_000);
      await rolling.stands('Progressing', 'canary', 1);
      await rolling.advance(1_000);
      await rolling.stands('Failed', 'canary', 1);
    },
  );

  withPolicy(
    'a host that was dark before its turn is deferred and catches up; one lost after it has failed',
    { waves: [{ name: 'canary', nodes: 2, soakSeconds: 60 }], failureBudget: { maxFailed: 0 } },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.setImage('web', 'app:2');
      await rolling.stands('Soaking', 'canary', 2);
      const canaries = rolling.newPods().map(({ spec }) => spec.nodeName ?? '');
      const [other = ''] = NODES.filter((name) => !canaries.includes(name));
      await rolling.contact(other, 'True', 'False');
      await rolling.advance(SOAK_MS);
      await rolling.stands('Completed', 'rest', 9);
      assert.equal(rolling.status?.deferred, 1);
      await rolling.contact(other, 'True', 'True');
      await rolling.stands('Completed', 'rest', 10);
      await fleet.setImage('web', 'app:1');
      await fleet.settle();
      await eventually(() => rolling.status?.phase === 'Soaking');
      await rolling.contact(canaries[0] ?? '', 'True', 'False');
      assert.equal(rolling.status?.phase, 'Soaking', 'a link that is down may be a blink');
      await rolling.contact(canaries[0] ?? '', 'Unknown', 'False');
      await eventually(() => rolling.status?.phase === 'Failed');
    },
  );

  const healing = { maxFailed: 0, action: 'RollBack' as const };
  withPolicy(
    'bring the touched hosts back by themselves, and no template is edited',
    { waves: [{ name: 'canary', nodes: 3, maxUnavailable: 2 }], failureBudget: healing },
    async (rolling) => {
      const { fleet } = rolling;
      fleet.agents.ready = (pod) => !isNew(pod);
      await fleet.setImage('web', 'app:2');
      await rolling.stands('Progressing', 'canary', 2);
      const [well, ill] = rolling.newPods();
      assert.ok(well && ill);
      await fleet.setPod(well, 'Running', true);
      await rolling.crash(ill);
      await rolling.stands('RolledBack', 'canary', 0);
      assert.deepEqual(rolling.images, { 'app:1': 10 });
      const stored = fleet.informers.daemonSets.get(REF);
      assert.equal(stored?.spec.template.spec.containers[0]?.image, 'app:2');
      assert.equal(fleet.status('web')?.updatedNumberScheduled ?? 0, 0, 'rollout status tells the truth');
      await fleet.restartController();
      await rolling.advance(3_600_000);
      await rolling.stands('RolledBack', 'canary', 0);
      const [lost] = fleet.pods();
      assert.ok(lost);
      await fleet.delete(lost);
      await rolling.stands('RolledBack', 'canary', 0);
      assert.deepEqual(rolling.images, { 'app:1': 10 }, 'a Pod made anew is of the stable revision');
      fleet.agents.ready = () => true;
      await fleet.setImage('web', 'app:3');
      await fleet.rolledOut('web');
    },
  );

  withPolicy(
    'a Pod made anew before its wave is open is of the stable revision, also at the start of a controller',
    { waves: [{ name: 'canary', nodes: 1, soakSeconds: 60 }] },
    async (rolling) => {
      const { fleet } = rolling;
      await fleet.setImage('web', 'app:2');
      await rolling.stands('Soaking', 'canary', 1);
      const loseOne = async () => {
        const [old] = fleet.pods().filter((pod) => !isNew(pod));
        if (old) await fleet.delete(old);
      };
      await loseOne();
      await rolling.stands('Soaking', 'canary', 1);
      await fleet.restartController();
      await loseOne();
      await rolling.stands('Soaking', 'canary', 1);
      await rolling.advance(SOAK_MS);
      await rolling.stands('Completed', 'rest', 10);
    },
  );

  withPolicy(
    'without a budget hold their wave within maxUnavailable, as upstream',
    { waves: [{ name: 'canary', nodes: 4, maxUnavailable: 2 }] },
    async (rolling) => {
      rolling.fleet.agents.ready = (pod) => !isNew(pod);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.stands('Progressing', 'canary', 2);
      for (const pod of rolling.newPods()) await rolling.crash(pod);
      await rolling.advance(3_600_000);
      await rolling.stands('Progressing', 'canary', 2);
    },
  );

  withPolicy(
    'OnDelete is not for waves: who deletes a Pod gets the newest',
    { waves: WAVES },
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
