/** A DaemonJob runs each host exactly once, wherever the controller is killed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { daemonJobFinishedAs } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { DaemonJobFixture } from '../../harness/controllers/daemonjob-fixture.js';
import type { Kill } from '../../harness/controllers/write-kills.js';

/** More writes than the job needs. */
const MAX_WRITES = 60;

/** Runs a job on two hosts, of which one fails at first. Returns false if it ended before the kill. */
async function runWithKill(kill: Kill): Promise<boolean> {
  const fixture = await DaemonJobFixture.start(
    2,
    (node, attempt) => (node === 'node-1' && attempt === 0 ? 'Failed' : 'Succeeded'),
    kill,
  );
  try {
    await fixture.createJob({ parallelism: 1 });
    const hadKill = await fixture.runUntilFinished(20);
    const job = fixture.job();
    const what = `killed ${kill.when} write ${kill.atWrite}`;
    assert.equal(job && daemonJobFinishedAs(job), 'Complete', what);
    assert.deepEqual(fixture.counts(), [2, 0, 2, 0, 0, 0, 0], what);
    assert.deepEqual([...fixture.successes.values()], [1, 1], `${what}: successes by host`);
    const pods = ['node-1', 'node-2'].map((node) => fixture.created.get(node)?.size);
    assert.deepEqual(pods, [2, 1], `${what}: Pods created`);
    const [first] = fixture.results().filter(({ nodeName }) => nodeName === 'node-1');
    assert.deepEqual([first?.attempts, first?.failures], [2, 1], `${what}: attempts and failures`);
    assert.ok(
      fixture.pods().every(({ metadata }) => !metadata.finalizers),
      `${what}: finalizers`,
    );
    return hadKill;
  } finally {
    await fixture.stop();
  }
}

describe('a DaemonJob whose controller is killed', () => {
  for (const when of ['before', 'after'] as const) {
    test(`${when} any write runs each host exactly once`, async () => {
      let kills = 0;
      for (let atWrite = 1; atWrite <= MAX_WRITES && (await runWithKill({ atWrite, when })); atWrite += 1)
        kills += 1;
      assert.ok(kills > 8 && kills < MAX_WRITES, `${kills} kills`);
    });
  }
});
