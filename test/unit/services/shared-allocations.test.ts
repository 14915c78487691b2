import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AllocationConflicts } from '../../../coordinator/controllers/services/allocation-conflicts.js';
import { sharedAllocations } from '../../../coordinator/decisions/services/shared-allocations.js';
import { serviceKind } from '../../../coordinator/kinds/index.js';
import type { Service, ServiceSpec } from '../../../shared/kube/services/service-types.js';
import { startControlPlane } from '../../harness/controllers/control-plane-fixture.js';

function service(name: string, created: string, spec: ServiceSpec, annotations = {}): Service {
  const metadata = {
    name,
    namespace: 'default',
    uid: `uid-${name}`,
    creationTimestamp: created,
    annotations,
  };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec };
}

/** Changes of Services within this time are checked together. */
const GATHER_MS = 5_000;
const OLD = '2026-01-01T00:00:00Z';
const NEW = '2026-02-01T00:00:00Z';

test('the younger of two Services with one address or port is named', () => {
  const at = (name: string, created: string) =>
    service(name, created, {
      clusterIP: '10.96.0.9',
      clusterIPs: ['10.96.0.9'],
      ports: [
        { port: 80, nodePort: 30_001 },
        { port: 80, protocol: 'UDP', nodePort: 30_001 },
      ],
    });
  const found = sharedAllocations([at('young', NEW), at('old', OLD)]);
  assert.deepEqual(
    found.map(({ service: { metadata }, reason, message }) => `${metadata.name} ${reason}: ${message}`),
    [
      'young ClusterIPAlreadyAllocated: Cluster IP 10.96.0.9 was assigned to multiple services; please recreate service',
      'young PortAlreadyAllocated: Port 30001 was assigned to multiple services; please recreate service',
    ],
  );
});

test('headless Services share nothing, and a relay port conflicts with a node port', () => {
  const headless = (name: string) => service(name, OLD, { clusterIP: 'None', clusterIPs: ['None'] });
  assert.deepEqual(sharedAllocations([headless('a'), headless('b')]), []);
  const relayed = service('c', OLD, {}, { 'fleet.everynode.dev/relay-ports': '80:30001' });
  const onNodes = service('d', NEW, { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] });
  assert.deepEqual(
    sharedAllocations([relayed, onNodes]).map(({ service }) => service.metadata.name),
    ['d'],
  );
});

test('a conflict is recorded once an hour, until the Service is deleted', async (t) => {
  const plane = await startControlPlane();
  const recorded: string[] = [];
  const controller = new AllocationConflicts({
    ...plane,
    recordEvent: (about, _type, reason) => recorded.push(`${reason} ${about.metadata.name}`),
  });
  t.after(async () => {
    await controller.stop();
    await plane.stop();
  });
  const address: ServiceSpec = { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] };
  await plane.registry.restoreObject(serviceKind, service('a', OLD, address));
  await plane.registry.restoreObject(serviceKind, service('b', NEW, address));
  await plane.registry.restoreObject(serviceKind, service('c', NEW, {}));
  await plane.settle();
  await plane.advance(GATHER_MS);
  assert.deepEqual(recorded, ['ClusterIPAlreadyAllocated b']);
  await plane.advance(3_600_000);
  assert.equal(recorded.length, 2);
  await plane.registry.delete(serviceKind, { namespace: 'default', name: 'b' });
  await plane.settle();
  await plane.advance(3_600_000);
  assert.equal(recorded.length, 2);
});

test('many new Services share one check of all Services', async (t) => {
  const plane = await startControlPlane();
  const { services } = plane.informers;
  let checks = 0;
  const counted = {
    onChange: services.onChange.bind(services),
    list: () => {
      checks += 1;
      return services.list();
    },
  } as typeof services;
  const controller = new AllocationConflicts({
    ...plane,
    informers: { ...plane.informers, services: counted },
    recordEvent: () => undefined,
  });
  t.after(async () => {
    await controller.stop();
    await plane.stop();
  });
  for (let index = 0; index < 20; index += 1) {
    await plane.registry.restoreObject(serviceKind, service(`s${index}`, OLD, {}));
    await plane.settle();
  }
  await plane.advance(GATHER_MS);
  assert.equal(checks, 1);
});
