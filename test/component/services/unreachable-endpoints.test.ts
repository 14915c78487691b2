import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { serviceKind } from '../../../coordinator/kinds/index.js';
import { joinNode } from '../../harness/controllers/control-plane-fixture.js';
import { type ServiceFixture, withServices } from '../../harness/controllers/service-fixture.js';

/** After this time the number of unreachable Pods is reported if it did not change. */
const STABLE_MS = 10_000;
const BRIDGED = { hostNetwork: false, containers: [{ name: 'c', image: 'i' }] };

async function withBridgedPods(
  fixture: ServiceFixture,
  count: number,
  service: object = {},
  meta: object = {},
) {
  await fixture.service('web', service, meta);
  for (let index = 0; index < count; index += 1) await addBridgedPod(fixture, index);
  await fixture.gather();
}

async function addBridgedPod(fixture: ServiceFixture, index: number): Promise<void> {
  await joinNode(fixture, `n${index}`);
  await fixture.pod(`web-${index}`, { app: 'web', node: `n${index}`, spec: BRIDGED, ip: '172.17.0.2' });
}

async function eventsAfter(fixture: ServiceFixture, ms: number): Promise<string[]> {
  await fixture.gather();
  await fixture.advance(ms);
  await fixture.gather();
  return fixture.eventsAbout('web');
}

const text = (count: number) =>
  `EndpointsUnreachable: ${count} Pods have no port on their hosts; use hostPort or hostNetwork`;

describe('Pods that only their own hosts reach', () => {
  withServices('are counted in an Event, once', async (fixture) => {
    await withBridgedPods(fixture, 3);
    assert.deepEqual(await eventsAfter(fixture, STABLE_MS), [text(3)]);
    await fixture.setReady('web-1', 'False');
    assert.deepEqual(await eventsAfter(fixture, 600_000), [text(3)], 'readiness does not matter');
    await addBridgedPod(fixture, 3);
    assert.deepEqual(await eventsAfter(fixture, STABLE_MS), [text(3), text(4)]);
  });

  withServices('are not reported while their number changes', async (fixture) => {
    await withBridgedPods(fixture, 2);
    for (let index = 2; index < 6; index += 1) {
      await addBridgedPod(fixture, index);
      assert.deepEqual(await eventsAfter(fixture, STABLE_MS / 5), []);
    }
    assert.deepEqual(await eventsAfter(fixture, STABLE_MS), [text(6)]);
  });

  withServices('are listed with their own addresses', async (fixture) => {
    await withBridgedPods(fixture, 2);
    assert.deepEqual(
      fixture.listed().map(({ addresses, nodeName }) => [addresses[0], nodeName]),
      [
        ['172.17.0.2', 'n0'],
        ['172.17.0.2', 'n1'],
      ],
    );
  });

  withServices('cause no Event with internalTrafficPolicy Local', async (fixture) => {
    await withBridgedPods(fixture, 2, { internalTrafficPolicy: 'Local' });
    assert.deepEqual(await eventsAfter(fixture, STABLE_MS), []);
  });

  withServices('cause no Event with a relay, but do when it is removed', async (fixture) => {
    await withBridgedPods(fixture, 2, {}, { annotations: { 'fleet.everynode.dev/relay': 'true' } });
    assert.deepEqual(await eventsAfter(fixture, STABLE_MS), []);
    await fixture.registry.modify(serviceKind, { namespace: 'default', name: 'web' }, ({ metadata }) => {
      delete metadata.annotations?.['fleet.everynode.dev/relay'];
      return undefined;
    });
    await fixture.gather();
    assert.deepEqual(await eventsAfter(fixture, STABLE_MS), [text(2)]);
  });
});
