/** Steering of rollouts by waves: abort, retry, promote, skip, pause, freeze. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { DaemonSetDeps } from '../../../coordinator/controllers/daemonsets/daemonset-deps.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { until } from '../../harness/basics/wait-until.js';
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
  withPolicy('reverts all hosts that have the revision, and no others', { waves: WAVES }, async (rolling) => {
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
      'no other Pod was recreated',
    );
    await rolling.fleet.restartController();
    await rolling.advance(3_600_000);
    await rolling.expectStatus('RolledBack', 'canary', 0);
  });

  withPolicy('reverts a completed revision too, and leaves offline hosts for later', {}, async (rolling) => {
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

  withPolicy('of an earlier revision does not apply to the next', { waves: WAVES }, async (rolling) => {
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Soaking', 'canary', 2);
    // The coordinator was away: the request arrived meanwhile.
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
    'retries a barred revision, with new Pods for the unhealthy ones and new approvals',
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
      await assert.rejects(rolling.steer('retry'), /retry requires a reason/);
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

describe('skipped hosts', () => {
  withPolicy(
    'keep their Pod until the next template, or until the skip is withdrawn',
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
      await until(() => rolling.status?.phase === 'Soaking');
      await rolling.steer('promote', 'canary');
      await rolling.fleet.rolledOut('web');
      assert.deepEqual(rolling.images, { 'app:3': 10 });
    },
  );

  withPolicy(
    'that had failed block nothing',
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

/**
 * Allows sixty changes of Pods by the controller after it is armed. A controller that writes without end stops and
 * fails its test.
 */
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

describe('an overridden update lock', () => {
  for (const [rule, spec, told] of [
    ['is reported once to each host with a pending handover', { updateLock: {} }, 10],
    ['is not reported where no host may have an update lock', { confirm: {} }, 0],
  ] as const) {
    const limit = limited();
    withPolicy(
      rule,
      spec,
      async (rolling) => {
        const { fleet } = rolling;
        fleet.agents.startsHandovers = false;
        await fleet.setImage('web', 'app:2');
        await until(() => fleet.pods().filter(handoverOf).length === 10);
        limit.arm();
        await rolling.steer('override-locks', '*', 'a recall');
        await fleet.settle();
        const forced = () =>
          fleet.pods().filter((pod) => handoverOf(pod)?.forcedBy === 'ann: a recall').length;
        await until(() => forced() === told || `${forced()}`);
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

  withPolicy('creates no Pod, on new hosts either', { waves: WAVES }, async (rolling) => {
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

  withPolicy('of one DaemonSet by a user is also ended by a user', { waves: WAVES }, async (rolling) => {
    await rolling.steer('freeze', '', 'stock-taking');
    await rolling.fleet.setImage('web', 'app:2');
    await touchesNothing(rolling);
    assert.match(rolling.status?.message ?? '', /frozen by ann: stock-taking/);
    await rolling.steer('resume');
    await rolling.expectStatus('Soaking', 'canary', 2);
  });

  withPolicy('a pause lets new hosts get their Pod', { waves: WAVES }, async (rolling) => {
    await rolling.steer('pause');
    await rolling.fleet.setImage('web', 'app:2');
    await late(rolling, 'late');
    await rolling.expectStatus('Paused', '', 0);
    assert.equal(rolling.images['app:1'], 11);
    await rolling.steer('resume');
    await rolling.expectStatus('Soaking', 'canary', 2);
  });
});
