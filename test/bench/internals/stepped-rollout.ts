/**
 * A rollout by waves without I/O: it assigns the waves, then handles Pod events one by one with a reconcile after each.
 */
import { DaemonSetTally } from '../../../coordinator/controllers/daemonsets/daemonset-tally.js';
import { buildWaveIndex, decideRollout } from '../../../coordinator/controllers/rollouts/rollout-decision.js';
import type { WaveIndex } from '../../../coordinator/controllers/rollouts/wave-index.js';
import type { NodeRecord } from '../../../coordinator/decisions/daemonsets/node-record.js';
import type { NodeUpdateState } from '../../../coordinator/decisions/daemonsets/rolling-update.js';
import { measurePodTimings } from '../../../coordinator/decisions/rollouts/pod-timings.js';
import { statusOf } from '../../../coordinator/decisions/rollouts/rollout-status.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { runToEnd } from '../../harness/basics/test-clocks.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';

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
const PACE = measurePodTimings([]);
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

function record(situation: NodeUpdateState, hash: string): NodeRecord {
  return {
    share: ALL,
    updateStatus: { state: situation, covered: true },
    hashes: [hash],
    newPod: { createdAt: NOW },
  };
}

export class SteppedRollout {
  readonly #count: number;
  readonly #tally = new DaemonSetTally({
    uid: 'u',
    generation: 2,
    current: { hash: 'new', templateGeneration: 2 },
  });
  readonly #waves: WaveIndex;
  #rollout: Rollout = { ...TYPE, kind: 'Rollout', metadata: { name: 'web' } };

  /** Assigns the waves of `count` nodes; `onPause` is called at each point where this may yield. */
  constructor(count: number, onPause: () => void = () => undefined) {
    this.#count = count;
    const names = Array.from({ length: count }, (_, index) => `node-${index}`);
    const labels = names.map((_, index) => labelsOf(index));
    for (const name of names) this.#tally.record(name, record('oldAvailable', 'old'));
    const drawing = buildWaveIndex(POLICY, {
      nodes: names.map((name, index) => ({ name, labels: labels[index], rank: index % 3 })),
      revision: 'new',
      connectivity: (name) => ({ contact: 'here', labels: labels[Number(name.slice(5))] }),
      now: () => NOW,
    });
    const { waves, order } = runToEnd(drawing, onPause);
    this.#waves = waves;
    this.#tally.subscribe((name, situation, seen) => waves.update(name, situation, seen));
    for (const name of order) this.#tally.notify(name);
  }

  /**
   * Replaces the Pods of nodes that are due. Each replacement is two events, each with a step. Returns the number of
   * events: at least `events`, or all that are left.
   */
  replace(events = Number.POSITIVE_INFINITY): number {
    let seen = 0;
    for (let next = this.#step(); next.length > 0 && seen < events; ) {
      for (const name of next) {
        this.#tally.record(name, record('newUnavailable', 'new'));
        this.#step();
        this.#tally.record(name, record('newAvailable', 'new'));
        next = this.#step();
        seen += 2;
      }
    }
    return seen;
  }

  #step(): string[] {
    const decision = decideRollout({
      ...{ daemonSet: DAEMON_SET, policy: POLICY, waves: this.#waves, revision: 'new', previous: 'old' },
      ...{ rollout: this.#rollout, fleetSize: this.#count, pace: PACE, now: NOW },
      isKept: () => true,
    });
    const { verdict, counts, progress, nextWindowAt, actions: turns } = decision;
    const status = statusOf(POLICY, verdict, counts, progress, nextWindowAt);
    // Like the controller, it writes only changed statuses.
    if (JSON.stringify(this.#rollout.status) !== JSON.stringify(status)) {
      this.#rollout = { ...this.#rollout, status };
    }
    return turns.replace;
  }
}
