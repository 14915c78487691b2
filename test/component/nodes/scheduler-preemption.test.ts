import assert from 'node:assert/strict';
import { describe, mock } from 'node:test';
import { podDisruptionBudgetKind, podKind, rolloutPolicyKind } from '../../../coordinator/kinds/index.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { setReady } from '../../harness/controllers/control-plane-fixture.js';
import { type PriorityFixture, wanting, withPriorities } from '../../harness/controllers/priority-fixture.js';
import { pinnedTo } from '../../harness/objects/object-builders.js';

/** A node with 2 CPUs and the classes `low` (10), `mid` (100) and `high` (1000). */
async function smallNode(fixture: PriorityFixture, name = 'n1'): Promise<void> {
  await fixture.node(name, { cpu: '2' });
}

async function classes(fixture: PriorityFixture): Promise<void> {
  await fixture.priorityClass('low', 10);
  await fixture.priorityClass('mid', 100);
  await fixture.priorityClass('high', 1000);
}

const nominated = (fixture: PriorityFixture, name: string) =>
  fixture.podNamed(name)?.status?.nominatedNodeName;

const scheduled = (fixture: PriorityFixture, name: string) =>
  findCondition(fixture.podNamed(name)?.status?.conditions, 'PodScheduled')?.message;

describe('preemption', () => {
  withPriorities('a Pod ends a lower one with its own grace, and waits for it', async (fixture) => {
    await classes(fixture);
    await smallNode(fixture);
    fixture.stops = false;
    await fixture.pod('victim', { ...wanting('2', 'low'), terminationGracePeriodSeconds: 7 });
    await fixture.pod('p', wanting('1', 'high'));
    const victim = fixture.podNamed('victim');
    assert.equal(victim?.metadata.deletionGracePeriodSeconds, 7);
    const disrupted = findCondition(victim?.status?.conditions, 'DisruptionTarget');
    assert.deepEqual(
      [disrupted?.status, disrupted?.reason, disrupted?.message],
      ['True', 'PreemptionByScheduler', 'default-scheduler: preempting to accommodate a higher priority pod'],
    );
    assert.equal(nominated(fixture, 'p'), 'n1');
    assert.equal(scheduled(fixture, 'p'), '0/1 nodes are available: 1 Insufficient cpu.');
    const uid = fixture.podNamed('p')?.metadata.uid;
    assert.deepEqual(
      (await fixture.plane.eventsAbout('victim')).filter((text) => text.startsWith('Preempted')),
      [`Preempted: Preempted by pod ${uid} on node n1`],
    );
    await fixture.stopDeleted();
    assert.deepEqual(fixture.places(), ['p@n1']);
  });

  withPriorities('a node on which no budget is violated comes first', async (fixture) => {
    await classes(fixture);
    await smallNode(fixture, 'n1');
    await smallNode(fixture, 'n2');
    fixture.stops = false;
    await fixture.pod('a', { ...wanting('2', 'low'), ...pinnedTo('n1') });
    await fixture.pod('b', { ...wanting('2', 'mid'), ...pinnedTo('n2') });
    const { registry } = fixture.plane;
    await registry.modify(podKind, { namespace: 'default', name: 'a' }, (pod) => {
      pod.metadata.labels = { app: 'kept' };
      return undefined;
    });
    const selector = { matchLabels: { app: 'kept' } };
    const budget = { metadata: { name: 'kept' }, spec: { minAvailable: 1, selector } };
    await registry.create(podDisruptionBudgetKind, 'default', budget);
    await fixture.settle();
    const list = mock.method(fixture.plane.informers.podDisruptionBudgets, 'list');
    await fixture.pod('p', wanting('1', 'high'));
    assert.equal(list.mock.callCount(), 2, 'once for the plan of both nodes, once before the victim ends');
    assert.deepEqual(fixture.places(), ['a@n1', 'b@n2!', 'p@-']);
    assert.equal(nominated(fixture, 'p'), 'n2');
  });

  withPriorities('while a victim ends there is no second round', async (fixture) => {
    await classes(fixture);
    await smallNode(fixture);
    fixture.stops = false;
    await fixture.pod('a', wanting('1', 'low'));
    await fixture.pod('b', wanting('1', 'mid'));
    await fixture.pod('p', wanting('1', 'high'));
    // A change of the node makes the scheduler look at the Pod again.
    await fixture.plane.advance(400_000);
    await fixture.settle();
    assert.deepEqual(fixture.places(), ['a@n1!', 'b@n1', 'p@-']);
    assert.equal(
      scheduled(fixture, 'p'),
      '0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to a terminating pod on the nominated node.',
    );
    assert.equal(nominated(fixture, 'p'), 'n1');
    await fixture.stopDeleted();
    assert.deepEqual(fixture.places(), ['b@n1', 'p@n1']);
  });

  withPriorities('the policy Never waits for free capacity', async (fixture) => {
    await fixture.priorityClass('polite', 1000, { preemptionPolicy: 'Never' });
    await smallNode(fixture);
    await fixture.pod('a', wanting('2'));
    await fixture.pod('p', wanting('1', 'polite'));
    assert.deepEqual(fixture.places(), ['a@n1', 'p@-']);
    assert.equal(
      scheduled(fixture, 'p'),
      '0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.',
    );
  });

  withPriorities('an equal or higher Pod is never ended', async (fixture) => {
    await classes(fixture);
    await smallNode(fixture);
    await fixture.pod('a', wanting('1', 'mid'));
    await fixture.pod('b', wanting('1', 'high'));
    await fixture.pod('p', wanting('1', 'mid'));
    assert.deepEqual(fixture.places(), ['a@n1', 'b@n1', 'p@-']);
    assert.equal(
      scheduled(fixture, 'p'),
      '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
    );
  });

  withPriorities('of several nodes the one with the least important victim is chosen', async (fixture) => {
    await classes(fixture);
    await smallNode(fixture, 'n1');
    await smallNode(fixture, 'n2');
    await fixture.pod('a', { ...wanting('2', 'mid'), nodeSelector: { 'kubernetes.io/hostname': 'n1' } });
    await fixture.pod('b', { ...wanting('2', 'low'), nodeSelector: { 'kubernetes.io/hostname': 'n2' } });
    await fixture.pod('p', wanting('2', 'high'));
    assert.deepEqual(fixture.places(), ['a@n1', 'p@n2']);
  });

  withPriorities('a Pod between victim and preemptor does not take the freed capacity', async (fixture) => {
    await classes(fixture);
    await smallNode(fixture);
    fixture.stops = false;
    await fixture.pod('victim', wanting('2', 'low'));
    await fixture.pod('p', wanting('2', 'high'));
    await fixture.pod('between', { ...wanting('2', 'mid'), ...pinnedTo('n1') });
    await fixture.stopDeleted();
    assert.deepEqual(fixture.places(), ['between@-', 'p@n1']);
  });

  withPriorities(
    'a higher Pod takes the nominated node, and the lower nomination is cleared',
    async (fixture) => {
      await classes(fixture);
      await fixture.priorityClass('top', 5000);
      await smallNode(fixture);
      fixture.stops = false;
      await fixture.pod('victim', wanting('2', 'low'));
      await fixture.pod('p', wanting('2', 'high'));
      await fixture.pod('q', wanting('2', 'top'));
      assert.deepEqual([nominated(fixture, 'p'), nominated(fixture, 'q')], [undefined, 'n1']);
      await fixture.stopDeleted();
      assert.deepEqual(fixture.places(), ['p@-', 'q@n1']);
      assert.deepEqual(fixture.deleted, ['victim']);
    },
  );

  withPriorities('nothing is preempted on an offline host, until it returns', async (fixture) => {
    await classes(fixture);
    await smallNode(fixture);
    await fixture.pod('a', { ...wanting('2', 'low'), tolerations: [{ operator: 'Exists' }] });
    await setReady(fixture.plane, 'n1', 'Unknown');
    await fixture.pod('p', { ...wanting('2', 'high'), tolerations: [{ operator: 'Exists' }] });
    assert.deepEqual(fixture.places(), ['a@n1', 'p@-']);
    assert.equal(
      scheduled(fixture, 'p'),
      '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    );
    await setReady(fixture.plane, 'n1', 'True');
    await fixture.settle();
    assert.deepEqual(fixture.places(), ['p@n1']);
  });

  withPriorities(
    'of Pods that wait for a node the one of higher priority is bound first',
    async (fixture) => {
      await classes(fixture);
      await fixture.priorityClass('polite', 500, { preemptionPolicy: 'Never' });
      await smallNode(fixture);
      await fixture.pod('a', wanting('2', 'high'));
      await fixture.pod('low', { ...wanting('2', 'low'), ...pinnedTo('n1') });
      await fixture.pod('polite', wanting('2', 'polite'));
      await fixture.plane.registry.delete(podKind, { namespace: 'default', name: 'a' });
      await fixture.settle();
      assert.deepEqual(fixture.places(), ['low@-', 'polite@n1']);
    },
  );

  withPriorities('the capacity of a nominated Pod that is deleted goes to the others', async (fixture) => {
    await classes(fixture);
    await smallNode(fixture);
    fixture.stops = false;
    await fixture.pod('victim', wanting('2', 'low'));
    await fixture.pod('p', wanting('2', 'high'));
    await fixture.pod('waiting', wanting('2', 'low'));
    await fixture.plane.registry.delete(podKind, { namespace: 'default', name: 'p' });
    await fixture.stopDeleted();
    assert.deepEqual(fixture.places(), ['waiting@n1']);
  });
});

/** A cordoned node with 4 CPUs, `w` with 1, and `v` with 3, which started later. */
async function cordonedNode(fixture: PriorityFixture): Promise<void> {
  await classes(fixture);
  await fixture.priorityClass('top', 5000);
  await fixture.node('n1', { cpu: '4' });
  await fixture.pod('w', wanting('1', 'low'));
  await fixture.plane.advance(2_000);
  await fixture.pod('v', wanting('3', 'low'));
  await fixture.cordon('n1', true);
}

/** Returns the victims of which an Event says that they were preempted for this Pod. */
async function victimsOf(fixture: PriorityFixture, preemptor: string): Promise<string[]> {
  const text = `Preempted: Preempted by pod ${fixture.podNamed(preemptor)?.metadata.uid} on node n1`;
  const names: string[] = [];
  for (const name of ['v', 'w'])
    names.push(...(await fixture.plane.eventsAbout(name)).filter((event) => event === text).map(() => name));
  return names;
}

describe('preemptors of the same moment', () => {
  withPriorities('a Pod ends none if a higher one takes the node at the same time', async (fixture) => {
    await cordonedNode(fixture);
    await fixture.pod('a', wanting('1', 'top'));
    await fixture.pod('b', wanting('4', 'high'));
    await fixture.cordon('n1', false);
    await fixture.plane.advance(1_000);
    await fixture.settle();
    assert.deepEqual(fixture.deleted, ['v']);
    assert.deepEqual(fixture.places(), ['a@n1', 'b@-', 'w@n1']);
    assert.deepEqual([nominated(fixture, 'a'), nominated(fixture, 'b')], ['n1', undefined]);
  });

  withPriorities('a Pod ends none if a higher one takes the node before its victims end', async (fixture) => {
    await cordonedNode(fixture);
    await fixture.pod('b', wanting('4', 'high'));
    let isLate = false;
    const { registry } = fixture.plane;
    const { writeStatus } = registry;
    registry.writeStatus = async (...write) => {
      const record = await writeStatus(...write);
      const { metadata, status } = record.object() as KubeObject as Pod;
      if (!isLate && metadata.name === 'b' && status?.nominatedNodeName) {
        // The nomination of `b` is stored, and its victims have not ended yet.
        isLate = true;
        await fixture.pod('a', wanting('1', 'top'));
      }
      return record;
    };
    await fixture.cordon('n1', false);
    assert.ok(isLate);
    await fixture.plane.advance(1_000);
    await fixture.settle();
    assert.deepEqual(fixture.deleted, ['v']);
    assert.deepEqual(fixture.places(), ['a@n1', 'b@-', 'w@n1']);
  });

  withPriorities(
    'two Pods that need different victims end one each, with one Event each',
    async (fixture) => {
      await cordonedNode(fixture);
      fixture.stops = false;
      await fixture.pod('a', wanting('2', 'high'));
      await fixture.pod('b', wanting('2', 'high'));
      await fixture.cordon('n1', false);
      await fixture.plane.advance(1_000);
      await fixture.settle();
      assert.deepEqual(fixture.deleted.sort(), ['v', 'w']);
      const [ofA, ofB] = [await victimsOf(fixture, 'a'), await victimsOf(fixture, 'b')];
      assert.deepEqual([...ofA, ...ofB].sort(), ['v', 'w'], 'each victim has one Event');
      await fixture.stopDeleted();
      assert.deepEqual(fixture.places(), ['a@n1', 'b@n1']);
    },
  );
});

describe('preemption among DaemonSets', () => {
  withPriorities(
    "the victim's successor waits, is no failure, and starts when capacity returns",
    async (fixture) => {
      await classes(fixture);
      await smallNode(fixture);
      await fixture.daemonSet('logs', wanting('1500m', 'low'));
      assert.deepEqual(fixture.places(), ['logs@n1']);
      await fixture.daemonSet('guard', wanting('1', 'high'));
      assert.deepEqual(fixture.places(), ['guard@n1', 'logs@-']);
      assert.equal(fixture.deleted.length, 1, 'one Pod was deleted');
      const { desiredNumberScheduled, currentNumberScheduled, numberUnavailable } =
        fixture.statusOf('logs') ?? {};
      assert.deepEqual([desiredNumberScheduled, currentNumberScheduled, numberUnavailable], [1, 1, 1]);
      const events = await fixture.plane.eventsAbout('logs');
      assert.equal(events.filter((text) => /FailedDaemonPod/.test(text)).length, 0);
      await fixture.plane.advance(600_000);
      await fixture.settle();
      assert.equal(fixture.deleted.length, 1, 'nothing is created and deleted again');
      await fixture.deleteDaemonSet('guard');
      assert.deepEqual(fixture.places(), ['logs@n1']);
      assert.equal(fixture.statusOf('logs')?.numberUnavailable ?? 0, 0);
    },
  );

  withPriorities(
    'the successor of a victim does not take the capacity while the victim ends late',
    async (fixture) => {
      await classes(fixture);
      await smallNode(fixture);
      await fixture.daemonSet('logs', wanting('2', 'low'));
      fixture.stops = false;
      await fixture.daemonSet('guard', wanting('2', 'high'));
      assert.deepEqual(fixture.places(), ['guard@-', 'logs@n1!']);
      assert.equal(fixture.podOf('guard').status?.nominatedNodeName, 'n1');
      assert.deepEqual(
        [fixture.why('guard', 'n1').code, fixture.why('logs', 'n1').code],
        ['Preempting', 'Preempted'],
      );
      await fixture.stopDeleted();
      assert.deepEqual(fixture.places(), ['guard@n1', 'logs@-']);
      assert.equal(fixture.deleted.length, 1);
    },
  );

  withPriorities('every node ends its own lower Pod', async (fixture) => {
    await classes(fixture);
    for (const name of ['n1', 'n2', 'n3']) await smallNode(fixture, name);
    await fixture.daemonSet('logs', wanting('2', 'low'));
    await fixture.daemonSet('guard', wanting('1', 'high'));
    assert.deepEqual(fixture.places(), [
      ...['guard@n1', 'guard@n2', 'guard@n3'],
      ...['logs@-', 'logs@-', 'logs@-'],
    ]);
    assert.equal(fixture.deleted.length, 3);
  });

  withPriorities('a preempted Pod is no failure of its revision', async (fixture) => {
    await classes(fixture);
    for (const name of ['n1', 'n2']) await smallNode(fixture, name);
    await fixture.daemonSet('logs', wanting('1500m', 'low'));
    const failureBudget = { maxFailed: 0, progressDeadlineSeconds: 60 };
    await fixture.plane.registry.create(rolloutPolicyKind, 'default', {
      metadata: { name: 'gentle' },
      spec: { selector: {}, failureBudget },
    });
    await fixture.settle();
    await fixture.release('logs', 'app:2');
    await fixture.plane.advance(10_000);
    await fixture.settle();
    const phase = () =>
      fixture.plane.informers.rollouts.get({ namespace: 'default', name: 'logs' })?.status?.phase;
    assert.equal(phase(), 'Completed');
    await fixture.release('logs', 'app:3');
    await fixture.daemonSet('guard', {
      ...wanting('1', 'high'),
      nodeSelector: { 'kubernetes.io/hostname': 'n2' },
    });
    for (let rounds = 0; rounds < 5; rounds += 1) {
      await fixture.plane.advance(100_000);
      await fixture.settle();
    }
    assert.deepEqual(fixture.places(), ['guard@n2', 'logs@-', 'logs@n1']);
    assert.notEqual(phase(), 'Failed');
    assert.equal(fixture.why('logs', 'n2').code, 'Preempted');
    await fixture.deleteDaemonSet('guard');
    await fixture.plane.advance(10_000);
    await fixture.settle();
    assert.equal(phase(), 'Completed');
  });

  withPriorities(
    'a release that exceeds its node fails there although a preemptor runs on it',
    async (fixture) => {
      await classes(fixture);
      await smallNode(fixture);
      await fixture.daemonSet('logs', wanting('500m', 'low'));
      await fixture.pod('victim', wanting('1500m', 'low'));
      await fixture.pod('guard', wanting('1', 'high'));
      assert.deepEqual(fixture.places(), ['guard@n1', 'logs@n1']);
      const failureBudget = { maxFailed: 0, progressDeadlineSeconds: 60 };
      await fixture.plane.registry.create(rolloutPolicyKind, 'default', {
        metadata: { name: 'gentle' },
        spec: { selector: {}, failureBudget },
      });
      await fixture.release('logs', 'app:2', '3');
      for (let rounds = 0; rounds < 3; rounds += 1) {
        await fixture.plane.advance(100_000);
        await fixture.settle();
      }
      assert.deepEqual(fixture.places(), ['guard@n1', 'logs@-']);
      assert.equal(fixture.why('logs', 'n1').code, 'Unschedulable');
      const rollout = fixture.plane.informers.rollouts.get({ namespace: 'default', name: 'logs' });
      assert.equal(rollout?.status?.phase, 'Failed');
    },
  );

  withPriorities('an unknown class is a FailedCreate until the class exists', async (fixture) => {
    await smallNode(fixture);
    await fixture.daemonSet('logs', wanting('1', 'later'));
    const events = await fixture.plane.eventsAbout('logs');
    assert.match(
      events.join('\n'),
      /FailedCreate: Error creating: pods "logs-" is forbidden: no PriorityClass with name later was found/,
    );
    assert.equal(fixture.why('logs', 'n1').code, 'FailedCreate');
    await fixture.priorityClass('later', 5);
    await fixture.plane.advance(60_000);
    await fixture.settle();
    assert.deepEqual(fixture.places(), ['logs@n1']);
    assert.equal(fixture.podOf('logs').spec.priority, 5);
  });
});
