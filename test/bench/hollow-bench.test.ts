/**
 * A small version of the benchmark's hollow section. It detects changes that slow the coordinator down by a factor. It
 * compares CPU time with a floor that is measured at the same time, so a slow or busy machine causes no failure.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BenchDaemonSet } from './bench-daemonset.js';
import type { Result } from './bench-result.js';
import type { BenchContext } from './bench-section.js';
import { line } from './bench-table.js';
import type { HollowFleet } from './hollow/hollow-fleet.js';
import { measureApply } from './hollow/measure-apply.js';
import { withFleets } from './hollow/measure-hollow.js';
import { measureJoin } from './hollow/measure-join.js';
import { measureList, measureWatch } from './hollow/measure-reads.js';
import { measureRollout } from './hollow/measure-rollout.js';

const AGENTS = 200;
const ROUNDS = 3;
/**
 * Apply is the shortest measure, so it gets more rounds: its code is compiled after about five, and costs half as much
 * again until then.
 */
const APPLIES = 8;
const WARM_UPS = 5;

/**
 * Limit for measures by the beginning of their name, as a multiple of the floor's CPU time. It is 1.5 times the goal,
 * or 1.5 times today's value with so few agents if the goal is not reached yet. Both sides are warm. Apply includes all
 * of its Events, because the machine's speed decides how many come before readiness.
 */
const LIMITS = {
  // The floor only connects. A join also verifies a request and signs a certificate, which takes about 8 ms.
  [`${AGENTS} hosts join`]: 38,
  'apply to': 46,
  'rolling update': 70,
  'list of': 3,
  'an event to one of': 7,
};

/** Runs a few Pods on each host at once: cold code costs two to three times as much, with a wide spread. */
async function warmUp(product: HollowFleet): Promise<void> {
  const daemonSets = Array.from({ length: WARM_UPS }, () => new BenchDaemonSet(product.api));
  await Promise.all(
    daemonSets.map(async (daemonSet) => {
      await daemonSet.create();
      await daemonSet.untilReady(AGENTS);
      await daemonSet.remove();
    }),
  );
  await product.untilQuiet();
}

test("the coordinator's CPU time stays within its multiple of the floor", async (context) => {
  const results: Result[] = [];
  const bench: BenchContext = {
    ...{ quick: true, swarm: false },
    report: (result) => {
      results.push(result);
      context.diagnostic(line(result));
    },
    progress: () => undefined,
    skip: (what, why) => context.diagnostic(`${what}: ${why}`),
  };
  // A fleet joins only once. Use the better of two fleets with separate processes.
  await withFleets(AGENTS, (floor, product) => measureJoin(bench, floor, product));
  await withFleets(AGENTS, async (floor, product) => {
    await measureJoin(bench, floor, product);
    await warmUp(product);
    const daemonSet = await measureApply(bench, floor, product, APPLIES);
    await measureRollout(bench, floor, product, daemonSet, ROUNDS);
    await measureList(bench, floor, product, ROUNDS);
    await measureWatch(bench, floor, product, { rounds: 1, events: 500 });
  });
  for (const [name, most] of Object.entries(LIMITS)) {
    const rounds = results.filter((result) => result.name.startsWith(name));
    assert.ok(rounds.length > 0, `${name} was measured`);
    // Use each side's best round: other load on the machine only adds time.
    const best = (side: 'product' | 'floor') => Math.min(...rounds.flatMap((round) => round[side]));
    const ratio = best('product') / best('floor');
    assert.ok(ratio <= most, `${name}: ${ratio.toFixed(1)} times the floor, at most ${most} are allowed`);
  }
});
