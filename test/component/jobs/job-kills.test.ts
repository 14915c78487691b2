/** A Job counts each Pod once, wherever the controller is killed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finishedAs } from '../../../shared/kube/jobs/job-types.js';
import { JobFixture } from '../../harness/controllers/job-fixture.js';
import type { Kill } from '../../harness/controllers/write-kills.js';

/** More writes than the Job needs. */
const MAX_WRITES = 60;

/** Runs a Job with three completions, whose first Pod fails. Returns false if it ended before the kill. */
async function runWithKill(kill: Kill): Promise<boolean> {
  const fixture = await JobFixture.start((nth) => (nth === 0 ? 'Failed' : 'Succeeded'), kill);
  try {
    await fixture.createJob('work', { completions: 3, parallelism: 2 });
    await fixture.run(12);
    const job = fixture.job('work');
    const what = `killed ${kill.when} write ${kill.atWrite}`;
    assert.equal(job && finishedAs(job), 'Complete', what);
    assert.deepEqual([job?.status?.succeeded, job?.status?.failed], [3, 1], what);
    assert.deepEqual(job?.status?.uncountedTerminatedPods, {}, what);
    assert.equal(fixture.created.size, 4, `${what}: Pods created`);
    assert.deepEqual(
      fixture.pods().filter(({ metadata }) => metadata.finalizers),
      [],
      `${what}: finalizers`,
    );
    return fixture.isKilled;
  } finally {
    await fixture.stop();
  }
}

describe('a Job whose controller is killed', () => {
  for (const when of ['before', 'after'] as const) {
    test(`${when} any write counts each Pod once and completes`, async () => {
      let kills = 0;
      for (let atWrite = 1; atWrite <= MAX_WRITES && (await runWithKill({ atWrite, when })); atWrite += 1)
        kills += 1;
      assert.ok(kills > 8 && kills < MAX_WRITES, `${kills} kills`);
    });
  }
});
