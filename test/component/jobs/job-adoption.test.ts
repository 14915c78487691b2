/** Which Pods belong to a Job (`getPodsForJob` and `syncOrphanPod` of `pkg/controller/job`). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { jobKind, podKind } from '../../../coordinator/kinds/index.js';
import { JOB_TRACKING } from '../../../shared/kube/jobs/job-types.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { JobFixture } from '../../harness/controllers/job-fixture.js';

const LABELS = { app: 'work' };
const JOB = { namespace: 'default', name: 'work' };
const TEMPLATE = {
  metadata: { labels: LABELS },
  spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] },
};
const SPEC = { manualSelector: true, selector: { matchLabels: LABELS }, template: TEMPLATE };

async function withFixture(body: (fixture: JobFixture) => Promise<void>): Promise<void> {
  const fixture = await JobFixture.start(() => undefined);
  try {
    await body(fixture);
  } finally {
    await fixture.stop();
  }
}

async function createPod({ plane }: JobFixture, metadata: Partial<Pod['metadata']>): Promise<void> {
  await plane.registry.create(podKind, 'default', {
    metadata: { name: 'orphan', labels: LABELS, ...metadata },
    spec: TEMPLATE.spec,
  });
}

const podOf = (fixture: JobFixture, name: string) =>
  fixture.pods().find(({ metadata }) => metadata.name === name);

describe('a Job with a manual selector', () => {
  test('adopts a Pod instead of creating one, and counts it', () =>
    withFixture(async (fixture) => {
      await createPod(fixture, {});
      await fixture.createJob('work', SPEC);
      await fixture.run(3, 0);
      const orphan = podOf(fixture, 'orphan');
      assert.equal(orphan && controllerOf(orphan.metadata)?.uid, fixture.job('work')?.metadata.uid);
      assert.deepEqual(orphan?.metadata.finalizers, [JOB_TRACKING]);
      assert.equal(fixture.pods().length, 1);
      await fixture.plane.registry.writeStatus(podKind, { namespace: 'default', name: 'orphan' }, () => ({
        phase: 'Succeeded' as const,
      }));
      await fixture.run(3, 0);
      assert.equal(fixture.job('work')?.status?.succeeded, 1);
    }));

  test('releases a Pod whose labels match no longer, and replaces it', () =>
    withFixture(async (fixture) => {
      await fixture.createJob('work', SPEC);
      await fixture.run(2, 0);
      const [first] = fixture.pods();
      assert.ok(first);
      await fixture.plane.registry.modify(podKind, first.metadata, ({ metadata }) => {
        metadata.labels = { app: 'other' };
      });
      await fixture.run(3, 0);
      const released = podOf(fixture, first.metadata.name);
      assert.deepEqual(
        [released?.metadata.ownerReferences, released?.metadata.finalizers],
        [undefined, undefined],
      );
      assert.equal(fixture.pods().length, 2);
      assert.equal(fixture.job('work')?.status?.failed, undefined);
    }));

  test('adopts nothing while it is being deleted', () =>
    withFixture(async (fixture) => {
      await fixture.createJob('work', { ...SPEC, suspend: true });
      const { registry } = fixture.plane;
      await registry.modify(jobKind, JOB, ({ metadata }) => {
        metadata.finalizers = ['example.com/held'];
      });
      await registry.delete(jobKind, JOB, {});
      await createPod(fixture, {});
      await fixture.run(3, 0);
      assert.equal(podOf(fixture, 'orphan')?.metadata.ownerReferences, undefined);
    }));
});

describe('the finalizer of a Pod without a Job', () => {
  const reference = { name: 'work', uid: 'unknown', controller: true };
  const rows: [name: string, owner: object[], finalizers: string[] | undefined][] = [
    ['is removed if no controller has the Pod', [], undefined],
    ['is removed if the Job is gone', [{ apiVersion: 'batch/v1', kind: 'Job', ...reference }], undefined],
    [
      'stays if a Job of another group has the Pod',
      [{ apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', ...reference }],
      [JOB_TRACKING],
    ],
  ];
  for (const [name, owners, finalizers] of rows) {
    test(name, () =>
      withFixture(async (fixture) => {
        const ownerReferences = owners as Pod['metadata']['ownerReferences'];
        await createPod(fixture, { finalizers: [JOB_TRACKING], ...(ownerReferences && { ownerReferences }) });
        await fixture.run(2, 0);
        assert.deepEqual(podOf(fixture, 'orphan')?.metadata.finalizers, finalizers);
      }),
    );
  }
});

test('a Job of another controller is deleted when its time to live has passed, and nothing else happens to it', () =>
  withFixture(async (fixture) => {
    await fixture.createJob('work', { managedBy: 'example.com/queue', ttlSecondsAfterFinished: 20 });
    await fixture.run(2, 0);
    assert.equal(fixture.pods().length, 0);
    const at = new Date(fixture.plane.clock.now()).toISOString();
    await fixture.plane.registry.writeStatus(jobKind, JOB, () => ({
      startTime: at,
      conditions: ['FailureTarget', 'Failed'].map((type) => ({
        ...{ type, status: 'True' as const, lastTransitionTime: at },
      })),
    }));
    await fixture.run(1, 10_000);
    assert.equal(fixture.job('work')?.metadata.deletionTimestamp, undefined, 'before its time');
    await fixture.run(2, 11_000);
    // The garbage collector, which does not run here, ends the deletion.
    assert.ok(fixture.job('work')?.metadata.deletionTimestamp);
  }));
