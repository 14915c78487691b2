/** Allocation through the registry: pkg/registry/core/service/storage/storage_test.go. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { namespaceKind, serviceKind } from '../../../coordinator/kinds/index.js';
import {
  RELAY_ANNOTATION,
  RELAY_PORTS_ANNOTATION,
  relayPortsOf,
} from '../../../shared/kube/services/service-annotations.js';
import type { Service, ServiceSpec } from '../../../shared/kube/services/service-types.js';
import { type ControlPlane, startControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { refusal } from '../../harness/controllers/registry-fixture.js';

const HTTP = { name: 'http', port: 80 };
const USER = { user: 'ann' };

async function plane(
  t: TestContext,
  options: { serviceCidr?: string; nodePorts?: string } = {},
): Promise<ControlPlane> {
  const started = await startControlPlane([], options);
  t.after(() => started.stop());
  return started;
}

function body(name: string, spec: ServiceSpec = {}, annotations: Record<string, string> = {}): object {
  return { metadata: { name, annotations }, spec: { ports: [HTTP], selector: { app: 'x' }, ...spec } };
}

async function create(
  { registry }: ControlPlane,
  name: string,
  spec: ServiceSpec = {},
  annotations: Record<string, string> = {},
): Promise<Service> {
  return (await registry.create(serviceKind, 'default', body(name, spec, annotations), USER)).object();
}

async function update(
  { registry }: ControlPlane,
  name: string,
  spec: ServiceSpec,
  annotations: Record<string, string> = {},
): Promise<Service> {
  const ref = { namespace: 'default', name };
  return (await registry.update(serviceKind, ref, body(name, spec, annotations), USER)).object();
}

const remove = ({ registry }: ControlPlane, name: string) =>
  registry.delete(serviceKind, { namespace: 'default', name });
const nodePorts = ({ spec }: Service) => (spec?.ports ?? []).map(({ nodePort }) => nodePort);

describe('addresses of Services', () => {
  test('a new Service gets a random address outside the share for requests', async (t) => {
    const { spec } = await create(await plane(t), 'a');
    assert.match(spec?.clusterIP ?? '', /^10\.96\.([1-9]\d*|0)\.\d+$/);
    assert.deepEqual(spec?.clusterIPs, [spec?.clusterIP]);
    const [, , third = 0] = (spec?.clusterIP ?? '').split('.').map(Number);
    assert.ok(third >= 1, 'the first 256 addresses are for requests');
  });

  test('concurrent creations use each address of a small range once, and then the range is full', async (t) => {
    const fleet = await plane(t, { serviceCidr: '10.0.0.0/28' });
    const names = Array.from({ length: 14 }, (_, index) => `s${index}`);
    const services = await Promise.all(names.map((name) => create(fleet, name)));
    assert.equal(new Set(services.map(({ spec }) => spec?.clusterIP)).size, 14);
    const error = await refusal(create(fleet, 'last'));
    assert.equal(error.code, 500);
    assert.match(error.message, /failed to allocate a serviceIP: range is full/);
  });

  test('a deleted Service frees its address at once', async (t) => {
    const fleet = await plane(t, { serviceCidr: '10.0.0.0/30' });
    await create(fleet, 'a');
    await create(fleet, 'b');
    for (let round = 0; round < 3; round += 1) {
      await remove(fleet, 'a');
      await create(fleet, 'a');
    }
  });

  test('a requested address must be free and in the range', async (t) => {
    const fleet = await plane(t);
    const { spec } = await create(fleet, 'a', { clusterIP: '10.96.0.10' });
    assert.equal(spec?.clusterIP, '10.96.0.10');
    const taken = await refusal(create(fleet, 'b', { clusterIP: '10.96.0.10' }));
    assert.equal(taken.code, 422);
    assert.equal(
      taken.message,
      'Service "b" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.10"]: failed to allocate IP 10.96.0.10: provided IP is already allocated',
    );
    for (const address of ['10.97.0.1', '10.96.0.0', '10.96.255.255']) {
      const outside = await refusal(create(fleet, 'b', { clusterIP: address }));
      assert.ok(
        outside.message.endsWith(
          `the provided IP (${address}) is not in the valid range. The range of valid IPs is 10.96.0.0/16`,
        ),
        outside.message,
      );
    }
  });

  test('two concurrent requests for one address: one fails', async (t) => {
    const fleet = await plane(t);
    const both = await Promise.allSettled(
      ['a', 'b'].map((name) => create(fleet, name, { clusterIP: '10.96.0.9' })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });

  test('a failed creation frees what it reserved', async (t) => {
    const fleet = await plane(t, { serviceCidr: '10.0.0.0/30' });
    await create(fleet, 'a');
    for (let round = 0; round < 3; round += 1)
      assert.equal((await refusal(create(fleet, 'a'))).reason, 'AlreadyExists');
    await create(fleet, 'b');
  });

  test('a dry run shows an address and reserves nothing', async (t) => {
    const fleet = await plane(t, { serviceCidr: '10.0.0.0/30' });
    for (let round = 0; round < 3; round += 1) {
      const { registry } = fleet;
      const shown = (
        await registry.create(serviceKind, 'default', body('a'), { ...USER, dryRun: true })
      ).object();
      assert.match(shown.spec?.clusterIP ?? '', /^10\.0\.0\.[12]$/);
    }
    await Promise.all([create(fleet, 'a'), create(fleet, 'b')]);
  });

  test('a headless Service stays headless, and an ExternalName has no address until it becomes a ClusterIP', async (t) => {
    const fleet = await plane(t);
    assert.equal((await create(fleet, 'a', { clusterIP: 'None' })).spec?.clusterIP, 'None');
    assert.equal((await update(fleet, 'a', {})).spec?.clusterIP, 'None');
    const external = { type: 'ExternalName', externalName: 'db.example.org' };
    assert.equal((await create(fleet, 'b', external)).spec?.clusterIP, undefined);
    const address = (await update(fleet, 'b', {})).spec?.clusterIP;
    assert.match(address ?? '', /^10\.96\./);
    const again = (await update(fleet, 'b', external)).spec;
    assert.deepEqual(
      [again?.clusterIP, again?.clusterIPs, again?.ipFamilies],
      [undefined, undefined, undefined],
    );
    await create(fleet, 'c', { clusterIP: address ?? '' });
  });

  test('an update keeps the address, also by apply', async (t) => {
    const fleet = await plane(t);
    const { spec } = await create(fleet, 'a');
    const next = await update(fleet, 'a', { ports: [{ ...HTTP, port: 81 }] });
    assert.equal(next.spec?.clusterIP, spec?.clusterIP);
    const manifest = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a' },
      spec: { selector: { app: 'y' } },
    };
    const ref = { namespace: 'default', name: 'a' };
    const options = { ...USER, fieldManager: 'm' };
    const change = { type: 'apply' as const, body: manifest, force: true };
    const { record } = await fleet.registry.patch(serviceKind, ref, change, options);
    assert.equal(record.object().spec?.clusterIP, spec?.clusterIP);
  });

  test('a Service created by apply does not own what was allocated', async (t) => {
    const { registry } = await plane(t);
    const manifest = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a' },
      spec: { type: 'NodePort', ports: [HTTP] },
    };
    const change = { type: 'apply' as const, body: manifest };
    const options = { ...USER, fieldManager: 'm' };
    const { record } = await registry.patch(
      serviceKind,
      { namespace: 'default', name: 'a' },
      change,
      options,
    );
    const fields = JSON.stringify(record.object().metadata.managedFields);
    assert.doesNotMatch(fields, /f:clusterIP|f:nodePort/);
    assert.match(record.object().spec?.clusterIP ?? '', /^10\.96\./);
  });

  test('without addresses new Services are headless, with node ports if they ask for them', async (t) => {
    const fleet = await plane(t, { serviceCidr: 'off' });
    assert.deepEqual((await create(fleet, 'a')).spec?.clusterIPs, ['None']);
    const service = await create(fleet, 'b', { type: 'NodePort' });
    assert.equal(service.spec?.clusterIP, 'None');
    assert.ok(nodePorts(service)[0]);
    assert.deepEqual(nodePorts(await update(fleet, 'b', { type: 'NodePort' })), nodePorts(service));
    const error = await refusal(create(fleet, 'c', { clusterIP: '10.96.0.1' }));
    assert.match(error.message, /--service-cidr off/);
  });

  test('a new NodePort Service cannot ask to be headless', async (t) => {
    const error = await refusal(create(await plane(t), 'a', { type: 'NodePort', clusterIP: 'None' }));
    assert.match(error.message, /may not be set to 'None' for NodePort services/);
  });

  test('Services of a new coordinator process keep the range free of duplicates', async (t) => {
    const fleet = await plane(t, { serviceCidr: '10.0.0.0/30' });
    // Stored without allocation, as an earlier version or a restored backup has it.
    await fleet.registry.create(namespaceKind, undefined, { metadata: { name: 'old' } });
    const stored = { ...(await create(fleet, 'a')), metadata: { name: 'a', namespace: 'old', uid: 'u-old' } };
    await fleet.registry.restoreObject(serviceKind, stored);
    await create(fleet, 'b');
    const error = await refusal(create(fleet, 'c'));
    assert.match(error.message, /range is full/);
    // Both holders of the address can still be changed, and both keep it.
    await fleet.registry.modify(serviceKind, { namespace: 'old', name: 'a' }, ({ metadata }) => {
      metadata.labels = { changed: 'yes' };
      return undefined;
    });
  });
});

describe('node ports', () => {
  test('each port gets one, and equal ports of TCP and UDP share it', async (t) => {
    const ports = [
      { name: 'a', port: 53, protocol: 'TCP' },
      { name: 'b', port: 53, protocol: 'UDP' },
      { name: 'c', port: 80 },
    ];
    const [tcp = 0, udp, web = 0] = nodePorts(await create(await plane(t), 'a', { type: 'NodePort', ports }));
    assert.equal(tcp, udp);
    assert.notEqual(tcp, web);
    for (const port of [tcp, web]) assert.ok(port >= 30_086 && port <= 32_767, String(port));
  });

  test('a requested port must be free and in the range', async (t) => {
    const fleet = await plane(t);
    const asking = (nodePort: number): ServiceSpec => ({ type: 'NodePort', ports: [{ ...HTTP, nodePort }] });
    assert.deepEqual(nodePorts(await create(fleet, 'a', asking(30_080))), [30_080]);
    const taken = await refusal(create(fleet, 'b', asking(30_080)));
    assert.equal(
      taken.message,
      'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated',
    );
    const outside = await refusal(create(fleet, 'b', asking(8080)));
    assert.match(
      outside.message,
      /provided port is not in the valid range. The range of valid ports is 30000-32767$/,
    );
  });

  test('types and ports that change release and allocate', async (t) => {
    const fleet = await plane(t, { nodePorts: '30000-30001' });
    const [first = 0] = nodePorts(await create(fleet, 'a', { type: 'NodePort' }));
    const ports = [{ ...HTTP, nodePort: first === 30_000 ? 30_001 : 30_000 }];
    assert.deepEqual(nodePorts(await update(fleet, 'a', { type: 'NodePort', ports })), [ports[0]?.nodePort]);
    const two = [HTTP, { name: 'x', port: 81 }];
    assert.equal(new Set(nodePorts(await update(fleet, 'a', { type: 'NodePort', ports: two }))).size, 2);
    assert.match(
      (await refusal(create(fleet, 'b', { type: 'NodePort' }))).message,
      /failed to allocate a nodePort: range is full/,
    );
    assert.deepEqual(nodePorts(await update(fleet, 'a', { ports: two })), [undefined, undefined]);
    await create(fleet, 'b', { type: 'NodePort', ports: two });
  });

  test('a requested port is never chosen for another port of the same Service', async (t) => {
    const fleet = await plane(t, { nodePorts: '30000-30001' });
    const ports = [HTTP, { name: 'x', port: 81, nodePort: 30_000 }];
    assert.deepEqual(nodePorts(await create(fleet, 'a', { type: 'NodePort', ports })), [30_001, 30_000]);
  });

  test('a load balancer may go without, and one with policy Local gets a health check port', async (t) => {
    const fleet = await plane(t);
    const bare = await create(fleet, 'a', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false });
    assert.deepEqual(nodePorts(bare), [undefined]);
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    const { spec } = await create(fleet, 'b', local);
    assert.ok(spec?.healthCheckNodePort);
    const error = await refusal(
      create(fleet, 'c', { ...local, healthCheckNodePort: spec.healthCheckNodePort }),
    );
    assert.match(
      error.message,
      /failed to allocate requested HealthCheck NodePort \d+: provided port is already allocated/,
    );
    assert.equal((await update(fleet, 'b', { type: 'LoadBalancer' })).spec?.healthCheckNodePort, undefined);
  });
});

describe('relay ports', () => {
  const on = { [RELAY_ANNOTATION]: 'true' };
  const ports = [
    { name: 'a', port: 53, protocol: 'UDP' },
    { name: 'b', port: 53, protocol: 'TCP' },
    { name: 'c', port: 80 },
  ];

  test('each TCP port gets one, keeps it, and loses it with the request', async (t) => {
    const fleet = await plane(t);
    const relays = relayPortsOf((await create(fleet, 'a', { ports }, on)).metadata);
    assert.deepEqual([...relays.keys()], [53, 80]);
    assert.equal(new Set(relays.values()).size, 2);
    const forged = { ...on, [RELAY_PORTS_ANNOTATION]: '80:1' };
    assert.deepEqual(relayPortsOf((await update(fleet, 'a', { ports }, forged)).metadata), relays);
    const more = relayPortsOf(
      (await update(fleet, 'a', { ports: [...ports, { name: 'd', port: 90 }] }, on)).metadata,
    );
    assert.deepEqual([...more.keys()], [53, 80, 90]);
    assert.equal(more.get(80), relays.get(80));
    const off = await update(fleet, 'a', { ports }, { [RELAY_ANNOTATION]: 'false' });
    assert.equal(off.metadata.annotations?.[RELAY_PORTS_ANNOTATION], undefined);
  });

  test('relay ports and node ports are never the same', async (t) => {
    const fleet = await plane(t, { nodePorts: '30000-30001' });
    const service = await create(fleet, 'a', { type: 'NodePort' }, on);
    const [relay] = relayPortsOf(service.metadata).values();
    assert.deepEqual([...nodePorts(service), relay].sort(), [30_000, 30_001]);
    assert.match(
      (await refusal(create(fleet, 'b', {}, on))).message,
      /failed to allocate a relay port: range is full/,
    );
  });

  test('concurrent creations get different relay ports', async (t) => {
    const fleet = await plane(t, { nodePorts: '30000-30007' });
    const names = Array.from({ length: 8 }, (_, index) => `s${index}`);
    const services = await Promise.all(names.map((name) => create(fleet, name, {}, on)));
    assert.equal(new Set(services.flatMap(({ metadata }) => [...relayPortsOf(metadata).values()])).size, 8);
  });
});

describe('a terminating Service', () => {
  async function terminating(fleet: ControlPlane, spec: ServiceSpec = {}): Promise<void> {
    const metadata = { name: 'gone', finalizers: ['example.com/wait'] };
    const whole = { metadata, spec: { ports: [HTTP], selector: { app: 'x' }, ...spec } };
    await fleet.registry.create(serviceKind, 'default', whole, USER);
    await remove(fleet, 'gone');
  }
  const change = (fleet: ControlPlane, edit: (service: Service) => void) =>
    fleet.registry.modify(serviceKind, { namespace: 'default', name: 'gone' }, (service) => {
      edit(service);
      return undefined;
    });

  test('cannot take the node port of another Service', async (t) => {
    const fleet = await plane(t);
    const ports = [{ ...HTTP, nodePort: 30_080 }];
    await create(fleet, 'a', { type: 'NodePort', ports });
    await terminating(fleet);
    const taking = change(fleet, ({ spec = {} }) => Object.assign(spec, { type: 'NodePort', ports }));
    assert.match((await refusal(taking)).message, /provided port is already allocated$/);
  });

  test('cannot choose its own relay ports', async (t) => {
    const fleet = await plane(t);
    await terminating(fleet);
    const forged = await change(fleet, ({ metadata }) => {
      metadata.annotations = { [RELAY_ANNOTATION]: 'true', [RELAY_PORTS_ANNOTATION]: '80:22' };
    });
    assert.notEqual(relayPortsOf(forged.object().metadata).get(80), 22);
  });

  test('loses its finalizers while the range of node ports is full', async (t) => {
    const fleet = await plane(t, { nodePorts: '30000-30001' });
    await terminating(fleet, { type: 'NodePort' });
    await create(fleet, 'a', { type: 'NodePort' });
    await change(fleet, ({ metadata }) => {
      metadata.finalizers = [];
    });
    await fleet.settle();
    assert.equal(fleet.informers.services.get({ namespace: 'default', name: 'gone' }), undefined);
  });
});
