import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { NodeReservations } from '../../../coordinator/controllers/nodes/node-reservations.js';
import { Scheduler } from '../../../coordinator/controllers/nodes/scheduler.js';
import { nodeKind, podKind } from '../../../coordinator/kinds/index.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import {
  type ControlPlane,
  joinNode,
  withControlPlane,
} from '../../harness/controllers/control-plane-fixture.js';
import { type NodeOptions, pinnedTo, podObject } from '../../harness/objects/object-builders.js';

interface Bench extends ControlPlane {
  ledger: NodeReservations;
  node(name: string, options?: NodeOptions): Promise<void>;
  pod(name: string, spec?: Partial<PodSpec>): Promise<void>;
  nodeOf(pod: string): string | undefined;
}

function withScheduler(rule: string, check: (fixture: Bench) => Promise<void>): void {
  withControlPlane(rule, async (plane) => {
    const recordEvent = plane.events.forComponent('default-scheduler');
    const ledger = new NodeReservations({ informers: plane.informers, recordEvent });
    const scheduler = new Scheduler({ ...plane, reservations: ledger, recordEvent });
    const fixture: Bench = {
      ...plane,
      ledger,
      node: (name, options) => joinNode(plane, name, options),
      pod: async (name, spec) => {
        await plane.registry.create(podKind, 'default', podObject(name, spec));
        await plane.settle();
      },
      nodeOf: (name) => plane.informers.pods.get({ namespace: 'default', name })?.spec.nodeName,
    };
    try {
      await check(fixture);
    } finally {
      await scheduler.stop();
    }
  });
}

const wanting = (cpu: string): Partial<PodSpec> => ({
  containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu } } }],
});

const listening = (hostPort: number): Partial<PodSpec> => ({
  containers: [{ name: 'main', image: 'app:1', ports: [{ containerPort: 80, hostPort }] }],
});

describe('scheduler', () => {
  withScheduler('a bare Pod is bound to a node that fits, with an Event', async (fixture) => {
    await fixture.node('n1');
    await fixture.pod('a');
    assert.equal(fixture.nodeOf('a'), 'n1');
    assert.deepEqual(await fixture.eventsAbout('a'), ['Scheduled: Successfully assigned default/a to n1']);
  });

  withScheduler('the less loaded node is preferred', async (fixture) => {
    await fixture.node('n1');
    await fixture.node('n2');
    await fixture.pod('a', wanting('2'));
    await fixture.pod('b', wanting('2'));
    assert.deepEqual([fixture.nodeOf('a'), fixture.nodeOf('b')].sort(), ['n1', 'n2']);
  });

  withScheduler('without a node that fits it stays Pending, with the reasons counted', async (fixture) => {
    await fixture.node('small', { cpu: '1' });
    await fixture.node('tainted', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
    await fixture.node('cordoned', { unschedulable: true });
    await fixture.pod('a', wanting('2'));
    const message =
      '0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {gpu: }, 1 node(s) were unschedulable. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.';
    assert.deepEqual(await fixture.eventsAbout('a'), [`FailedScheduling: ${message}`]);
    const pod = fixture.informers.pods.get({ namespace: 'default', name: 'a' });
    const condition = findCondition(pod?.status?.conditions, 'PodScheduled');
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.message],
      ['False', 'Unschedulable', message],
    );
  });

  withScheduler('a Pending Pod is scheduled again when a node changes', async (fixture) => {
    await fixture.node('n1', { labels: {} });
    await fixture.pod('a', { nodeSelector: { color: 'green' } });
    assert.equal(fixture.nodeOf('a'), undefined);
    await fixture.registry.modify(nodeKind, { name: 'n1' }, (node) => {
      node.metadata.labels = { ...node.metadata.labels, color: 'green' };
      return undefined;
    });
    await fixture.settle();
    assert.equal(fixture.nodeOf('a'), 'n1');
  });

  withScheduler('a Pending Pod is scheduled again when another Pod frees capacity', async (fixture) => {
    await fixture.node('n1', { cpu: '2' });
    await fixture.pod('a', wanting('2'));
    await fixture.pod('b', wanting('2'));
    assert.equal(fixture.nodeOf('b'), undefined);
    const uid = fixture.informers.pods.get({ namespace: 'default', name: 'a' })?.metadata.uid ?? '';
    await fixture.registry.confirmStopped({ namespace: 'default', name: 'a' }, uid);
    await fixture.settle();
    assert.equal(fixture.nodeOf('b'), 'n1');
  });

  withScheduler('of Pods that are created together no more are bound than fit', async (fixture) => {
    await fixture.node('n1', { cpu: '4' });
    const names = Array.from({ length: 10 }, (_, index) => `p${index}`);
    await Promise.all(
      names.map((name) => fixture.registry.create(podKind, 'default', podObject(name, wanting('1')))),
    );
    await fixture.settle();
    await fixture.advance(10);
    assert.equal(names.filter((name) => fixture.nodeOf(name) === 'n1').length, 4);
  });

  withScheduler('a host port is used by one Pod per node', async (fixture) => {
    await fixture.node('n1');
    await fixture.pod('a', listening(8080));
    await fixture.pod('b', listening(8080));
    await fixture.pod('c', listening(8081));
    assert.deepEqual(['a', 'b', 'c'].map(fixture.nodeOf), ['n1', undefined, 'n1']);
    assert.deepEqual(await fixture.eventsAbout('b'), [
      "FailedScheduling: 0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    ]);
  });

  withScheduler('a pinned Pod waits for its node only', async (fixture) => {
    await fixture.node('n1');
    await fixture.node('n2', { cpu: '1' });
    await fixture.pod('a', { ...wanting('2'), ...pinnedTo('n2') });
    assert.equal(fixture.nodeOf('a'), undefined);
    assert.deepEqual(await fixture.eventsAbout('a'), [
      "FailedScheduling: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    ]);
  });

  withScheduler("another scheduler's Pod is left alone", async (fixture) => {
    await fixture.node('n1');
    await fixture.pod('a', { schedulerName: 'theirs' });
    assert.equal(fixture.nodeOf('a'), undefined);
    assert.deepEqual(await fixture.eventsAbout('a'), []);
  });

  withScheduler(
    'a reservation counts until its Pod is seen, and is released when its write fails',
    async (fixture) => {
      await fixture.node('n1', { cpu: '1' });
      const first = fixture.ledger.tryReserve(podObject('a', wanting('1')), 'n1');
      assert.deepEqual(fixture.ledger.tryReserve(podObject('b', wanting('1')), 'n1'), {
        bound: false,
        message: 'Insufficient cpu',
      });
      if (first.bound) first.settle();
      assert.equal(fixture.ledger.tryReserve(podObject('b', wanting('1')), 'n1').bound, true);
    },
  );

  withScheduler(
    'a released reservation leaves the others of its node: no host is overcommitted',
    async (fixture) => {
      await fixture.node('n1', { cpu: '2' });
      const first = fixture.ledger.tryReserve(podObject('a', wanting('1')), 'n1');
      assert.equal(fixture.ledger.tryReserve(podObject('b', wanting('1')), 'n1').bound, true);
      if (first.bound) first.settle();
      assert.equal(fixture.ledger.tryReserve(podObject('c', wanting('1')), 'n1').bound, true);
      assert.deepEqual(fixture.ledger.tryReserve(podObject('d', wanting('1')), 'n1'), {
        bound: false,
        message: 'Insufficient cpu',
      });
    },
  );
});
