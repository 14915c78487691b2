/** The DaemonJob controller over a memory store. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { daemonJobResultKind, namespaceKind, podKind } from '../../../coordinator/kinds/index.js';
import {
  type DaemonJobResult,
  daemonJobFinishedAs,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { PodPhase } from '../../../shared/kube/pods/pod-types.js';
import { joinNode } from '../../harness/controllers/control-plane-fixture.js';
import { DaemonJobFixture } from '../../harness/controllers/daemonjob-fixture.js';

type Ending = (nodeName: string, attempt: number) => PodPhase | undefined;

function withJob(
  rule: string,
  hosts: number,
  ending: Ending,
  check: (job: DaemonJobFixture) => Promise<void>,
) {
  test(rule, async () => {
    const fixture = await DaemonJobFixture.start(hosts, ending);
    try {
      await check(fixture);
    } finally {
      await fixture.stop();
    }
  });
}

const finishedAs = (fixture: DaemonJobFixture) => {
  const job = fixture.job();
  return job && daemonJobFinishedAs(job);
};

describe('a DaemonJob', () => {
  withJob(
    'runs once on each host and completes',
    3,
    () => 'Succeeded',
    async (fixture) => {
      await fixture.createJob();
      await fixture.run(3);
      assert.equal(finishedAs(fixture), 'Complete');
      assert.deepEqual(fixture.counts(), [3, 0, 3, 0, 0, 0, 0]);
      assert.deepEqual(fixture.phases(), ['node-1=Succeeded', 'node-2=Succeeded', 'node-3=Succeeded']);
      assert.deepEqual(
        fixture
          .pods()
          .map(({ metadata }) => metadata.name)
          .sort(),
        ['work.node-1.0', 'work.node-2.0', 'work.node-3.0'],
      );
      assert.ok(
        fixture.pods().every(({ metadata }) => !metadata.finalizers),
        'no finalizer is left',
      );
    },
  );

  withJob(
    'retries a failed host and then reports it as failed',
    2,
    (node) => (node === 'node-1' ? 'Failed' : 'Succeeded'),
    async (fixture) => {
      await fixture.createJob({ backoffLimit: 2 });
      await fixture.run(10);
      assert.equal(finishedAs(fixture), 'Failed');
      assert.deepEqual(fixture.counts(), [2, 0, 1, 1, 0, 0, 0]);
      const [failed] = fixture.results().filter(({ phase }) => phase === 'Failed');
      assert.deepEqual(
        [failed?.attempts, failed?.failures, failed?.exitCode, failed?.message],
        [3, 3, 3, 'output of node-1\n'],
      );
      assert.equal(fixture.created.get('node-1')?.size, 3);
    },
  );

  withJob(
    'starts a Pod once with AtMostOnce',
    1,
    () => 'Failed',
    async (fixture) => {
      await fixture.createJob({ retry: 'AtMostOnce' });
      await fixture.run(10);
      assert.equal(fixture.created.get('node-1')?.size, 1);
      assert.deepEqual(fixture.phases(), ['node-1=Failed']);
    },
  );

  withJob(
    'runs on at most `parallelism` hosts at once',
    5,
    () => undefined,
    async (fixture) => {
      await fixture.createJob({ parallelism: 2 });
      await fixture.run(2);
      assert.equal(fixture.pods().length, 2);
      await fixture.changeJob({ parallelism: '50%' });
      await fixture.run(2);
      assert.equal(fixture.pods().length, 3, 'a percentage is rounded up');
    },
  );

  withJob(
    'waits for an offline host and runs there when it returns',
    2,
    () => 'Succeeded',
    async (fixture) => {
      await fixture.setOffline('node-2', true);
      await fixture.createJob({ parallelism: 1 });
      await fixture.run(3);
      assert.deepEqual(fixture.counts(), [2, 0, 1, 0, 0, 1, 0]);
      assert.equal(finishedAs(fixture), undefined);
      await fixture.setOffline('node-2', false);
      await fixture.run(3);
      assert.equal(finishedAs(fixture), 'Complete');
    },
  );

  withJob(
    'reports a host that is offline until the deadline as missed',
    2,
    () => 'Succeeded',
    async (fixture) => {
      await fixture.setOffline('node-2', true);
      await fixture.createJob({ activeDeadlineSeconds: 60 });
      await fixture.run(8);
      assert.equal(finishedAs(fixture), 'Failed');
      assert.deepEqual(fixture.phases(), ['node-1=Succeeded', 'node-2=Missed']);
      await fixture.setOffline('node-2', false);
      await fixture.run(3);
      assert.equal(fixture.created.get('node-2'), undefined);
    },
  );

  withJob(
    'counts a Pod that ended offline after the end of the job',
    1,
    () => 'Running',
    async (fixture) => {
      await fixture.createJob({ until: '2026-01-01T00:01:00Z' });
      await fixture.run(2);
      await fixture.setOffline('node-1', true);
      await fixture.run(4);
      assert.deepEqual(fixture.phases(), ['node-1=Missed']);
      assert.equal(finishedAs(fixture), 'Failed');
      const [pod] = fixture.pods();
      assert.equal(pod?.metadata.deletionTimestamp, undefined, 'a started Pod is kept');
      await fixture.plane.registry.writeStatus(podKind, pod?.metadata ?? { name: '' }, () => ({
        phase: 'Succeeded' as const,
      }));
      await fixture.run(2);
      assert.deepEqual(fixture.phases(), ['node-1=Succeeded']);
      assert.deepEqual(fixture.counts(), [1, 0, 1, 0, 0, 0, 0]);
    },
  );

  withJob(
    'runs on a host that joins before `until`',
    1,
    () => 'Succeeded',
    async (fixture) => {
      await fixture.createJob({ until: '2026-01-01T00:10:00Z' });
      await fixture.run(2);
      assert.equal(finishedAs(fixture), undefined);
      await joinNode(fixture.plane, 'late');
      await fixture.run(2);
      assert.deepEqual(fixture.phases(), ['late=Succeeded', 'node-1=Succeeded']);
      await fixture.run(2, 600_000);
      assert.equal(finishedAs(fixture), 'Complete');
      await joinNode(fixture.plane, 'later');
      await fixture.run(2);
      assert.deepEqual(fixture.counts(), [2, 0, 2, 0, 0, 0, 0]);
    },
  );

  withJob(
    'stops when more hosts have failed than `maxFailed`',
    4,
    () => 'Failed',
    async (fixture) => {
      await fixture.createJob({ parallelism: 1, maxFailed: 1, backoffLimit: 0 });
      await fixture.run(8);
      assert.equal(
        findCondition(fixture.job()?.status?.conditions, 'Failed')?.reason,
        'MaxFailedHostsExceeded',
      );
      assert.deepEqual(fixture.counts(), [4, 0, 0, 2, 2, 0, 0]);
      assert.equal(fixture.pods().length, 2);
    },
  );

  withJob(
    'starts nothing while it is suspended, and lets Pods end',
    2,
    () => 'Succeeded',
    async (fixture) => {
      await fixture.createJob({ suspend: true });
      await fixture.run(2);
      assert.deepEqual([fixture.pods().length, fixture.counts()[6]], [0, 2]);
      await fixture.changeJob({ suspend: false });
      await fixture.run(3);
      assert.equal(finishedAs(fixture), 'Complete');
      assert.ok(fixture.events.includes('Resumed Job resumed'));
    },
  );

  let isBroken = true;
  const repaired: Ending = (node) => (node === 'node-1' && isBroken ? 'Failed' : 'Succeeded');
  withJob('runs again on failed hosts only when `run` is raised', 2, repaired, async (fixture) => {
    await fixture.createJob({ backoffLimit: 0 });
    await fixture.run(3);
    assert.equal(finishedAs(fixture), 'Failed');
    isBroken = false;
    await fixture.changeJob({ run: 2 });
    await fixture.run(3);
    assert.equal(finishedAs(fixture), 'Complete');
    assert.deepEqual([fixture.created.get('node-1')?.size, fixture.created.get('node-2')?.size], [2, 1]);
  });

  const fixed: Ending = (node, attempt) => (node === 'node-1' && attempt === 0 ? 'Failed' : 'Succeeded');
  withJob('runs again on failed hosts after the deadline of its start time', 2, fixed, async (fixture) => {
    const startAt = '2026-01-01T00:01:00Z';
    await fixture.createJob({ backoffLimit: 0, startAt, startingDeadlineSeconds: 60 });
    await fixture.run(20);
    assert.deepEqual(fixture.phases(), ['node-1=Failed', 'node-2=Succeeded']);
    await fixture.changeJob({ run: 2 });
    await fixture.run(3);
    assert.deepEqual(fixture.phases(), ['node-1=Succeeded', 'node-2=Succeeded']);
    assert.equal(finishedAs(fixture), 'Complete');
  });

  withJob(
    'does not run again when Pods are deleted after success',
    1,
    () => 'Succeeded',
    async (fixture) => {
      await fixture.createJob({ until: '2026-01-02T00:00:00Z' });
      await fixture.run(2);
      for (const { metadata } of fixture.pods())
        await fixture.plane.registry.delete(podKind, metadata, { gracePeriodSeconds: 0 });
      await fixture.run(3);
      assert.deepEqual([fixture.pods().length, fixture.created.get('node-1')?.size], [0, 1]);
    },
  );

  withJob(
    'writes a deleted result again from its Pod',
    1,
    () => 'Succeeded',
    async (fixture) => {
      await fixture.createJob({ until: '2026-01-02T00:00:00Z' });
      await fixture.run(2);
      for (const { metadata } of fixture.results())
        await fixture.plane.registry.delete(daemonJobResultKind, metadata);
      await fixture.run(2);
      assert.deepEqual(fixture.phases(), ['node-1=Succeeded']);
      assert.equal(fixture.created.get('node-1')?.size, 1);
    },
  );

  for (const [what, ownerReferences] of [
    ['without an owner', []],
    [
      'of a deleted job',
      [{ apiVersion: 'fleet.everynode.dev/v1', kind: 'DaemonJob', name: 'work', uid: 'x', controller: true }],
    ],
  ] as const)
    withJob(
      `replaces a result ${what} that has the name of its own`,
      2,
      () => 'Succeeded',
      async (fixture) => {
        await fixture.plane.registry.create(daemonJobResultKind, 'default', {
          ...{ nodeName: 'node-1', phase: 'Failed', run: 1, attempts: 7, failures: 7 },
          metadata: { name: 'work.node-1', ownerReferences: [...ownerReferences] },
        });
        await fixture.createJob();
        await fixture.run(4);
        assert.equal(finishedAs(fixture), 'Complete');
        assert.deepEqual(fixture.phases(), ['node-1=Succeeded', 'node-2=Succeeded']);
      },
    );

  withJob(
    'continues on other hosts while the result of one is refused',
    3,
    () => 'Succeeded',
    async (fixture) => {
      const { registry } = fixture.plane;
      const create = registry.create.bind(registry);
      let isRefusing = true;
      Object.assign(registry, {
        create: async (...given: Parameters<typeof create>) => {
          const isOfFirst = (given[2] as Partial<DaemonJobResult>).nodeName === 'node-1';
          if (isRefusing && isOfFirst) throw badRequest('refused by a webhook');
          return create(...given);
        },
      });
      await fixture.createJob({ parallelism: 1 });
      await fixture.run(6);
      assert.deepEqual(fixture.phases(), ['node-2=Succeeded', 'node-3=Succeeded']);
      assert.equal(finishedAs(fixture), undefined);
      const text = 'FailedResult Error storing the result of host node-1: refused by a webhook';
      assert.ok(fixture.events.includes(text), fixture.events.join('\n'));
      isRefusing = false;
      await fixture.run(3, 600_000);
      assert.equal(finishedAs(fixture), 'Complete');
      assert.equal(fixture.created.get('node-1')?.size, 1);
    },
  );

  for (const isRestart of [false, true])
    withJob(
      `releases a Pod that has lost its owner${isRestart ? ', also after a restart' : ''}`,
      1,
      () => 'Running',
      async (fixture) => {
        await fixture.createJob();
        await fixture.run(1);
        const [pod] = fixture.pods();
        assert.ok(pod?.metadata.finalizers);
        if (isRestart) fixture.kills.plan({ atWrite: 1, when: 'before' });
        await fixture.plane.registry.modify(podKind, pod.metadata, ({ metadata }) => {
          delete metadata.ownerReferences;
          return undefined;
        });
        await fixture.run(3);
        const now = fixture.pods().find(({ metadata }) => metadata.uid === pod.metadata.uid);
        assert.equal(now?.metadata.finalizers, undefined);
      },
    );

  withJob(
    'does not count a Pod of another namespace',
    1,
    () => 'Running',
    async (fixture) => {
      await fixture.createJob();
      await fixture.run(1);
      const [pod] = fixture.pods();
      assert.ok(pod);
      const { registry } = fixture.plane;
      await registry.create(namespaceKind, undefined, { metadata: { name: 'other' } });
      const { labels = {}, annotations = {}, ownerReferences = [], name } = pod.metadata;
      const metadata = { name, labels, annotations, ownerReferences };
      await registry.create(podKind, 'other', { metadata, spec: pod.spec });
      await registry.writeStatus(podKind, { namespace: 'other', name }, () => ({
        phase: 'Succeeded' as const,
      }));
      await fixture.run(2);
      assert.deepEqual(fixture.phases(), []);
    },
  );

  withJob(
    'waits for no more than the back-off after the clock was set back, and no less',
    1,
    () => 'Failed',
    async (fixture) => {
      await fixture.createJob({ backoffLimit: 3 });
      await fixture.run(2, 1_000);
      assert.equal(fixture.results()[0]?.attempts, 1);
      await fixture.stepWallClock(-3_600_000);
      await fixture.run(5, 1_000);
      assert.equal(fixture.results()[0]?.attempts, 1, 'it still waits');
      await fixture.run(6, 1_000);
      assert.equal(fixture.results()[0]?.attempts, 2);
    },
  );

  withJob(
    'keeps a result within 1 KB',
    1,
    () => 'Failed',
    async (fixture) => {
      await fixture.createJob({ backoffLimit: 0 });
      await fixture.run(3);
      const [result] = fixture.results();
      assert.ok(result);
      const size = JSON.stringify({ ...result, message: 'x'.repeat(320) }).length;
      assert.ok(size <= 1024, `${size} bytes`);
    },
  );

  withJob(
    'is deleted after ttlSecondsAfterFinished',
    1,
    () => 'Succeeded',
    async (fixture) => {
      await fixture.createJob({ ttlSecondsAfterFinished: 30 });
      await fixture.run(5);
      assert.ok(fixture.job()?.metadata.deletionTimestamp, 'the garbage collector deletes the rest');
    },
  );
});
