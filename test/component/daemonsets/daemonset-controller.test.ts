/** The DaemonSet controller over the real registry and informers: creation, deletion and adoption of Pods. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { daemonSetKind, podKind } from '../../../coordinator/kinds/index.js';
import type { DaemonSetSpec } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { addNode, DaemonFleet, type FleetOptions } from '../../harness/controllers/daemon-fleet.js';
import { podObject } from '../../harness/objects/object-builders.js';

const DEFAULT = 'default';
const ROLLING = (maxUnavailable: number, maxSurge: number): Partial<DaemonSetSpec> => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } },
});

let fleet: DaemonFleet;

async function start(nodes: number, options: FleetOptions = {}): Promise<DaemonFleet> {
  const names = Array.from({ length: nodes }, (_, index) => `n${index}`);
  fleet = await DaemonFleet.start(names, options);
  return fleet;
}

afterEach(() => fleet.stop());

test('every eligible node gets one bound Pod, and the status shows it', async () => {
  await start(3);
  await fleet.create('web');
  await fleet.rolledOut('web');
  assert.deepEqual(fleet.images(), { n0: 'app:1', n1: 'app:1', n2: 'app:1' });
  const { conditions: _none, ...status } = fleet.status('web') ?? {};
  assert.deepEqual(status, {
    currentNumberScheduled: 3,
    numberMisscheduled: 0,
    desiredNumberScheduled: 3,
    numberReady: 3,
    observedGeneration: 1,
    updatedNumberScheduled: 3,
    numberAvailable: 3,
  });
  assert.equal(
    fleet.events.filter((event) => /^Normal SuccessfulCreate Created pod: web-/.test(event)).length,
    3,
  );
});

test('on a hundred hosts, status updates in quick succession are batched', async () => {
  await start(100, { agents: { ready: () => false } });
  await fleet.create('web');
  await until(() => {
    fleet.clock.advance(50);
    return fleet.status('web')?.currentNumberScheduled === 100;
  });
  fleet.clock.advance(50);
  const [one, other] = fleet.pods();
  assert.ok(one && other);
  await fleet.setPod(one, 'Running', true);
  await until(() => fleet.status('web')?.numberReady === 1);
  await fleet.setPod(other, 'Running', true);
  await fleet.settle();
  assert.equal(fleet.status('web')?.numberReady, 1);
  fleet.clock.advance(50);
  await until(() => fleet.status('web')?.numberReady === 2);
});

test('Pods follow a change of node labels', async () => {
  await start(2);
  await fleet.label('n0', { color: 'green' });
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'app', image: 'app:1' }], nodeSelector: { color: 'green' } },
  };
  await fleet.create('web', { template });
  await until(() => Object.keys(fleet.images()).join() === 'n0');
  await fleet.label('n1', { color: 'green' });
  await fleet.label('n0', {});
  await until(() => Object.keys(fleet.images()).join() === 'n1');
  await fleet.rolledOut('web');
  assert.equal(fleet.status('web')?.desiredNumberScheduled, 1);
});

test('a NoSchedule taint keeps the Pod as misscheduled; a NoExecute taint removes it', async () => {
  await start(2);
  await fleet.create('web');
  await fleet.rolledOut('web');
  await fleet.taint('n0', [{ key: 'gpu', effect: 'NoSchedule' }]);
  await until(() => fleet.status('web')?.numberMisscheduled === 1);
  assert.equal(fleet.pods().length, 2);
  await fleet.taint('n0', [{ key: 'gpu', effect: 'NoExecute' }]);
  await until(() => fleet.pods().length === 1 && fleet.status('web')?.numberMisscheduled === 0);
});

test('a joining node gets its Pod', async () => {
  await start(1);
  await fleet.create('web');
  await fleet.rolledOut('web');
  await addNode(fleet.registry, 'late');
  await until(() => fleet.images().late === 'app:1');
});

test('a manually deleted Pod is replaced once it has ended', async () => {
  await start(1, { agents: { stops: false } });
  await fleet.create('web');
  await fleet.rolledOut('web');
  const [pod] = fleet.pods();
  assert.ok(pod);
  await fleet.delete(pod);
  await until(() => fleet.status('web')?.currentNumberScheduled === 1 && fleet.pods().length === 1);
  await fleet.registry.confirmStopped(
    { namespace: DEFAULT, name: pod.metadata.name },
    pod.metadata.uid ?? '',
  );
  await until(() => {
    const [successor] = fleet.pods();
    return successor !== undefined && successor.metadata.uid !== pod.metadata.uid;
  });
});

test('a failed Pod is replaced at once, the next one only after the back-off', async () => {
  await start(1);
  await fleet.create('web');
  await fleet.rolledOut('web');
  const fail = async () => {
    const [pod] = fleet.pods();
    assert.ok(pod);
    await fleet.setPod(pod, 'Failed', false);
    return pod.metadata.uid;
  };
  const replaced = (uid: string | undefined) => () => {
    const [pod] = fleet.pods();
    return pod !== undefined && pod.metadata.uid !== uid && pod.status?.phase === 'Running';
  };
  await until(replaced(await fail()));
  const second = await fail();
  await until(() => fleet.status('web')?.numberReady === 0);
  assert.equal(fleet.pods()[0]?.metadata.uid, second);
  fleet.clock.advance(1_000);
  await until(replaced(second));
  assert.ok(
    fleet.events.some((event) =>
      /^Warning FailedDaemonPod Found failed daemon pod default\/web-/.test(event),
    ),
  );
});

test('a matching orphan is adopted, a Pod that no longer matches is released and replaced', async () => {
  await start(1);
  const orphan = podObject('orphan', { nodeName: 'n0' }, { labels: { app: 'web' } });
  await fleet.registry.create(podKind, DEFAULT, orphan);
  const { metadata } = await fleet.create('web', { updateStrategy: { type: 'OnDelete' } });
  const ownerOf = (name: string) => {
    const pod = fleet.informers.pods.get({ namespace: DEFAULT, name });
    return pod && controllerOf(pod.metadata)?.uid;
  };
  await until(() => ownerOf('orphan') === metadata.uid);
  await until(() => fleet.status('web')?.currentNumberScheduled === 1);
  assert.equal(fleet.pods().length, 1);
  await fleet.registry.modify(podKind, { namespace: DEFAULT, name: 'orphan' }, (pod): undefined => {
    pod.metadata.labels = { app: 'other' };
  });
  await until(() => fleet.pods().length === 2 && ownerOf('orphan') === undefined);
  const released = fleet.informers.pods.get({ namespace: DEFAULT, name: 'orphan' });
  assert.equal(released?.metadata.ownerReferences, undefined);
});

test('an orphan that is deleted during its adoption does not block a rolling update', async () => {
  let isGone = false;
  const isOld = (pod: Pod) => pod.spec.containers[0]?.image === 'app:1';
  await start(2, { agents: { ready: (pod) => isGone || isOld(pod) } });
  const { registry } = fleet;
  const modify = registry.modify.bind(registry);
  registry.modify = async (kind, ref, ...rest) => {
    if (ref.name === 'orphan' && !isGone) {
      await registry.delete(podKind, ref, { gracePeriodSeconds: 0 });
      isGone = true;
    }
    return modify(kind, ref, ...rest);
  };
  await fleet.create('web', ROLLING(1, 0));
  await fleet.rolledOut('web');
  await fleet.setImage('web', 'app:2');
  await until(() => Object.values(fleet.images()).includes('app:2'));
  // No other controller acts on a deleted node.
  const orphan = podObject('orphan', { nodeName: 'n9' }, { labels: { app: 'web' } });
  await registry.create(podKind, DEFAULT, orphan);
  await until(() => isGone && fleet.informers.pods.get({ namespace: DEFAULT, name: 'orphan' }) === undefined);
  const [waiting] = fleet.pods().filter((pod) => !isOld(pod));
  assert.ok(waiting);
  await fleet.setPod(waiting, 'Running', true);
  await until(() => {
    fleet.clock.advance(1_000);
    return Object.values(fleet.images()).every((image) => image === 'app:2');
  });
});

test('a terminating DaemonSet is left alone', async () => {
  await start(1);
  await fleet.create('web');
  await fleet.rolledOut('web');
  await fleet.change('web', ({ metadata }) => {
    metadata.finalizers = ['example.com/wait'];
  });
  await fleet.registry.delete(daemonSetKind, { namespace: DEFAULT, name: 'web' });
  await until(
    () =>
      fleet.informers.daemonSets.get({ namespace: DEFAULT, name: 'web' })?.metadata.deletionTimestamp !==
      undefined,
  );
  const [pod] = fleet.pods();
  assert.ok(pod);
  await fleet.delete(pod);
  await until(() => fleet.pods().length === 0);
  assert.equal(fleet.status('web')?.currentNumberScheduled, 1);
});

test('after rejected creates Pods are created one at a time, then faster, until all exist', async () => {
  let [refusals, underWay, most] = [3, 0, 0];
  await start(12, {
    wrap: (registry) => ({
      ...registry,
      createFromTemplate: async (model, nodeName) => {
        if (refusals > 0) {
          refusals -= 1;
          throw new ApiError('Forbidden', 'quota exceeded');
        }
        underWay += 1;
        most = Math.max(most, underWay);
        const created = await registry.createFromTemplate(model, nodeName);
        underWay -= 1;
        return created;
      },
    }),
  });
  await fleet.create('web');
  await until(() => {
    fleet.clock.advance(10);
    return fleet.status('web')?.numberAvailable === 12 || JSON.stringify(fleet.status('web'));
  });
  assert.ok(fleet.events.includes('Warning FailedCreate Error creating: quota exceeded'));
  assert.ok(most > 1);
});
