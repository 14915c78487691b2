/**
 * The benchmark's hollow section, small: that no change makes the coordinator slower by a factor. Ratios of CPU seconds
 * to a floor that is measured beside it, so a slow or busy machine is no failure.
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
/** Of the shortest measure more: its code is warm after some five, and until then each costs half more. */
const APPLIES = 8;
const WARM_UPS = 5;

/**
 * By the beginning of a measure's name: how many times the floor's CPU it may take. Half more than the goal; where that
 * is not reached yet, half more than what is reached with so few agents. Both sides are warm, and a start counts with all of
 * its Events: how many of them come before all is ready is the machine's speed.
 */
const LIMITS = {
  // The floor connects and signs nothing. A join also verifies a request and signs a certificate, some 8 ms of it.
  [`${AGENTS} hosts join`]: 38,
  'apply to': 46,
  'rolling update': 70,
  'list of': 3,
  'an event to one of': 7,
};

/** A few Pods on each host, all at once: as long as code runs cold, one costs two to three times as much and scatters as widely. */
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

test('a coordinator costs no more than it did, as a multiple of what nobody can do without', async (context) => {
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
  // A fleet joins once: of two, each with programs of its own, the better one counts.
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
    // Of each its best round: what others on the machine take only adds.
    const best = (side: 'product' | 'floor') => Math.min(...rounds.flatMap((round) => round[side]));
    const ratio = best('product') / best('floor');
    assert.ok(ratio <= most, `${name}: ${ratio.toFixed(1)} times the floor, at most ${most} are allowed`);
  }
});
