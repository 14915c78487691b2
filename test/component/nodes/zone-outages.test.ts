/**
 * Zones that go offline partly and completely, with the controllers that taint nodes and delete Pods, on a clock that
 * the test advances. The eviction rate differs between a zone of fifty nodes and a larger one
 * (pkg/controller/nodelifecycle handleDisruption).
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { NodeLifecycle } from '../../../coordinator/controllers/nodes/node-lifecycle.js';
import { TaintEviction } from '../../../coordinator/controllers/nodes/taint-eviction.js';
import { podKind } from '../../../coordinator/kinds/index.js';
import {
  type ControlPlane,
  joinNode,
  setReady,
  withControlPlane,
} from '../../harness/controllers/control-plane-fixture.js';
import { podObject } from '../../harness/objects/object-builders.js';

/** Interval at which an unready node is checked with the other nodes of its zone. */
const MONITOR_MS = 5_000;
/** Interval of one node at `--node-eviction-rate`, and at `--secondary-node-eviction-rate`. */
const TURN_MS = 10_000;
const SLOW_TURN_MS = 100_000;
const TOLERATED_MS = 300_000;
const HOUR_MS = 3_600_000;
const OUT_OF_REACH = {
  key: 'node.kubernetes.io/unreachable',
  operator: 'Exists',
  effect: 'NoExecute',
} as const;

class Zones {
  /** Names of nodes by zone. */
  readonly #nodes = new Map<string, string[]>();

  constructor(private readonly plane: ControlPlane) {}

  /**
   * Adds Ready nodes with a Pod each. The Pod stays on an unreachable node for `tolerationSeconds`, by default five
   * minutes as usual.
   */
  async add(zone: string, count: number, tolerationSeconds = 300): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `${zone}-${index}`);
    for (const name of names) {
      await joinNode(this.plane, name, { labels: { 'topology.kubernetes.io/zone': zone } });
      await this.plane.registry.create(
        podKind,
        'default',
        podObject(name, { nodeName: name, tolerations: [{ ...OUT_OF_REACH, tolerationSeconds }] }),
      );
    }
    this.#nodes.set(zone, names);
  }

  /** Disconnects or reconnects the first `count` nodes of the zone, or all of them. */
  async set(zone: string, status: 'Unknown' | 'True', count?: number): Promise<void> {
    for (const name of this.#of(zone).slice(0, count)) await setReady(this.plane, name, status);
  }

  /** Returns the number of nodes with a NoExecute taint. */
  tainted(zone: string): number {
    const { nodes } = this.plane.informers;
    return this.#of(zone).filter((name) =>
      nodes.get({ name })?.spec?.taints?.some(({ effect }) => effect === 'NoExecute'),
    ).length;
  }

  /** Returns the number of nodes with a terminating Pod. */
  emptied(zone: string): number {
    const { pods } = this.plane.informers;
    return this.#of(zone).filter(
      (name) => pods.get({ namespace: 'default', name })?.metadata.deletionTimestamp,
    ).length;
  }

  #of(zone: string): string[] {
    return this.#nodes.get(zone) ?? [];
  }
}

function withZones(rule: string, check: (zones: Zones, plane: ControlPlane) => Promise<void>): void {
  withControlPlane(rule, async (plane) => {
    const lifecycle = new NodeLifecycle({
      ...plane,
      recordEvent: plane.events.forComponent('node-controller'),
    });
    const recordEvent = plane.events.forComponent('taint-eviction-controller');
    const eviction = new TaintEviction({ ...plane, recordEvent });
    try {
      await check(new Zones(plane), plane);
    } finally {
      await lifecycle.stop();
      await eviction.stop();
    }
  });
}

describe('zones that go offline', () => {
  withZones(
    'in part: one of fifty nodes keeps its Pods, of fifty-one one node is evicted every 100 s',
    async (zones, plane) => {
      await zones.add('fifty', 50, 0);
      await zones.add('more', 51, 0);
      await zones.add('well', 3, 0);
      const counts = () =>
        ['fifty', 'more', 'well'].map((zone) => [zones.tainted(zone), zones.emptied(zone)]);
      await zones.set('fifty', 'Unknown', 30);
      await zones.set('more', 'Unknown', 30);
      await plane.advance(MONITOR_MS);
      assert.deepEqual(
        counts(),
        [
          [0, 0],
          [1, 1],
          [0, 0],
        ],
        'the first token is there',
      );
      await plane.advance(SLOW_TURN_MS - 1);
      assert.deepEqual(counts(), [
        [0, 0],
        [1, 1],
        [0, 0],
      ]);
      await plane.advance(1);
      assert.deepEqual(counts(), [
        [0, 0],
        [2, 2],
        [0, 0],
      ]);
      await plane.advance(5 * SLOW_TURN_MS);
      assert.deepEqual(counts(), [
        [0, 0],
        [7, 7],
        [0, 0],
      ]);

      // 27 of 50 are less than 55 %, so the zone has failing nodes and is not cut off.
      await zones.set('fifty', 'True', 3);
      await plane.advance(TURN_MS - 1);
      assert.deepEqual(counts()[0], [0, 0]);
      await plane.advance(1);
      assert.deepEqual(counts()[0], [1, 1]);
      await plane.advance(2 * TURN_MS);
      assert.deepEqual(counts()[0], [3, 3]);
    },
  );

  withZones(
    'completely, and all zones: evictions stop, and resume for the others when one reconnects',
    async (zones, plane) => {
      await zones.add('one', 6);
      await zones.add('two', 6);
      await zones.set('one', 'Unknown');
      await plane.advance(MONITOR_MS + 2 * TURN_MS);
      const counts = () => [
        zones.tainted('one'),
        zones.emptied('one'),
        zones.tainted('two'),
        zones.emptied('two'),
      ];
      // While going down the zone was partly down for a short time, which resets the rate limiter.
      assert.equal(counts()[0], 2, 'a whole zone among others is emptied at the usual rate');
      await zones.set('two', 'Unknown');
      assert.deepEqual(counts(), [0, 0, 0, 0], 'taints that were there go');
      await plane.advance(HOUR_MS);
      assert.deepEqual(counts(), [0, 0, 0, 0], 'and with them the ends of Pods that were near');

      await zones.set('two', 'True');
      await plane.advance(TURN_MS);
      assert.equal(zones.tainted('one'), 1, 'the limiter began empty');
      await plane.advance(5 * TURN_MS);
      assert.deepEqual(counts(), [6, 0, 0, 0]);
      await plane.advance(TOLERATED_MS);
      assert.deepEqual(counts(), [6, 6, 0, 0]);

      await zones.set('one', 'True');
      await plane.advance(HOUR_MS);
      assert.deepEqual(counts(), [0, 6, 0, 0], 'all is well, and what was deleted stays so');
    },
  );
});
