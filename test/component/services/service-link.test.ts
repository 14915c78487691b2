/** The service table over a real link to a real hub. */
import assert from 'node:assert/strict';
import type { ServiceLookupResult } from '../../../agent/decisions/services/host-service.js';
import { endpointSliceKind, serviceKind } from '../../../coordinator/kinds/index.js';
import { endpointViewName, VIEW_SIZE } from '../../../shared/kube/services/service-view.js';
import { SERVICES } from '../../../shared/link/link-features.js';
import { until } from '../../harness/basics/wait-until.js';
import { type HubFixture, type TestAgent, withHub } from '../../harness/hub/hub-fixture.js';
import {
  podEndpointOf,
  serviceObject,
  servingPod,
  sliceObject,
  storePod,
} from '../../harness/hub/hub-service-builders.js';
import { withLink } from '../../harness/hub/scripted-hub.js';
import { TableFixture } from '../../harness/services/service-table-fixture.js';

const GATHER_MS = 250;

/** A connected host with a service table. */
async function host(fixture: HubFixture, node = 'n1'): Promise<{ table: TableFixture; agent: TestAgent }> {
  const table = new TableFixture(fixture.controlPlane.clock);
  const services = await table.open();
  const agent = await fixture.agent(node, { services });
  await until(() => agent.welcomes.length > 0);
  return { table, agent };
}

/** Creates the Service `web` with a daemon on each node. */
async function createWeb({ controlPlane }: HubFixture, nodes: string[]): Promise<void> {
  const { registry } = controlPlane;
  await registry.create(serviceKind, 'default', serviceObject('web'));
  for (const node of nodes) await storePod(registry, servingPod('web', node));
  const endpoints = nodes.map((node) => podEndpointOf('web', node));
  await registry.create(endpointSliceKind, 'default', sliceObject('web', endpoints));
  await controlPlane.settle();
}

async function setReady({ controlPlane }: HubFixture, node: string, ready: boolean): Promise<void> {
  await controlPlane.registry.modify(endpointSliceKind, { namespace: 'default', name: 'web-1' }, (slice) => {
    for (const endpoint of slice.endpoints ?? [])
      if (endpoint.nodeName === node) endpoint.conditions = { ready, serving: ready };
    return undefined;
  });
  await controlPlane.settle();
  await controlPlane.advance(GATHER_MS);
}

function remoteStates(result: ServiceLookupResult): unknown {
  if (result.state !== 'known') return result.state;
  return Object.fromEntries(result.service.view.remote.map(({ node, state }) => [node, state]));
}

withHub('a lookup gets the view of the hub, and later the changes of its endpoints', async (fixture) => {
  await createWeb(fixture, ['n1', 'n2', 'n3']);
  const { table } = await host(fixture);
  const lookup = () => table.table.resolve('default', 'web');
  assert.deepEqual(remoteStates(await lookup()), { n2: 'ready', n3: 'ready' });
  await setReady(fixture, 'n2', false);
  await until(async () => JSON.stringify(remoteStates(await lookup())) === '{"n2":"notReady","n3":"ready"}');
});

withHub(
  'names of an absent namespace are asked for once, and a Service appears when it is created',
  async (fixture) => {
    const { table, agent } = await host(fixture);
    const { resolve } = { resolve: table.table.resolve.bind(table.table) };
    assert.equal((await resolve('com', 'example-0')).state, 'absent');
    const before = agent.link.bytes.of('up', 'services');
    assert.ok(before > 0);
    for (let index = 1; index < 100; index++)
      assert.equal((await resolve('com', `example-${index}`)).state, 'absent');
    assert.equal(agent.link.bytes.of('up', 'services'), before);
    assert.equal((await resolve('default', 'web')).state, 'absent');
    await createWeb(fixture, ['n2']);
    await fixture.controlPlane.advance(GATHER_MS);
    await until(async () => (await resolve('default', 'web')).state === 'known');
  },
);

withHub('a host that reconnects receives only the views that have changed', async (fixture) => {
  const { controlPlane } = fixture;
  await createWeb(fixture, ['n2', 'n3']);
  for (let index = 0; index < 50; index++) {
    const service = serviceObject(`service-${index}`, {}, { annotations: { note: 'x'.repeat(100) } });
    await controlPlane.registry.create(serviceKind, 'default', service);
  }
  await controlPlane.settle();
  const { table, agent } = await host(fixture);
  const names = ['web', ...Array.from({ length: 50 }, (_, index) => `service-${index}`)];
  const results = await Promise.all(names.map((name) => table.table.resolve('default', name)));
  assert.ok(results.every(({ state }) => state === 'known'));
  const first = agent.link.bytes.of('down', 'services');
  agent.link.stop();
  table.table.onLost();
  assert.deepEqual(remoteStates(await table.table.resolve('default', 'web')), { n2: 'ready', n3: 'ready' });
  await setReady(fixture, 'n3', false);
  const back = await fixture.agent('n1', { services: table.table, instanceID: 'again' });
  await until(
    async () =>
      JSON.stringify(remoteStates(await table.table.resolve('default', 'web'))) ===
      '{"n2":"ready","n3":"notReady"}',
  );
  const second = back.link.bytes.of('down', 'services');
  // One view of two endpoints instead of 51 views.
  assert.ok(second * 10 < first, `${first} bytes at first, ${second} after the reconnect`);
  await setReady(fixture, 'n3', true);
  await until(
    async () =>
      JSON.stringify(remoteStates(await table.table.resolve('default', 'web'))) ===
      '{"n2":"ready","n3":"ready"}',
  );
});

withHub('a Service that is no longer looked up is not sent any longer', async (fixture) => {
  await createWeb(fixture, ['n2']);
  const { table, agent } = await host(fixture);
  assert.equal((await table.table.resolve('default', 'web')).state, 'known');
  const ref = { namespace: 'default', name: 'web' };
  assert.deepEqual(fixture.hub.services.hostsWith(ref), ['n1']);
  for (let minute = 0; minute < 62; minute++) {
    for (let step = 0; step < 6; step++) {
      agent.link.ping();
      await fixture.controlPlane.advance(10_000);
    }
  }
  await until(() => fixture.hub.services.hostsWith(ref).length === 0);
  assert.deepEqual([...table.table.all()], []);
});

withLink('an agent without a service table does not announce the feature', async ({ nextConnection }) => {
  const { received } = await nextConnection();
  const features = received.flatMap((message) => (message.kind === 'hello' ? message.features : []));
  assert.ok(features.length > 0 && !features.includes(SERVICES), features.join());
});

withHub('an endpoint outside of the view is sent when a Pod asks for its name', async (fixture) => {
  const nodes = Array.from({ length: 80 }, (_, index) => `n${index + 2}`);
  const { registry } = fixture.controlPlane;
  await registry.create(serviceKind, 'default', serviceObject('web'));
  const inHostNetwork = (node: string) => ({ hostNetwork: true, hostname: node, subdomain: 'web' });
  for (const node of nodes) await storePod(registry, servingPod('web', node, inHostNetwork(node)));
  const endpoints = nodes.map((node) => podEndpointOf('web', node));
  await registry.create(endpointSliceKind, 'default', sliceObject('web', endpoints));
  await fixture.controlPlane.settle();
  const { table } = await host(fixture);
  const { table: services } = table;
  const whole = await services.resolve('default', 'web');
  assert.ok(whole.state === 'known' && whole.service.view.remote.length === VIEW_SIZE);
  const present = new Set(whole.service.view.remote.map(({ node }) => node));
  const outside = nodes.find((node) => !present.has(node)) ?? assert.fail('every endpoint is in the view');
  const lookup = () => services.resolve('default', endpointViewName('web', outside));
  assert.deepEqual(remoteStates(await lookup()), { [outside]: 'ready' });
  await setReady(fixture, outside, false);
  await until(async () => JSON.stringify(remoteStates(await lookup())) === `{"${outside}":"notReady"}`);
  assert.equal((await services.resolve('default', endpointViewName('web', 'nowhere'))).state, 'absent');
  assert.deepEqual(
    [...services.all()].map(({ view }) => view.name),
    ['web'],
    'the proxy and reverse names know whole Services only',
  );
});
