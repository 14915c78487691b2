/** Which hosts are visited when a Service changes that hosts receive without asking. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { ServiceFeed } from '../../../coordinator/hub/services/service-feed.js';
import { ServiceFeeds } from '../../../coordinator/hub/services/service-feeds.js';
import { endpointSliceKind, serviceKind } from '../../../coordinator/kinds/index.js';
import type { Endpoint } from '../../../shared/kube/services/endpoint-types.js';
import { RELAY_ANNOTATION } from '../../../shared/kube/services/service-annotations.js';
import { type ControlPlane, startControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { podEndpointOf, serviceObject, sliceObject } from '../../harness/hub/hub-service-builders.js';

interface Fixture extends ControlPlane {
  feeds: ServiceFeeds;
  /** The visited hosts of each change. */
  visits: string[][];
}

async function withFeeds(t: TestContext): Promise<Fixture> {
  const plane = await startControlPlane();
  const visits: string[][] = [];
  const feeds = new ServiceFeeds(plane, (nodes) =>
    visits.push(nodes === 'all' ? ['all'] : [...nodes].sort()),
  );
  feeds.start();
  t.after(async () => {
    feeds.stop();
    await plane.stop();
  });
  return { ...plane, feeds, visits };
}

const RELAYED = { annotations: { [RELAY_ANNOTATION]: 'true' } };
const REF = { namespace: 'default', name: 'web' };
const NODES = ['n1', 'n2'];

async function createService({ registry, settle }: Fixture, spec: object, meta: object = {}): Promise<void> {
  await registry.create(serviceKind, 'default', serviceObject('web', spec, meta));
  const endpoints = NODES.map((node) => podEndpointOf('web', node));
  await registry.create(endpointSliceKind, 'default', sliceObject('web', endpoints));
  await settle();
}

async function setEndpoints({ registry, settle }: Fixture, endpoints: Endpoint[]): Promise<void> {
  await registry.modify(endpointSliceKind, { namespace: 'default', name: 'web-1' }, (slice) => {
    slice.endpoints = endpoints;
    return undefined;
  });
  await settle();
}

const unready = (node: string) =>
  podEndpointOf('web', node, { conditions: { ready: false, serving: false, terminating: false } });

describe('a relayed Service', () => {
  test('visits only hosts that get or lose an endpoint, not those whose Pods change their readiness', async (t) => {
    const fixture = await withFeeds(t);
    await createService(fixture, { clusterIP: '' }, RELAYED);
    assert.deepEqual(fixture.visits, [['all'], NODES]);
    fixture.visits.length = 0;
    await setEndpoints(fixture, NODES.map(unready));
    assert.deepEqual(fixture.visits, []);
    await setEndpoints(fixture, ['n2', 'n3'].map(unready));
    assert.deepEqual(fixture.visits, [['n1', 'n3']]);
    const isSent = (node: string) => fixture.feeds.unrequestedFor(node).has('default/web');
    assert.deepEqual(['n1', 'n2', 'n3'].filter(isSent), ['n2', 'n3']);
  });
});

describe('a Service with node ports', () => {
  test('visits all hosts when it is created and when its type changes, not at each write', async (t) => {
    const fixture = await withFeeds(t);
    await createService(fixture, { clusterIP: '', type: 'NodePort' });
    assert.deepEqual(fixture.visits, [['all']]);
    const change = (labels: Record<string, string>, type: string) =>
      fixture.registry.modify(serviceKind, REF, ({ metadata, spec = {} }) => {
        metadata.labels = labels;
        spec.type = type;
        if (type === 'ClusterIP') for (const port of spec.ports ?? []) delete port.nodePort;
        return undefined;
      });
    await change({ a: 'b' }, 'NodePort');
    await fixture.settle();
    assert.deepEqual(fixture.visits, [['all']]);
    await change({}, 'ClusterIP');
    await fixture.settle();
    assert.deepEqual(fixture.visits, [['all'], ['all']]);
  });
});

test('a feed knows the nodes of all slices, also while two slices have an endpoint on one node', () => {
  const feed = new ServiceFeed('default/web');
  const member = { node: 'n1', state: 'ready' as const, place: undefined };
  feed.setSlice('a', [member], 0);
  feed.setSlice('b', [member, member], 0);
  feed.setSlice('a', [], 1);
  assert.equal(feed.runsOn('n1'), true);
  feed.setSlice('b', [], 2);
  assert.equal(feed.runsOn('n1'), false);
});
