/** DaemonJobs with a RolloutPolicy: waves, soak time, approval, failure budget, and windows that hosts know in advance. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { daemonJobKind, podKind, rolloutPolicyKind } from '../../../coordinator/kinds/index.js';
import { startRulesOf } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import { type DaemonJob, daemonJobFinishedAs } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { type PodPhase, type PodStatus, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { DaemonJobFixture } from '../../harness/controllers/daemonjob-fixture.js';

async function withPolicy(
  spec: Partial<RolloutPolicySpec>,
  ending: (node: string, attempt: number) => PodPhase | undefined,
  work: (fixture: DaemonJobFixture) => Promise<void>,
): Promise<void> {
  const fixture = await DaemonJobFixture.start(4, ending);
  try {
    const selector = { matchLabels: { not: 'used' } };
    const body = { metadata: { name: 'careful' }, spec: { selector, ...spec } };
    await fixture.plane.registry.create(rolloutPolicyKind, 'default', body);
    await work(fixture);
  } finally {
    await fixture.stop();
  }
}

const started = (fixture: DaemonJobFixture) => new Set(fixture.pods().map(targetNodeOf)).size;
const rollout = (fixture: DaemonJobFixture) => {
  const { phase, wave, waves = [] } = fixture.job()?.status?.rollout ?? {};
  return `${phase} ${wave} ${waves.map(({ name, hosts, succeeded }) => `${name}=${succeeded}/${hosts}`).join(' ')}`;
};
const annotate = async (fixture: DaemonJobFixture, key: string, value: string) => {
  await fixture.plane.registry.modify(
    daemonJobKind,
    { namespace: 'default', name: 'work' },
    ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, [`fleet.everynode.dev/${key}`]: value };
    },
  );
  await fixture.plane.settle();
};

describe('a DaemonJob with waves', () => {
  test('starts the next wave when the hosts of the last one have ended and it has soaked', () =>
    withPolicy(
      { waves: [{ name: 'canary', nodes: 1, soakSeconds: 60 }] },
      () => 'Succeeded',
      async (fixture) => {
        await fixture.createJob({ rolloutPolicyName: 'careful' });
        await fixture.run(2);
        assert.equal(started(fixture), 1);
        assert.equal(rollout(fixture), 'Soaking canary canary=1/1 rest=0/3');
        await fixture.run(1);
        assert.equal(started(fixture), 1, 'it soaks');
        await fixture.run(4);
        assert.equal(rollout(fixture), 'Completed rest canary=1/1 rest=3/3');
        assert.deepEqual(fixture.counts(), [4, 0, 4, 0, 0, 0, 0]);
      },
    ));

  test('waits for the approval of a wave, also after a restart of the controller', () =>
    withPolicy(
      {
        waves: [
          { name: 'canary', nodes: 1 },
          { name: 'half', nodes: 2, approval: 'Manual' },
        ],
      },
      () => 'Succeeded',
      async (fixture) => {
        await fixture.createJob({ rolloutPolicyName: 'careful' });
        await fixture.run(4);
        assert.equal(rollout(fixture), 'AwaitingApproval canary canary=1/1 half=0/2 rest=0/1');
        await fixture.restartController();
        await fixture.run(2);
        assert.equal(started(fixture), 1);
        await annotate(fixture, 'approve', 'half');
        await fixture.run(4);
        assert.equal(rollout(fixture), 'Completed rest canary=1/1 half=2/2 rest=1/1');
      },
    ));

  test('awaits no approval once the job has ended', () =>
    withPolicy(
      {
        waves: [
          { name: 'all', nodes: '100%' },
          { name: 'none', nodes: 2, approval: 'Manual' },
        ],
      },
      () => 'Succeeded',
      async (fixture) => {
        await fixture.createJob({ rolloutPolicyName: 'careful' });
        await fixture.run(4);
        assert.equal(daemonJobFinishedAs(fixture.job() ?? assert.fail()), 'Complete');
        assert.equal(fixture.job()?.status?.rollout?.phase, 'Completed');
        await fixture.run(2);
        assert.equal(fixture.job()?.status?.rollout?.phase, 'Completed', 'it stays so');
      },
    ));

  test('waits for approval again in the next run', () =>
    withPolicy(
      {
        waves: [
          { name: 'canary', nodes: 1 },
          { name: 'half', nodes: 2, approval: 'Manual' },
        ],
      },
      (_, attempt) => (attempt === 0 ? 'Failed' : 'Succeeded'),
      async (fixture) => {
        await fixture.createJob({ rolloutPolicyName: 'careful', backoffLimit: 0 });
        await annotate(fixture, 'promote', '*');
        await fixture.run(6);
        assert.deepEqual(fixture.counts(), [4, 0, 0, 4, 0, 0, 0]);
        await fixture.changeJob({ run: 2 });
        await fixture.run(6);
        assert.equal(rollout(fixture), 'AwaitingApproval canary canary=1/1 half=0/2 rest=0/1');
        assert.deepEqual(fixture.job()?.metadata.annotations ?? {}, {});
        await annotate(fixture, 'approve', 'half');
        await fixture.run(6);
        assert.deepEqual(fixture.counts(), [4, 0, 4, 0, 0, 0, 0]);
      },
    ));

  test('reports what an operator can do when no host of a wave succeeds', () =>
    withPolicy(
      { waves: [{ name: 'two', nodes: 2 }] },
      () => 'Failed',
      async (fixture) => {
        const message = () => fixture.job()?.status?.rollout?.message;
        await fixture.setOffline('node-1', true);
        await fixture.setOffline('node-2', true);
        await fixture.setOffline('node-3', true);
        await fixture.createJob({ rolloutPolicyName: 'careful', backoffLimit: 0 });
        await fixture.run(4);
        assert.match(
          message() ?? '',
          /^no host of wave two has succeeded: (1 offline, 1 failed|2 offline); the next wave opens when an offline host returns and succeeds, or the wave is promoted$/,
        );
        for (const node of ['node-1', 'node-2', 'node-3']) await fixture.setOffline(node, false);
        await fixture.run(4);
        assert.equal(started(fixture), 2);
        assert.equal(
          message(),
          'no host of wave two has succeeded: 2 failed; promote the wave, or delete the job',
        );
        await annotate(fixture, 'promote', 'two');
        await fixture.run(4);
        assert.equal(started(fixture), 4);
      },
    ));

  test('stops when the failure budget is exceeded', () =>
    withPolicy(
      { waves: [{ name: 'canary', nodes: 1 }], failureBudget: { maxFailed: 0 } },
      () => 'Failed',
      async (fixture) => {
        await fixture.createJob({ rolloutPolicyName: 'careful', backoffLimit: 0 });
        await fixture.run(6);
        assert.equal(started(fixture), 1);
        assert.deepEqual(fixture.counts(), [4, 0, 0, 1, 3, 0, 0]);
        const [condition] = fixture.job()?.status?.conditions?.filter(({ type }) => type === 'Failed') ?? [];
        assert.match(
          condition?.message ?? '',
          /^1 host failed; the limit is 0; 1 host failed, 3 hosts missed it$/,
        );
        assert.equal(condition?.reason, 'MaxFailedHostsExceeded');
      },
    ));

  test('an offline host does not hold up the next wave, and runs when it returns', () =>
    withPolicy(
      { waves: [{ name: 'three', nodes: 3 }] },
      () => 'Succeeded',
      async (fixture) => {
        for (const node of ['node-1', 'node-2']) await fixture.setOffline(node, true);
        await fixture.createJob({ rolloutPolicyName: 'careful' });
        await fixture.run(5);
        assert.equal(fixture.job()?.status?.succeeded, 2);
        for (const node of ['node-1', 'node-2']) await fixture.setOffline(node, false);
        await fixture.run(4);
        assert.equal(fixture.job()?.status?.succeeded, 4);
      },
    ));
});

test('Pods that wait for their time in an open wave survive a restart of the controller', () =>
  withPolicy(
    { waves: [{ name: 'canary', nodes: 1 }] },
    () => 'Succeeded',
    async (fixture) => {
      await fixture.createJob({ rolloutPolicyName: 'careful', startAt: '2026-01-01T01:00:00Z' });
      await fixture.run(2);
      const uids = fixture.pods().map(({ metadata }) => metadata.uid);
      assert.equal(uids.length, 1);
      await fixture.restartController();
      await fixture.run(2);
      assert.deepEqual(
        fixture.pods().map(({ metadata }) => metadata.uid),
        uids,
      );
    },
  ));

describe('a DaemonJob with windows', () => {
  /** The clock starts at midnight UTC. */
  const NIGHT = { windows: [{ schedule: '0 2 * * *', durationSeconds: 3600 }] };

  test('gives hosts their Pod with the windows, so that they start in one of them by themselves', () =>
    withPolicy(
      NIGHT,
      () => undefined,
      async (fixture) => {
        await fixture.createJob({ rolloutPolicyName: 'careful' });
        await fixture.run(1);
        assert.equal(started(fixture), 4);
        const [first] = startRulesOf(fixture.pods()[0] ?? assert.fail())?.windows ?? [];
        assert.deepEqual(first, { from: '2026-01-01T02:00:00Z', until: '2026-01-01T03:00:00Z' });
      },
    ));

  test('with limited slots gives a host its Pod when its window opens', () =>
    withPolicy(
      NIGHT,
      () => undefined,
      async (fixture) => {
        await fixture.createJob({ rolloutPolicyName: 'careful', parallelism: 1 });
        await fixture.run(1);
        assert.equal(started(fixture), 0);
        await fixture.run(3, 3_600_000);
        assert.equal(started(fixture), 1);
        assert.equal(daemonJobFinishedAs(fixture.job() ?? assert.fail()), undefined);
      },
    ));
});

describe('a DaemonJob whose policy has updateLock', () => {
  const OVERRIDE = { 'fleet.everynode.dev/override-locks': 'node-2', 'fleet.everynode.dev/reason': 'recall' };

  test('gives each host the limit of its lock, and an override to the named host', () =>
    withPolicy(
      { updateLock: { maxSeconds: 600 } },
      () => undefined,
      async (fixture) => {
        const rules = () =>
          Object.fromEntries(fixture.pods().map((pod) => [targetNodeOf(pod), startRulesOf(pod)]));
        const { registry } = fixture.plane;
        await fixture.createJob({ rolloutPolicyName: 'careful' });
        await fixture.run(1);
        const limit = { maxLockSeconds: 600 };
        assert.deepEqual(rules(), { 'node-1': limit, 'node-2': limit, 'node-3': limit, 'node-4': limit });
        for (const pod of fixture.pods())
          await registry.writeStatus(
            podKind,
            pod.metadata,
            (): PodStatus => ({
              phase: 'Pending',
              conditions: [
                {
                  type: 'PodReadyToStartContainers',
                  status: 'False',
                  reason: 'UpdateLocked',
                  message: 'busy',
                },
              ],
            }),
          );
        await fixture.run(1);
        assert.deepEqual(fixture.counts(), [4, 0, 0, 0, 0, 0, 4], 'hosts that hold their Pod back wait');
        const ref = { namespace: 'default', name: 'work' };
        const steer = ({ metadata }: DaemonJob): undefined => {
          metadata.annotations = { ...metadata.annotations, ...OVERRIDE };
        };
        await registry.modify(daemonJobKind, ref, steer, { user: 'ann' });
        await fixture.run(1);
        assert.deepEqual(rules()['node-2'], { ...limit, forcedBy: 'ann: recall' });
        assert.deepEqual(rules()['node-1'], limit);
        await registry.modify(rolloutPolicyKind, { namespace: 'default', name: 'careful' }, ({ spec }) => {
          spec.updateLock = { maxSeconds: 60 };
        });
        await fixture.run(1);
        assert.deepEqual(rules()['node-1'], { maxLockSeconds: 60 }, 'a changed limit reaches waiting hosts');
        await registry.modify(rolloutPolicyKind, { namespace: 'default', name: 'careful' }, ({ spec }) => {
          delete spec.updateLock;
        });
        await fixture.run(1);
        assert.deepEqual(rules()['node-1'], {}, 'a removed lock frees waiting hosts');
      },
    ));
});
