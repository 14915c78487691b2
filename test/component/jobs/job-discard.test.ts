/** Pods that a Job deletes itself do not count as failed (`deleteJobPods` of `pkg/controller/job`). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { jobKind, podKind } from '../../../coordinator/kinds/index.js';
import type { JobSpec } from '../../../shared/kube/jobs/job-types.js';
import type { PodPhase } from '../../../shared/kube/pods/pod-types.js';
import { JobFixture } from '../../harness/controllers/job-fixture.js';
import type { Kill } from '../../harness/controllers/write-kills.js';

const REF = { namespace: 'default', name: 'work' };

/** Acknowledges the deletion of Pods, like an agent that has stopped their containers. */
async function stopDeleted(fixture: JobFixture): Promise<void> {
  for (const { metadata } of fixture.pods().filter((pod) => pod.metadata.deletionTimestamp)) {
    const phase: PodPhase = 'Failed';
    await fixture.plane.registry.writeStatus(podKind, metadata, ({ status }) => ({ ...status, phase }));
    await fixture.plane.registry.delete(podKind, metadata, { gracePeriodSeconds: 0 });
  }
  await fixture.plane.settle();
}

async function change(fixture: JobFixture, spec: Partial<JobSpec>): Promise<void> {
  await fixture.plane.registry.modify(jobKind, REF, (job) => {
    Object.assign(job.spec, spec);
  });
  await fixture.run(2, 0);
  await stopDeleted(fixture);
  await fixture.run(2, 0);
}

describe('a Job with ten running Pods counts no failure', () => {
  const rows: [name: string, spec: Partial<JobSpec>, left: number][] = [
    ['when it is suspended', { suspend: true }, 0],
    ['when its parallelism decreases', { parallelism: 2 }, 2],
  ];
  for (const [name, spec, left] of rows) {
    test(name, async () => {
      const fixture = await JobFixture.start(() => undefined);
      try {
        await fixture.createJob('work', { completions: 10, parallelism: 10 });
        await fixture.run(2, 0);
        assert.equal(fixture.job('work')?.status?.active, 10);
        await change(fixture, spec);
        assert.equal(fixture.pods().length, left);
        assert.deepEqual(
          [fixture.job('work')?.status?.failed, fixture.job('work')?.status?.active ?? 0],
          [undefined, left],
        );
        await change(fixture, { suspend: false, parallelism: 10 });
        assert.equal(fixture.job('work')?.status?.active, 10, 'without a back-off');
      } finally {
        await fixture.stop();
      }
    });
  }
});

test('a suspended Job whose controller is killed at any write counts no failure', async () => {
  const run = async (kill: Kill): Promise<boolean> => {
    const fixture = await JobFixture.start(() => undefined, kill);
    try {
      await fixture.createJob('work', { completions: 2, parallelism: 2 });
      await fixture.run(2, 0);
      await change(fixture, { suspend: true });
      await fixture.run(2);
      await stopDeleted(fixture);
      const { status } = fixture.job('work') ?? {};
      assert.deepEqual([status?.failed, fixture.pods().length], [undefined, 0], `write ${kill.atWrite}`);
      return fixture.isKilled;
    } finally {
      await fixture.stop();
    }
  };
  let kills = 0;
  while (kills < 30 && (await run({ atWrite: kills + 1, when: 'before' }))) kills += 1;
  assert.ok(kills > 5 && kills < 30, `${kills} kills`);
});
