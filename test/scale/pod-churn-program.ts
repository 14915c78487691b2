/**
 * Creates and deletes Pods under random kills of the agent, and prints what they leave behind:
 *   node dist/test/scale/pod-churn-program.js docker|podman [CYCLES] [SEED]
 */
import { EngineFixture } from '../harness/engines/engine-fixture.js';
import { type Remains, remainsOf, runPodChurn, seededRandom } from '../harness/engines/pod-churn.js';
import type { EngineKind } from '../harness/engines/test-engines.js';

const [kind = 'docker', cycles = '200', seed = String(Date.now())] = process.argv.slice(2);
const bench = await EngineFixture.open(kind as EngineKind);
if (typeof bench === 'string') throw new Error(bench);
try {
  await runPodChurn(bench, 1, seededRandom(Number(seed)));
  const before = await remainsOf(bench);
  const began = performance.now();
  const kills = await runPodChurn(bench, Number(cycles), seededRandom(Number(seed) + 1));
  const after = await remainsOf(bench);
  const seconds = Math.round((performance.now() - began) / 1000);
  process.stdout.write(`${cycles} pods on ${kind}, ${kills} kills, ${seconds} s, seed ${seed}\n`);
  for (const what of Object.keys(before) as (keyof Remains)[]) {
    const left = after[what].filter((one) => !before[what].includes(one));
    process.stdout.write(`${what} left: ${left.length}${left.length > 0 ? ` ${left.join(' ')}` : ''}\n`);
    if (left.length > 0) process.exitCode = 1;
  }
} finally {
  await bench.close();
}
