/** People steer rollouts by waves: abort, retry, promote, skip, pause, freeze. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { DaemonSetDeps } from '../../../coordinator/controllers/daemonsets/daemonset-deps.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { eventually } from '../../harness/basics/eventually.js';
import { addNode } from '../../harness/controllers/daemon-fleet.js';
import {
  isNew,
  NODES,
  type RolloutFixture,
  SOAK_MS,
  withPolicy,
} from '../../harness/controllers/rollout-fixture.js';

const WAVES = [
  { name: 'canary', nodes: 2, soakSeconds: SOAK_MS / 1000 },
  { name: 'half', nodes: '50%', approval: 'Manual' as const },
];

describe('an abort', () => {
  withPolicy('takes all that have the revision back, and nothing else', { waves: WAVES }, async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Soaking', 'canary', 2);
    const untouched = rolling.fleet.pods().filter((pod) => !isNew(pod));
    await rolling.steer('abort', '', 'tills hang');
    await rolling.expectStatus('RolledBack', 'canary', 0);
    assert.match(rolling.status?.message ?? '', /aborted by ann: tills hang/);
    assert.ok(
      rolling.fleet.events.some((event) => event.includes('RolloutSteered ann requested abort: tills hang')),
    );
    const names = new Set(rolling.fleet.pods().map(({ metadata }) => metadata.name));
    assert.ok(
      untouched.every(({ metadata }) => names.has(metadata.name)),
      'no other Pod was made anew',
    );
    await rolling.fleet.restartController();
    await rolling.advance(3_600_000);
    await rolling.expectStatus('RolledBack', 'canary', 0);
  });

  withPolicy('takes back what was completed, too, and leaves dark hosts for later', {}, async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Completed', 'rest', 10);
    rolling.fleet.agents.stops = false;
    await rolling.contact('n3', 'Unknown', 'False');
    await rolling.steer('abort', 'it leaks');
    await rolling.fleet.settle();
    for (const pod of rolling.fleet.pods()) {
      if (pod.spec.nodeName === 'n3' || !pod.metadata.deletionTimestamp) continue;
      const { name, uid = '' } = pod.metadata;
      await rolling.fleet.registry.confirmStopped({ namespace: 'default', name }, uid);
    }
    await rolling.expectStatus('RolledBack', 'rest', 0);
    assert.equal(rolling.images['app:1'], 9);
  });

  withPolicy('of an earlier revision is not done to the next', { waves: WAVES }, async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Soaking', 'canary', 2);
    // The coordinator was away: it was asked for while nobody looked.
    await rolling.fleet.stopController();
    await rolling.steer('abort', '', 'tills hang');
    await rolling.fleet.setImage('web', 'app:3');
    rolling.fleet.startController();
    await rolling.expectStatus('Soaking', 'canary', 0);
    assert.equal(rolling.images['app:3'], 2);
    assert.ok(
      rolling.fleet.events.some((event) => event.includes('ignored: it was for an earlier revision')),
    );
  });
});

describe('a retry', () => {
  withPolicy(
    'begins a barred revision anew, with other Pods for those that are not well, and new approvals',
    {
      waves: [
        { name: 'canary', nodes: 3, maxUnavailable: 3 },
        { name: 'half', nodes: 2, approval: 'Manual' },
      ],
      failureBudget: { maxFailed: 0 },
    },
    async (rolling) => {
      const { fleet } = rolling;
      fleet.agents.ready = (pod) => !isNew(pod);
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 3);
      const [ill] = rolling.newPods();
      assert.ok(ill);
      await rolling.crash(ill);
      await rolling.expectStatus('Failed', 'canary', 3);
      await assert.rejects(rolling.steer('retry'), /retry is recorded with a reason/);
      fleet.agents.ready = () => true;
      await rolling.advance(1_000);
      await rolling.steer('retry', 'the registry was down');
      await rolling.makeNewReady();
      await rolling.expectStatus('AwaitingApproval', 'canary', 3);
      assert.equal(rolling.status?.failure, undefined);
      const names = rolling.newPods().map(({ metadata }) => metadata.name);
      assert.ok(!names.includes(ill.metadata.name), 'its Pod is another one');
    },
  );
});

describe('a promotion', () => {
  withPolicy('ends the soak, and opens the next wave', { waves: WAVES }, async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Soaking', 'canary', 2);
    await rolling.steer('promote', 'canary');
    await rolling.expectStatus('Completed', 'rest', 10);
  });
});

describe('hosts taken out', () => {
  withPolicy(
    'keep what they have until the next template, or until they are let in again',
    { waves: WAVES },
    async (rolling) => {
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Soaking', 'canary', 2);
      const [one = '', two = ''] = NODES.filter((name) => rolling.fleet.images()[name] === 'app:1');
      await rolling.steer('skip', `${one},${two}`);
      await rolling.steer('promote', 'canary');
      await rolling.expectStatus('Completed', 'rest', 8);
      assert.equal(rolling.status?.skipped, 2);
      const pod = rolling.podOn(one);
      assert.ok(pod);
      await rolling.fleet.delete(pod);
      await rolling.expectStatus('Completed', 'rest', 8);
      await rolling.steer('unskip', one);
      await rolling.expectStatus('Completed', 'rest', 9);
      await rolling.fleet.setImage('web', 'app:3');
      await eventually(() => rolling.status?.phase === 'Soaking');
      await rolling.steer('promote', 'canary');
      await rolling.fleet.rolledOut('web');
      assert.deepEqual(rolling.images, { 'app:3': 10 });
    },
  );

  withPolicy(
    'after they failed hold up nobody',
    { waves: [{ name: 'canary', nodes: 2, maxUnavailable: 2 }], failureBudget: { maxFailed: 1 } },
    async (rolling) => {
      rolling.fleet.agents.ready = (pod) => !isNew(pod);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 2);
      const [first, second] = rolling.newPods();
      assert.ok(first && second);
      await rolling.crash(first);
      await rolling.steer('skip', first.spec.nodeName ?? '');
      assert.equal(rolling.status?.failed, 0);
      await rolling.crash(second);
      assert.equal(rolling.status?.phase, 'AwaitingHosts', 'one may');
    },
  );
});

/** Sixty changes of Pods by the controller from when it is armed, and no more: one that writes without end stops, and fails its test. */
function limited() {
  let left = Number.POSITIVE_INFINITY;
  const wrap = (registry: Registry): DaemonSetDeps['registry'] => ({
    ...registry,
    modify: (kind, ...others) => {
      if (kind.kind === 'Pod') left -= 1;
      if (left < 0) throw new ApiError('Forbidden', 'too many writes');
      return registry.modify(kind, ...others);
    },
  });
  return {
    wrap,
    arm: () => {
      left = 60;
    },
    get isExceeded() {
      return left < 0;
    },
  };
}

describe('a hold that is overridden', () => {
  for (const [rule, spec, told] of [
    ['is told once to each host that has its turn', { updateLock: {} }, 10],
    ['is nothing to tell where no host may hold its turn off', { confirm: {} }, 0],
  ] as const) {
    const limit = limited();
    withPolicy(
      rule,
      spec,
      async (rolling) => {
        const { fleet } = rolling;
        fleet.agents.startsHandovers = false;
        await fleet.setImage('web', 'app:2');
        await eventually(() => fleet.pods().filter(handoverOf).length === 10);
        limit.arm();
        await rolling.steer('override-locks', '*', 'a recall');
        await fleet.settle();
        const forced = () =>
          fleet.pods().filter((pod) => handoverOf(pod)?.forcedBy === 'ann: a recall').length;
        await eventually(() => forced() === told || `${forced()}`);
        await fleet.settle();
        assert.equal(limit.isExceeded, false);
      },
      { wrap: limit.wrap },
    );
  }
});

describe('a freeze', () => {
  const late = async (rolling: RolloutFixture, name: string) => {
    await addNode(rolling.fleet.registry, name);
    await rolling.fleet.settle();
  };
  const touchesNothing = async (rolling: RolloutFixture) => {
    await late(rolling, 'late');
    const [pod] = rolling.fleet.pods();
    assert.ok(pod);
    await rolling.fleet.delete(pod);
    await rolling.fleet.settle();
    await rolling.fleet.restartController();
    await rolling.advance(600_000);
    assert.equal(rolling.status?.phase, 'Frozen');
    assert.deepEqual(rolling.images, { 'app:1': 9 });
  };

  withPolicy('touches nothing: no Pod is made, on new hosts either', { waves: WAVES }, async (rolling) => {
    await rolling.policy((spec) => {
      spec.frozen = true;
    });
    await rolling.fleet.setImage('web', 'app:2');
    await touchesNothing(rolling);
    await rolling.policy((spec) => {
      spec.frozen = false;
    });
    await rolling.expectStatus('Soaking', 'canary', 2);
    assert.equal(rolling.images['app:1'], 9, 'all that was left undone is done');
  });

  withPolicy('of one DaemonSet, by a person, ends by a person', { waves: WAVES }, async (rolling) => {
    await rolling.steer('freeze', '', 'stock-taking');
    await rolling.fleet.setImage('web', 'app:2');
    await touchesNothing(rolling);
    assert.match(rolling.status?.message ?? '', /frozen by ann: stock-taking/);
    await rolling.steer('resume');
    await rolling.expectStatus('Soaking', 'canary', 2);
  });

  withPolicy('a pause lets new hosts have their Pod', { waves: WAVES }, async (rolling) => {
    await rolling.steer('pause');
    await rolling.fleet.setImage('web', 'app:2');
    await late(rolling, 'late');
    await rolling.expectStatus('Paused', '', 0);
    assert.equal(rolling.images['app:1'], 11);
    await rolling.steer('resume');
    await rolling.expectStatus('Soaking', 'canary', 2);
  });
});
