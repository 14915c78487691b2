/** Changes of a Service's endpoints, zones and ports reach the hosts that have it, and no more than necessary. */
import assert from 'node:assert/strict';
import { endpointSliceKind, nodeKind, serviceKind } from '../../../coordinator/kinds/index.js';
import type { Endpoint } from '../../../shared/kube/services/endpoint-types.js';
import { SERVICES } from '../../../shared/link/link-features.js';
import type { ChangedEndpoints, ServiceViews } from '../../../shared/link/messages/link-messages.js';
import { until } from '../../harness/basics/wait-until.js';
import { type HubFixture, withHub } from '../../harness/hub/hub-fixture.js';
import { podEndpointOf, serviceObject, sliceObject } from '../../harness/hub/hub-service-builders.js';
import { helloOf, type RawAgent, rawAgent } from '../../harness/hub/raw-agent.js';

const GATHER_MS = 250;
const LATER_MS = 2_000;

/** A live agent of n1 that has asked for `web`. */
async function interested(fixture: HubFixture): Promise<RawAgent> {
  const agent = await rawAgent(fixture, 'n1');
  agent.send(helloOf('n1', { features: [SERVICES] }));
  await agent.waitFor('welcome');
  agent.send({ kind: 'serviceInterest', wanted: [['default/web', '']], unwanted: [] });
  await agent.waitFor('serviceViews');
  return agent;
}

/** A Service without a selector, so that its endpoints need no Pods, and a slice with these endpoints. */
async function store({ controlPlane }: HubFixture, endpoints: Endpoint[], meta: object = {}): Promise<void> {
  const { selector: _, ...spec } = serviceObject('web').spec ?? {};
  await controlPlane.registry.create(serviceKind, 'default', { ...serviceObject('web', {}, meta), spec });
  await controlPlane.registry.create(endpointSliceKind, 'default', sliceObject('web', endpoints));
  await controlPlane.settle();
}

async function replace(
  { controlPlane }: HubFixture,
  endpoints: Endpoint[],
  waitMs = GATHER_MS,
): Promise<void> {
  await controlPlane.registry.modify(endpointSliceKind, { namespace: 'default', name: 'web-1' }, (slice) => {
    slice.endpoints = endpoints;
    return undefined;
  });
  await controlPlane.settle();
  await controlPlane.advance(waitMs);
}

function endpointOf(node: string, more: Partial<Endpoint> = {}): Endpoint {
  const { targetRef: _, ...endpoint } = podEndpointOf('web', node, more);
  return endpoint;
}

const unready = (endpoint: Endpoint): Endpoint => ({
  ...endpoint,
  conditions: { ready: false, serving: false },
});

function changesOf(agent: RawAgent): ChangedEndpoints[] {
  return agent.received.flatMap((message) => (message.kind === 'endpointChanges' ? message.changes : []));
}

withHub('a Pod that replaces another on its node costs changes of state alone', async (fixture) => {
  const [n2, n3] = [endpointOf('n2'), endpointOf('n3')];
  await store(fixture, [n2, n3]);
  const agent = await interested(fixture);
  await replace(fixture, [n3]);
  await replace(fixture, [unready(n2), n3]);
  await replace(fixture, [n2, n3]);
  await until(() => changesOf(agent).length === 2);
  const [gone, back] = changesOf(agent);
  assert.deepEqual([gone?.notReady.length, gone?.removed, gone?.set], [1, [], []]);
  assert.deepEqual([back?.ready, back?.removed, back?.set], [gone?.notReady, [], []]);
});

withHub(
  'a host whose whole subset fails receives ready endpoints from outside, and loses them later',
  async (fixture) => {
    const endpoints = Array.from({ length: 200 }, (_, at) => endpointOf(`n${at + 2}`));
    await store(fixture, endpoints);
    const agent = await interested(fixture);
    const { set } = await agent.waitFor('serviceViews');
    const chosen = new Set(set[0]?.remote.map(({ node }) => node));
    assert.equal(chosen.size, 64);
    const failed = endpoints.map((each) => (chosen.has(each.nodeName ?? '') ? unready(each) : each));
    // Another endpoint becomes ready a moment later.
    const [late] = failed.filter(({ nodeName }) => !chosen.has(nodeName ?? ''));
    await replace(
      fixture,
      failed.filter((each) => each !== late),
    );
    await replace(fixture, failed, 1_000);
    await fixture.controlPlane.advance(GATHER_MS);
    await until(() => changesOf(agent).some((changes) => changes.set.length === 8));
    await replace(fixture, endpoints, LATER_MS);
    await until(() => changesOf(agent).some((changes) => changes.removed.length === 8));
  },
);

withHub(
  'with a strict zone, a Node that moves to another zone receives the endpoints of that zone',
  async (fixture) => {
    const { controlPlane } = fixture;
    const annotations = { 'fleet.everynode.dev/within': 'zone' };
    await store(fixture, [endpointOf('n2', { zone: 'a' }), endpointOf('n3', { zone: 'b' })], { annotations });
    const agent = await interested(fixture);
    const { set } = await agent.waitFor('serviceViews');
    assert.deepEqual(set[0]?.remote, []);
    const zones = ['a', 'b'];
    for (const zone of zones) {
      await controlPlane.registry.modify(nodeKind, { name: 'n1' }, (node) => {
        node.metadata.labels = { ...node.metadata.labels, 'topology.kubernetes.io/zone': zone };
        return undefined;
      });
      await controlPlane.settle();
      await controlPlane.advance(GATHER_MS);
      await until(() => changesOf(agent).at(-1)?.set[0]?.zone === zone);
    }
    assert.equal(changesOf(agent).at(-1)?.removed.length, 1);
  },
);

withHub('another port of the Service is a whole view', async (fixture) => {
  const { controlPlane } = fixture;
  await store(fixture, [endpointOf('n2')]);
  const agent = await interested(fixture);
  await controlPlane.registry.modify(serviceKind, { namespace: 'default', name: 'web' }, (service) => {
    service.spec = { ...service.spec, ports: [{ name: 'other', port: 81, targetPort: 81 }] };
    return undefined;
  });
  await controlPlane.settle();
  await controlPlane.advance(GATHER_MS);
  const views = () =>
    agent.received.filter((message): message is ServiceViews => message.kind === 'serviceViews');
  await until(() => views().length === 2);
  assert.deepEqual(views()[1]?.set[0]?.remote[0]?.ports, [0]);
});

withHub('a session has a bounded number of Services', async (fixture) => {
  const agent = await interested(fixture);
  const wanted = Array.from({ length: 4_999 }, (_, at): [string, string] => [`default/s-${at}`, '']);
  for (const group of [wanted, wanted.map(([name]): [string, string] => [`${name}-more`, ''])])
    agent.send({ kind: 'serviceInterest', wanted: group, unwanted: [] });
  const absent = () =>
    agent.received.flatMap((message) => (message.kind === 'serviceViews' ? message.absent : []));
  await until(() => absent().length === 5_000);
  agent.send({ kind: 'serviceInterest', wanted: [], unwanted: ['default/s-0'] });
  agent.send({ kind: 'serviceInterest', wanted: [['default/last', '']], unwanted: [] });
  await until(() => absent().includes('default/last'));
  assert.equal(absent().length, 5_001);
});
