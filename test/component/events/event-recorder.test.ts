/** Recorded Events are readable at once, counted, and refused like other new objects of a namespace that ends. */
import assert from 'node:assert/strict';
import { eventKind, namespaceKind } from '../../../coordinator/kinds/index.js';
import type { KubeEvent } from '../../../shared/kube/objects/event-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { type ControlPlane, withControlPlane } from '../../harness/controllers/control-plane-fixture.js';

const podOf = (name: string, namespace = 'default'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, uid: `uid-${name}` },
  spec: { containers: [] },
});

async function eventsOf(plane: ControlPlane): Promise<KubeEvent[]> {
  const { records } = await plane.registry.list(eventKind);
  return records.map((record) => record.object());
}

function started(plane: ControlPlane, pod: Pod): void {
  plane.events.forComponent('kubelet')(pod, 'Normal', 'Started', 'Started container c');
}

withControlPlane('an Event has the fields and the order of fields of upstream', async (plane) => {
  started(plane, podOf('p1'));
  const { records } = await plane.registry.list(eventKind);
  const event = records[0]?.object();
  const { name, uid, resourceVersion } = event?.metadata ?? {};
  assert.match(uid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  const time = '2026-01-01T00:00:00Z';
  const expected = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { resourceVersion, namespace: 'default', name, uid, creationTimestamp: time },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p1', uid: 'uid-p1', apiVersion: 'v1' },
    reason: 'Started',
    message: 'Started container c',
    source: { component: 'kubelet' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type: 'Normal',
    eventTime: null,
    reportingComponent: 'kubelet',
    reportingInstance: '',
  };
  assert.equal(records[0]?.bytes().toString(), JSON.stringify(expected));
  assert.deepEqual(event, expected);
});

withControlPlane(
  'an Event that occurs again keeps its name and uid, and has a higher count',
  async (plane) => {
    started(plane, podOf('p1'));
    const [first] = await eventsOf(plane);
    await plane.advance(60_000);
    started(plane, podOf('p1'));
    const [second, ...others] = await eventsOf(plane);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [second?.metadata.name, second?.metadata.uid],
      [first?.metadata.name, first?.metadata.uid],
    );
    const { count, firstTimestamp, lastTimestamp } = second ?? {};
    assert.deepEqual(
      [count, firstTimestamp, lastTimestamp],
      [2, '2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'],
    );
  },
);

withControlPlane('what a client has changed in an Event stays when the Event occurs again', async (plane) => {
  started(plane, podOf('p1'));
  const name = (await eventsOf(plane))[0]?.metadata.name ?? '';
  const patch = { type: 'merge', body: { metadata: { labels: { seen: 'yes' } }, action: 'Start' } } as const;
  await plane.registry.patch(eventKind, { namespace: 'default', name }, patch);
  started(plane, podOf('p1'));
  const [event] = await eventsOf(plane);
  assert.deepEqual([event?.metadata.labels, event?.action, event?.count], [{ seen: 'yes' }, 'Start', 2]);
});

withControlPlane(
  'an Event that a client has deleted is created again when it occurs again',
  async (plane) => {
    started(plane, podOf('p1'));
    const name = (await eventsOf(plane))[0]?.metadata.name ?? '';
    await plane.registry.delete(eventKind, { namespace: 'default', name });
    assert.deepEqual(await eventsOf(plane), []);
    started(plane, podOf('p1'));
    assert.deepEqual(
      (await eventsOf(plane)).map(({ count }) => count),
      [2],
    );
  },
);

withControlPlane('a namespace that is missing or being deleted gets no new Events', async (plane) => {
  await plane.registry.create(namespaceKind, undefined, { metadata: { name: 'ending' } });
  await plane.settle();
  started(plane, podOf('p1', 'ending'));
  await plane.registry.delete(namespaceKind, { name: 'ending' });
  await plane.settle();
  for (const pod of [podOf('p1', 'ending'), podOf('p2', 'ending'), podOf('p3', 'missing')])
    started(plane, pod);
  assert.deepEqual(
    (await eventsOf(plane)).map(({ involvedObject, count }) => [involvedObject.name, count]),
    [['p1', 2]],
  );
});
