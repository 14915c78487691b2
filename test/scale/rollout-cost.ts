/**
 * What a rollout by waves costs its controller: `node dist/test/scale/rollout-cost.js [NODES …]`. Prints the time to draw the
 * waves, and that of one event of a Pod with the step that follows it, which must not grow with the fleet.
 */
import { DaemonSetTally } from '../../coordinator/controllers/daemonset-tally.js';
import { RolloutWaves } from '../../coordinator/controllers/rollout-waves.js';
import type { NodeRecord } from '../../coordinator/decisions/node-record.js';
import { chooseReplacements, type Situation } from '../../coordinator/decisions/rolling-update.js';
import { type RolloutMemory, rolloutStep } from '../../coordinator/decisions/rollout-step.js';
import { assignWaves } from '../../coordinator/decisions/wave-plan.js';
import type { RolloutPolicySpec } from '../../shared/kube/rollout.js';

const SPEC: RolloutPolicySpec = {
  selector: {},
  waves: [
    { name: 'canary', nodes: '1%' },
    { name: 'tenth', nodes: '10%' },
  ],
  failureBudget: { maxFailed: '1%' },
};
const WAVES = 3;
const STRATEGY = { rollingUpdate: { maxUnavailable: 20 } };
const ALL = {
  desired: true,
  current: true,
  misscheduled: false,
  ready: true,
  available: true,
  updated: false,
};

function record(situation: Situation, hash: string): NodeRecord {
  return { share: ALL, place: { situation, covered: true }, hashes: [hash], newPod: { createdAt: 0 } };
}

function measure(count: number): void {
  const names = Array.from({ length: count }, (_, index) => `node-${index}`);
  const tally = new DaemonSetTally({
    uid: 'u',
    generation: 2,
    current: { hash: 'new', templateGeneration: 2 },
  });
  for (const name of names) tally.record(name, record('oldAvailable', 'old'));
  const drawing = performance.now();
  const plan = assignWaves(
    names.map((name) => ({ name })),
    SPEC.waves ?? [],
    'seed',
  );
  const waves = new RolloutWaves({
    plan,
    waves: WAVES,
    contact: () => 'here',
    deadlineMs: 600_000,
    now: () => 0,
  });
  tally.follow((name, situation, seen) => waves.put(name, situation, seen));
  for (const name of names) tally.tell(name);
  const drawn = performance.now() - drawing;
  let memory: RolloutMemory | undefined;
  let events = 0;
  const began = performance.now();
  for (;;) {
    const verdict = rolloutStep({
      ...{ spec: SPEC, revision: 'new', waves: waves.counts(), approved: new Set<string>(), now: 0, memory },
    });
    memory = verdict.memory;
    if (verdict.phase === 'Completed') break;
    waves.expire();
    const turn = Array.from({ length: verdict.openUpTo + 1 }, (_, wave) =>
      chooseReplacements(waves.fleet(wave), STRATEGY),
    );
    // The Pod of each node that has its turn goes, and its successor comes up: two events, each with a step.
    for (const name of turn.flatMap(({ replace }) => replace).slice(0, 1)) {
      for (const situation of ['newUnavailable', 'newAvailable'] as const) {
        tally.record(name, record(situation, 'new'));
        waves.counts();
        events += 1;
      }
    }
  }
  const each = ((performance.now() - began) / events) * 1000;
  const text = `${count} nodes: waves drawn in ${drawn.toFixed(1)} ms, an event with its step ${each.toFixed(1)} µs`;
  process.stdout.write(`${text} (${events} events)\n`);
}

const sizes = process.argv.slice(2).map(Number);
for (const size of sizes.length > 0 ? sizes : [5_000, 50_000]) measure(size);
