/**
 * What a rollout by waves costs its controller: `node dist/test/scale/rollout-cost.js [NODES …]`. Prints the time to draw the
 * waves, and that of one event of a Pod with the step that follows it, which must not grow with the fleet.
 */
import { DaemonSetTally } from '../../coordinator/controllers/daemonset-tally.js';
import { decideRollout, drawingWaves } from '../../coordinator/controllers/rollout-decision.js';
import type { NodeRecord } from '../../coordinator/decisions/node-record.js';
import { podPace } from '../../coordinator/decisions/pod-pace.js';
import type { Situation } from '../../coordinator/decisions/rolling-update.js';
import { statusOf } from '../../coordinator/decisions/rollout-status.js';
import type { Rollout } from '../../shared/kube/rollout.js';
import type { RolloutPolicy } from '../../shared/kube/rollout-policy.js';
import { daemonSet } from '../harness/daemon-builders.js';

const TYPE = { apiVersion: 'fleet.everynode.dev/v1' };
const POLICY: RolloutPolicy = {
  ...TYPE,
  kind: 'RolloutPolicy',
  metadata: { name: 'p', uid: 'p' },
  spec: {
    selector: {},
    waves: [
      { name: 'canary', nodes: '1%' },
      { name: 'tenth', nodes: '10%' },
    ],
    failureBudget: { maxFailed: '1%', withinSeconds: 3600 },
    spreadBy: 'site',
    windows: [{ schedule: '0 0 * * *', durationSeconds: 86_400, timeZoneLabel: 'tz' }],
  },
};
const DAEMON_SET = daemonSet('web', { updateStrategy: { rollingUpdate: { maxUnavailable: 20 } } });
const NOW = Date.parse('2026-03-01T12:00:00Z');
const ZONES = ['Europe.Berlin', 'America.New_York', 'Asia.Tokyo', 'Australia.Sydney'];
const labelsOf = (index: number) => ({ site: `s${index % 200}`, tz: ZONES[index % ZONES.length] ?? '' });
const ALL = {
  desired: true,
  current: true,
  misscheduled: false,
  ready: true,
  available: true,
  updated: false,
};

function record(situation: Situation, hash: string): NodeRecord {
  return { share: ALL, place: { situation, covered: true }, hashes: [hash], newPod: { createdAt: NOW } };
}

function measure(count: number): void {
  const names = Array.from({ length: count }, (_, index) => `node-${index}`);
  const labels = names.map((_, index) => labelsOf(index));
  const tally = new DaemonSetTally({
    uid: 'u',
    generation: 2,
    current: { hash: 'new', templateGeneration: 2 },
  });
  for (const name of names) tally.record(name, record('oldAvailable', 'old'));
  const drawing = performance.now();
  const cpu = process.cpuUsage();
  const walk = drawingWaves(POLICY, {
    nodes: names.map((name, index) => ({ name, labels: labels[index], rank: index % 3 })),
    revision: 'new',
    standing: (name) => ({ contact: 'here', labels: labels[Number(name.slice(5))] }),
    now: () => NOW,
  });
  let longestCpu = 0;
  let part = walk.next();
  while (!part.done) {
    const before = process.cpuUsage();
    part = walk.next();
    longestCpu = Math.max(longestCpu, process.cpuUsage(before).user / 1000);
  }
  const { waves, order } = part.value;
  tally.follow((name, situation, seen) => waves.put(name, situation, seen));
  for (const name of order) tally.tell(name);
  const drawn = performance.now() - drawing;
  const drawnCpu = process.cpuUsage(cpu).user / 1000;
  let rollout: Rollout = { ...TYPE, kind: 'Rollout', metadata: { name: 'web' } };
  const pace = podPace([]);
  const step = () => {
    const decision = decideRollout({
      ...{ daemonSet: DAEMON_SET, policy: POLICY, waves, revision: 'new', previous: 'old', rollout },
      ...{ fleetSize: count, pace, now: NOW },
    });
    const { verdict, counts, progress, nextWindowAt, turns } = decision;
    const status = statusOf(POLICY, verdict, counts, progress, nextWindowAt);
    // As before a write: what has not changed is not written.
    if (JSON.stringify(rollout.status) !== JSON.stringify(status)) rollout = { ...rollout, status };
    return turns.replace;
  };
  let events = 0;
  const began = performance.now();
  const cpuBegan = process.cpuUsage();
  // The Pod of each node that has its turn goes, and its successor comes up: two events, each with a step.
  for (let next = step(); next.length > 0; ) {
    for (const name of next) {
      tally.record(name, record('newUnavailable', 'new'));
      step();
      tally.record(name, record('newAvailable', 'new'));
      next = step();
      events += 2;
    }
  }
  const each = ((performance.now() - began) / events) * 1000;
  const eachCpu = process.cpuUsage(cpuBegan).user / events;
  const text = `${count} nodes: waves drawn in ${drawn.toFixed(1)} ms (CPU ${drawnCpu.toFixed(1)}, ${longestCpu.toFixed(1)} without a pause), an event with its step ${each.toFixed(1)} µs (CPU ${eachCpu.toFixed(1)})`;
  process.stdout.write(`${text} (${events} events)\n`);
}

const sizes = process.argv.slice(2).map(Number);
for (const size of sizes.length > 0 ? sizes : [5_000, 50_000]) measure(size);
