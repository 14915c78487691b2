import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { NodeLifecycle } from '../../../coordinator/controllers/nodes/node-lifecycle.js';
import { TaintEviction } from '../../../coordinator/controllers/nodes/taint-eviction.js';
import { nodeKind, podKind } from '../../../coordinator/kinds/index.js';
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import {
  type ControlPlane,
  joinNode,
  setReady,
  withControlPlane,
} from '../../harness/controllers/control-plane-fixture.js';
import { podObject } from '../../harness/objects/object-builders.js';

function withNodes(rule: string, check: (plane: ControlPlane) => Promise<void>): void {
  withControlPlane(rule, async (plane) => {
    const lifecycle = new NodeLifecycle({
      ...plane,
      recordEvent: plane.events.forComponent('node-controller'),
    });
    const recordEvent = plane.events.forComponent('taint-eviction-controller');
    const eviction = new TaintEviction({ ...plane, recordEvent });
    await joinNode(plane, 'n1');
    await joinNode(plane, 'n2');
    try {
      await check(plane);
    } finally {
      await lifecycle.stop();
      await eviction.stop();
    }
  });
}

const taintsOf = (plane: ControlPlane, name: string) =>
  (plane.informers.nodes.get({ name })?.spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);

async function setSpec(plane: ControlPlane, name: string, spec: object): Promise<void> {
  await plane.registry.modify(nodeKind, { name }, (node) => {
    node.spec = { ...node.spec, ...spec };
    return undefined;
  });
  await plane.settle();
}

async function runPod(plane: ControlPlane, tolerations: Toleration[]): Promise<void> {
  await plane.registry.create(podKind, 'default', podObject('a', { nodeName: 'n1', tolerations }));
  await plane.settle();
}

const pod = (plane: ControlPlane) => plane.informers.pods.get({ namespace: 'default', name: 'a' });
const isDeleted = (plane: ControlPlane) => pod(plane)?.metadata.deletionTimestamp !== undefined;
/** Interval at which an unready node is checked with the other nodes of its zone. */
const MONITOR_MS = 5_000;
const DRAINED: Taint = { key: 'drained', effect: 'NoExecute' };

describe('node lifecycle', () => {
  withNodes('a Ready node has none of the lifecycle taints', async (plane) => {
    assert.deepEqual(taintsOf(plane, 'n1'), []);
  });

  withNodes('Ready=False taints not-ready, Unknown unreachable, and True clears both', async (plane) => {
    await setReady(plane, 'n1', 'False');
    assert.deepEqual(taintsOf(plane, 'n1'), ['node.kubernetes.io/not-ready:NoSchedule']);
    await plane.advance(MONITOR_MS);
    assert.deepEqual(taintsOf(plane, 'n1'), [
      'node.kubernetes.io/not-ready:NoSchedule',
      'node.kubernetes.io/not-ready:NoExecute',
    ]);
    await setReady(plane, 'n1', 'Unknown');
    const swapped = ['node.kubernetes.io/unreachable:NoSchedule', 'node.kubernetes.io/unreachable:NoExecute'];
    assert.deepEqual(taintsOf(plane, 'n1'), swapped, 'one takes the place of the other at once');
    await setReady(plane, 'n1', 'True');
    assert.deepEqual(taintsOf(plane, 'n1'), []);
  });

  withNodes('a node that reconnects in time is never evicted', async (plane) => {
    await setReady(plane, 'n1', 'Unknown');
    await plane.advance(MONITOR_MS - 1);
    await setReady(plane, 'n1', 'True');
    await plane.advance(3_600_000);
    assert.deepEqual(taintsOf(plane, 'n1'), []);
  });

  withNodes("cordon taints the node, and a user's own taints are kept", async (plane) => {
    await setSpec(plane, 'n1', { unschedulable: true, taints: [{ key: 'mine', effect: 'NoSchedule' }] });
    assert.deepEqual(taintsOf(plane, 'n1'), [
      'mine:NoSchedule',
      'node.kubernetes.io/unschedulable:NoSchedule',
    ]);
    await setSpec(plane, 'n1', { unschedulable: false });
    assert.deepEqual(taintsOf(plane, 'n1'), ['mine:NoSchedule']);
  });

  withNodes(
    'when all nodes are offline, no NoExecute taint is added and existing ones are removed',
    async (plane) => {
      await setReady(plane, 'n1', 'Unknown');
      await plane.advance(MONITOR_MS);
      assert.equal(taintsOf(plane, 'n1').length, 2);
      await setReady(plane, 'n2', 'Unknown');
      const dark = ['node.kubernetes.io/unreachable:NoSchedule'];
      assert.deepEqual([taintsOf(plane, 'n1'), taintsOf(plane, 'n2')], [dark, dark]);
      await plane.advance(3_600_000);
      assert.deepEqual([taintsOf(plane, 'n1'), taintsOf(plane, 'n2')], [dark, dark]);
      await setReady(plane, 'n2', 'True');
      await plane.advance(9_999);
      assert.deepEqual(
        [taintsOf(plane, 'n1'), taintsOf(plane, 'n2')],
        [dark, []],
        'the limiter begins empty',
      );
      await plane.advance(1);
      assert.equal(taintsOf(plane, 'n1').length, 2);
    },
  );

  withNodes('registration, loss of readiness and removal are recorded as Events', async (plane) => {
    await setReady(plane, 'n1', 'False');
    await plane.registry.delete(nodeKind, { name: 'n1' });
    await plane.settle();
    assert.deepEqual(await plane.eventsAbout('n1'), [
      'RegisteredNode: Node n1 event: Registered Node n1 in Controller',
      'NodeNotReady: Node n1 status is now: NodeNotReady',
      'RemovingNode: Node n1 event: Removing Node n1 from Controller',
    ]);
  });
});

describe('zones', () => {
  const inZone = (zone: string) => ({ labels: { 'topology.kubernetes.io/zone': zone } });
  /** Creates the nodes of a zone, all Ready. */
  async function zone(plane: ControlPlane, name: string, count: number): Promise<string[]> {
    const names = Array.from({ length: count }, (_, index) => `${name}${index}`);
    for (const each of names) await joinNode(plane, each, inZone(name));
    return names;
  }
  const emptied = (plane: ControlPlane, names: readonly string[]) =>
    names.filter((name) => taintsOf(plane, name).some((text) => text.endsWith(':NoExecute'))).length;
  const setAll = async (plane: ControlPlane, names: readonly string[], status: 'True' | 'Unknown') => {
    for (const name of names) await setReady(plane, name, status);
  };

  withNodes('one node every ten seconds, in each zone separately', async (plane) => {
    const [a, b] = [await zone(plane, 'a', 5), await zone(plane, 'b', 5)];
    const dark = [...a.slice(0, 2), ...b.slice(0, 2)];
    await setAll(plane, dark, 'Unknown');
    await plane.advance(MONITOR_MS);
    assert.deepEqual([emptied(plane, a), emptied(plane, b)], [1, 1]);
    await plane.advance(9_999);
    assert.equal(emptied(plane, dark), 2);
    await plane.advance(1);
    assert.deepEqual([emptied(plane, a), emptied(plane, b)], [2, 2]);
  });

  withNodes('most of a small zone at once: evictions stop, and existing ones stay', async (plane) => {
    const nodes = await zone(plane, 'a', 9);
    await setAll(plane, nodes.slice(0, 1), 'Unknown');
    await plane.advance(MONITOR_MS);
    await setAll(plane, nodes.slice(1, 6), 'Unknown');
    await plane.advance(3_600_000);
    assert.equal(emptied(plane, nodes), 1);
    await setAll(plane, nodes.slice(4, 6), 'True');
    await plane.advance(10_000);
    assert.equal(emptied(plane, nodes), 2, 'the zone is well again, and goes on at its rate');
  });

  withNodes('most of a large zone: a tenth of the rate', async (plane) => {
    const nodes = await zone(plane, 'a', 51);
    await setAll(plane, nodes.slice(0, 40), 'Unknown');
    await plane.advance(MONITOR_MS);
    assert.equal(emptied(plane, nodes), 1);
    await plane.advance(99_999);
    assert.equal(emptied(plane, nodes), 1);
    await plane.advance(1);
    assert.equal(emptied(plane, nodes), 2);
  });

  withNodes(
    'a whole zone of several is evicted at the usual rate, because another zone can take over',
    async (plane) => {
      const nodes = await zone(plane, 'a', 4);
      await setAll(plane, nodes, 'Unknown');
      // While going down the zone was partly down for a short time, which resets the rate limiter.
      await plane.advance(40_000);
      assert.equal(emptied(plane, nodes), 4);
    },
  );

  withNodes('a deleted node frees its place in the queue', async (plane) => {
    const nodes = await zone(plane, 'a', 9);
    await setAll(plane, nodes.slice(0, 3), 'Unknown');
    for (const name of nodes.slice(0, 2)) await plane.registry.delete(nodeKind, { name });
    await plane.settle();
    await plane.advance(MONITOR_MS);
    assert.equal(emptied(plane, nodes.slice(2)), 1);
  });
});

describe('taint eviction', () => {
  withNodes('a NoExecute taint that is not tolerated deletes the Pod at once', async (plane) => {
    await runPod(plane, []);
    await setSpec(plane, 'n1', { taints: [DRAINED] });
    assert.ok(isDeleted(plane));
    const condition = findCondition(pod(plane)?.status?.conditions, 'DisruptionTarget');
    assert.equal(condition?.reason, 'DeletionByTaintManager');
    assert.deepEqual(await plane.eventsAbout('a'), [
      'TaintManagerEviction: Marking for deletion Pod default/a',
    ]);
  });

  withNodes('tolerationSeconds delay the deletion', async (plane) => {
    await runPod(plane, [{ key: 'drained', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
    await setSpec(plane, 'n1', { taints: [DRAINED] });
    await plane.advance(29_000);
    assert.equal(isDeleted(plane), false);
    await plane.advance(1_000);
    assert.ok(isDeleted(plane));
  });

  withNodes('a taint that is removed in time cancels the deletion, with an Event', async (plane) => {
    await runPod(plane, [{ key: 'drained', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
    await setSpec(plane, 'n1', { taints: [DRAINED] });
    await plane.advance(20_000);
    await setSpec(plane, 'n1', { taints: [] });
    await plane.advance(60_000);
    assert.equal(isDeleted(plane), false);
    assert.deepEqual(await plane.eventsAbout('a'), [
      'TaintManagerEviction: Cancelling deletion of Pod default/a',
    ]);
  });

  withNodes('a Pod that tolerates the taint forever is kept', async (plane) => {
    await runPod(plane, [{ operator: 'Exists' }]);
    await setSpec(plane, 'n1', { taints: [DRAINED] });
    await plane.advance(3_600_000);
    assert.equal(isDeleted(plane), false);
  });
});
