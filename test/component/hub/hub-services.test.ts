/** The hub sends hosts the Services that they ask for, and the changes of their endpoints. */
import assert from 'node:assert/strict';
import { endpointSliceKind, serviceKind } from '../../../coordinator/kinds/index.js';
import type { Endpoint } from '../../../shared/kube/services/endpoint-types.js';
import { SERVICES } from '../../../shared/link/link-features.js';
import type { EndpointChanges, ServiceViews } from '../../../shared/link/messages/link-messages.js';
import { serviceViewDigest } from '../../../shared/link/service-view-digest.js';
import { until } from '../../harness/basics/wait-until.js';
import { type HubFixture, withHub } from '../../harness/hub/hub-fixture.js';
import {
  podEndpointOf,
  serviceObject,
  servingPod,
  sliceObject,
  storePod,
} from '../../harness/hub/hub-service-builders.js';
import { helloOf, type RawAgent, rawAgent } from '../../harness/hub/raw-agent.js';

const GATHER_MS = 250;

/** A live agent with the feature. */
async function liveAgent(fixture: HubFixture, node: string, features = [SERVICES]): Promise<RawAgent> {
  const agent = await rawAgent(fixture, node);
  agent.send(helloOf(node, { features }));
  await agent.waitFor('welcome');
  return agent;
}

function viewsOf(agent: RawAgent): ServiceViews[] {
  return agent.received.filter((message): message is ServiceViews => message.kind === 'serviceViews');
}

function changesOf(agent: RawAgent): EndpointChanges[] {
  return agent.received.filter((message): message is EndpointChanges => message.kind === 'endpointChanges');
}

function ask(agent: RawAgent, ...wanted: [string, string][]): void {
  agent.send({ kind: 'serviceInterest', wanted, unwanted: [] });
}

/** Creates the Pods and the slice of `web` on these nodes. */
async function createEndpoints({ controlPlane }: HubFixture, nodes: string[]): Promise<void> {
  const { registry } = controlPlane;
  for (const node of nodes) await storePod(registry, servingPod('web', node));
  const endpoints = nodes.map((node) => podEndpointOf('web', node));
  await registry.create(endpointSliceKind, 'default', sliceObject('web', endpoints));
  await controlPlane.settle();
}

/** Changes the endpoints of the slice of `web`. */
async function changeEndpoints(
  { controlPlane }: HubFixture,
  change: (endpoint: Endpoint) => Endpoint | undefined,
): Promise<void> {
  await controlPlane.registry.modify(endpointSliceKind, { namespace: 'default', name: 'web-1' }, (slice) => {
    slice.endpoints = (slice.endpoints ?? []).flatMap((endpoint) => change(endpoint) ?? []);
    return undefined;
  });
  await controlPlane.settle();
}

const withReady =
  (node: string, ready: boolean) =>
  (endpoint: Endpoint): Endpoint =>
    endpoint.nodeName === node ? { ...endpoint, conditions: { ready, serving: ready } } : endpoint;

withHub(
  'a host receives the Service that it asks for, without the endpoints of its own Pods',
  async (fixture) => {
    const { controlPlane, hub } = fixture;
    await controlPlane.registry.create(serviceKind, 'default', serviceObject('web'));
    await createEndpoints(fixture, ['n1', 'n2', 'n3']);
    const agent = await liveAgent(fixture, 'n1');
    ask(agent, ['default/web', '']);
    const { set } = await agent.waitFor('serviceViews');
    assert.deepEqual(
      set.map(({ name }) => name),
      ['web'],
    );
    assert.deepEqual(set[0]?.remote.map(({ node }) => node).sort(), ['n2', 'n3']);
    assert.deepEqual(hub.services.hostsWith({ namespace: 'default', name: 'web' }), ['n1']);
  },
);

withHub('a Service that does not exist is absent, and is sent when it is created', async (fixture) => {
  const agent = await liveAgent(fixture, 'n1');
  ask(agent, ['default/web', ''], ['nowhere/web', ''], ['Not a name/', '']);
  await until(() => viewsOf(agent).flatMap(({ absent }) => absent).length === 4);
  const absent = viewsOf(agent).flatMap((each) => each.absent);
  assert.deepEqual(absent.sort(), ['Not a name/', 'default/web', 'nowhere/', 'nowhere/web']);
  await fixture.controlPlane.registry.create(serviceKind, 'default', serviceObject('web'));
  await fixture.controlPlane.settle();
  await fixture.controlPlane.advance(GATHER_MS);
  await until(() => viewsOf(agent).some(({ set }) => set.some(({ name }) => name === 'web')));
  await fixture.controlPlane.registry.delete(serviceKind, { namespace: 'default', name: 'web' });
  await fixture.controlPlane.settle();
  await fixture.controlPlane.advance(GATHER_MS);
  await until(() => viewsOf(agent).at(-1)?.absent.includes('default/web'));
});

withHub('a change of state costs one id, and a flap within the gathering time nothing', async (fixture) => {
  const { controlPlane } = fixture;
  await controlPlane.registry.create(serviceKind, 'default', serviceObject('web'));
  await createEndpoints(fixture, ['n2', 'n3']);
  const agent = await liveAgent(fixture, 'n1');
  ask(agent, ['default/web', '']);
  const { set } = await agent.waitFor('serviceViews');
  const id = set[0]?.remote.find(({ node }) => node === 'n2')?.id;
  await changeEndpoints(fixture, withReady('n2', false));
  await changeEndpoints(fixture, withReady('n2', true));
  await controlPlane.advance(GATHER_MS);
  await changeEndpoints(fixture, withReady('n2', false));
  await controlPlane.advance(GATHER_MS);
  const { changes } = await agent.waitFor('endpointChanges');
  const none = { set: [], removed: [], ready: [], terminating: [] };
  assert.deepEqual(changes, [{ service: 'default/web', ...none, notReady: [id] }]);
  assert.equal(changesOf(agent).length, 1);
});

withHub('an endpoint that vanishes is not ready at first, and is removed later', async (fixture) => {
  const { controlPlane } = fixture;
  await controlPlane.registry.create(serviceKind, 'default', serviceObject('web'));
  await createEndpoints(fixture, ['n2', 'n3']);
  const agent = await liveAgent(fixture, 'n1');
  ask(agent, ['default/web', '']);
  await agent.waitFor('serviceViews');
  await changeEndpoints(fixture, (endpoint) => (endpoint.nodeName === 'n2' ? undefined : endpoint));
  await controlPlane.advance(GATHER_MS);
  const { changes } = await agent.waitFor('endpointChanges');
  assert.equal(changes[0]?.notReady.length, 1);
  for (let seconds = 0; seconds < 32; seconds += 1) {
    // Keeps the link open.
    agent.socket.ping();
    await controlPlane.advance(1_000);
  }
  await until(() => changesOf(agent).length === 2);
  assert.deepEqual(changesOf(agent)[1]?.changes[0]?.removed, changes[0]?.notReady);
});

withHub(
  'a host that reconnects with the current digest receives nothing but later changes',
  async (fixture) => {
    const { controlPlane } = fixture;
    await controlPlane.registry.create(serviceKind, 'default', serviceObject('web'));
    await createEndpoints(fixture, ['n2', 'n3']);
    const first = await liveAgent(fixture, 'n1');
    ask(first, ['default/web', '']);
    const { set } = await first.waitFor('serviceViews');
    const [view] = set;
    assert.ok(view);
    first.socket.close();
    await until(() => fixture.hub.connected === 0);
    const second = await liveAgent(fixture, 'n1');
    ask(second, ['default/web', serviceViewDigest(view)]);
    await controlPlane.settle();
    await until(() => fixture.hub.services.hostsWith({ namespace: 'default', name: 'web' }).length === 1);
    await changeEndpoints(fixture, withReady('n3', false));
    await controlPlane.advance(GATHER_MS);
    const { changes } = await second.waitFor('endpointChanges');
    assert.deepEqual(changes[0]?.notReady, [view.remote.find(({ node }) => node === 'n3')?.id]);
    assert.deepEqual(viewsOf(second), []);
  },
);

withHub(
  'a Service with node ports is sent to each host with the feature, without a request',
  async (fixture) => {
    const { controlPlane } = fixture;
    const web = serviceObject('web', {
      type: 'NodePort',
      clusterIP: '10.96.0.5',
      ports: [{ port: 80, nodePort: 30_080 }],
    });
    await controlPlane.registry.create(serviceKind, 'default', web);
    const agent = await liveAgent(fixture, 'n1');
    const old = await liveAgent(fixture, 'n2', []);
    ask(agent);
    const { set } = await agent.waitFor('serviceViews');
    assert.equal(set[0]?.ports[0]?.nodePort, 30_080);
    await controlPlane.registry.modify(serviceKind, { namespace: 'default', name: 'web' }, (service) => {
      service.spec = { ...service.spec, type: 'ClusterIP', ports: [{ port: 80, targetPort: 80 }] };
      return undefined;
    });
    await controlPlane.settle();
    await controlPlane.advance(GATHER_MS);
    await controlPlane.advance(GATHER_MS);
    await until(() => viewsOf(agent).at(-1)?.absent.includes('default/web'));
    ask(old, ['default/web', '']);
    await controlPlane.advance(2_000);
    assert.deepEqual(viewsOf(old), []);
  },
);

withHub('a relayed Service is sent to the hosts that run its Pods, without a request', async (fixture) => {
  const { controlPlane } = fixture;
  const annotations = { 'fleet.everynode.dev/relay': 'true' };
  await controlPlane.registry.create(serviceKind, 'default', serviceObject('web', {}, { annotations }));
  const [runs, other] = [await liveAgent(fixture, 'n1'), await liveAgent(fixture, 'n2')];
  ask(runs);
  ask(other);
  await controlPlane.settle();
  await createEndpoints(fixture, ['n1']);
  await controlPlane.advance(GATHER_MS);
  await controlPlane.advance(GATHER_MS);
  await until(() => viewsOf(runs).some(({ set }) => (set[0]?.relayPorts?.[0] ?? 0) > 0));
  assert.deepEqual(viewsOf(other), []);
});

withHub('endpoints written by a user are sent whole, also those of the asking host', async (fixture) => {
  const { controlPlane } = fixture;
  const { selector: _, ...spec } = serviceObject('web').spec ?? {};
  await controlPlane.registry.create(serviceKind, 'default', { ...serviceObject('web'), spec });
  const written = [{ addresses: ['10.9.9.9'] }, { addresses: ['10.9.9.8'], nodeName: 'n1' }];
  await controlPlane.registry.create(endpointSliceKind, 'default', sliceObject('web', written));
  await controlPlane.settle();
  const agent = await liveAgent(fixture, 'n1');
  ask(agent, ['default/web', '']);
  const { set } = await agent.waitFor('serviceViews');
  assert.deepEqual(set[0]?.remote.flatMap(({ addresses }) => addresses).sort(), ['10.9.9.8', '10.9.9.9']);
});

withHub('a Pod that only its own host reaches is not sent to others', async (fixture) => {
  const { controlPlane } = fixture;
  await controlPlane.registry.create(serviceKind, 'default', serviceObject('web'));
  await storePod(controlPlane.registry, servingPod('web', 'n3', {}));
  await createEndpoints(fixture, ['n2']);
  const endpoints = [podEndpointOf('web', 'n2'), podEndpointOf('web', 'n3')];
  await controlPlane.registry.create(endpointSliceKind, 'default', sliceObject('web', endpoints, 'web-2'));
  await controlPlane.settle();
  const agent = await liveAgent(fixture, 'n1');
  ask(agent, ['default/web', '']);
  const { set } = await agent.waitFor('serviceViews');
  assert.deepEqual(
    set[0]?.remote.map(({ node }) => node),
    ['n2'],
  );
});

withHub('interest ends with `unwanted` and with the session', async (fixture) => {
  const { controlPlane, hub } = fixture;
  await controlPlane.registry.create(serviceKind, 'default', serviceObject('web'));
  await controlPlane.registry.create(serviceKind, 'default', serviceObject('api'));
  const agent = await liveAgent(fixture, 'n1');
  ask(agent, ['default/web', ''], ['default/api', '']);
  await agent.waitFor('serviceViews');
  agent.send({ kind: 'serviceInterest', wanted: [], unwanted: ['default/web'] });
  await until(() => hub.services.counts().services === 1);
  assert.deepEqual(hub.services.hostsWith({ namespace: 'default', name: 'web' }), []);
  agent.socket.close();
  await until(() => hub.services.counts().services === 0);
  assert.equal(hub.services.counts().interestedHosts, 0);
});
