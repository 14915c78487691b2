/**
 * Creates and deletes Pods while the agent is killed repeatedly; the Pods leave nothing behind. The long form is
 * test/scale/pod-churn-program.ts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { EngineFixture } from '../../harness/engines/engine-fixture.js';
import { remainsOf, runPodChurn, seededRandom } from '../../harness/engines/pod-churn.js';

const CYCLES = 8;

for (const kind of ['docker', 'podman'] as const) {
  test(`${CYCLES} Pods under random kills of the agent on ${kind} leave nothing behind`, {
    timeout: 180_000,
  }, async (context) => {
    const fixture = await EngineFixture.open(kind);
    if (typeof fixture === 'string') return leaveOut(context, `cycles on ${kind}`, fixture);
    try {
      const seed = Date.now();
      context.diagnostic(`seed ${seed}`);
      // An engine's first container leaves shared resources behind, which are no leak. Run one cycle before the
      // measurement.
      await runPodChurn(fixture, 1, seededRandom(seed));
      const before = await remainsOf(fixture);
      assert.ok((await runPodChurn(fixture, CYCLES, seededRandom(seed + 1))) > 0);
      assert.deepEqual(await remainsOf(fixture), before);
      assert.deepEqual([before.containers, before.files], [[], []]);
    } finally {
      await fixture.close();
    }
  });
}
