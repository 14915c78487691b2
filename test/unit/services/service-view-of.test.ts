import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceViewOf } from '../../../coordinator/decisions/services/service-view-of.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import {
  RELAY_ANNOTATION,
  RELAY_PORTS_ANNOTATION,
  relayPortsOf,
  relayPortsText,
  WITHIN_ANNOTATION,
} from '../../../shared/kube/services/service-annotations.js';
import type { Service, ServiceSpec } from '../../../shared/kube/services/service-types.js';

const HTTP = { port: 80 };

function service(spec: ServiceSpec, meta: Partial<ObjectMeta> = {}): Service {
  const metadata = { name: 'web', namespace: 'shop', uid: 'u1', ...meta };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec };
}

test('a view has defaults for the fields that a stored Service lacks', () => {
  assert.deepEqual(serviceViewOf(service({ ports: [HTTP], selector: { app: 'web' } })), {
    namespace: 'shop',
    name: 'web',
    uid: 'u1',
    addressing: { type: 'headless' },
    ports: [{ name: '', protocol: 'TCP', port: 80, targetPort: 80, nodePort: 0 }],
    selector: { app: 'web' },
    publishNotReadyAddresses: false,
    traffic: {
      internal: 'Cluster',
      external: 'Cluster',
      prefer: 'none',
      strictZone: false,
      affinitySeconds: 0,
    },
  });
});

test('a view names the address of a Service, the target of an ExternalName, or neither', () => {
  const addressing = (spec: ServiceSpec) => serviceViewOf(service(spec)).addressing;
  assert.deepEqual(addressing({ type: 'NodePort', clusterIP: '10.96.0.9' }), {
    type: 'clusterIP',
    address: '10.96.0.9',
  });
  assert.deepEqual(addressing({ clusterIP: 'None' }), { type: 'headless' });
  assert.deepEqual(addressing({ clusterIP: '' }), { type: 'headless' });
  const external = { type: 'externalName', target: 'db.example.org' };
  assert.deepEqual(addressing({ type: 'ExternalName', externalName: 'db.example.org' }), external);
});

test('only a Service of type NodePort or LoadBalancer shows node ports and its external policy', () => {
  const spec = { ports: [{ ...HTTP, nodePort: 30_080 }], externalTrafficPolicy: 'Local' };
  const shown = (type: string) => {
    const { ports, traffic } = serviceViewOf(service({ ...spec, type }));
    return [ports[0]?.nodePort, traffic.external];
  };
  assert.deepEqual(['ClusterIP', 'NodePort', 'LoadBalancer'].map(shown), [
    [0, 'Cluster'],
    [30_080, 'Local'],
    [30_080, 'Local'],
  ]);
});

test('a Service with an empty selector, and an ExternalName, have none in their view', () => {
  assert.equal(serviceViewOf(service({ selector: {} })).selector, undefined);
  const external = service({ type: 'ExternalName', externalName: 'a.b', selector: { app: 'web' } });
  assert.equal(serviceViewOf(external).selector, undefined);
});

test('traffic rules follow the policies, the distribution, the affinity and the zone annotation', () => {
  const traffic = (spec: ServiceSpec, annotations = {}) =>
    serviceViewOf(service(spec, { annotations })).traffic;
  const prefer = (trafficDistribution: string) => traffic({ trafficDistribution }).prefer;
  assert.equal(traffic({ internalTrafficPolicy: 'Local' }).internal, 'Local');
  assert.deepEqual(['PreferClose', 'PreferSameZone', 'PreferSameNode'].map(prefer), [
    'sameZone',
    'sameZone',
    'sameNode',
  ]);
  assert.equal(traffic({ sessionAffinity: 'ClientIP' }).affinitySeconds, 10_800);
  const config = { clientIP: { timeoutSeconds: 5 } };
  assert.equal(traffic({ sessionAffinity: 'ClientIP', sessionAffinityConfig: config }).affinitySeconds, 5);
  assert.equal(traffic({ sessionAffinity: 'None', sessionAffinityConfig: config }).affinitySeconds, 0);
  assert.equal(traffic({}, { [WITHIN_ANNOTATION]: 'zone' }).strictZone, true);
});

test('relay ports are listed in the order of the ports, for TCP only, and only while the relay is requested', () => {
  const ports = [{ port: 53, protocol: 'UDP' }, { port: 53, protocol: 'TCP' }, HTTP];
  const text = relayPortsText(
    new Map([
      [80, 31_080],
      [53, 31_053],
    ]),
  );
  const relay = (annotations: Record<string, string>) =>
    serviceViewOf(service({ ports }, { annotations })).relayPorts;
  const allocated = { [RELAY_PORTS_ANNOTATION]: text };
  assert.deepEqual(relay({ ...allocated, [RELAY_ANNOTATION]: 'true' }), [0, 31_053, 31_080]);
  assert.equal(relay({ ...allocated, [RELAY_ANNOTATION]: 'false' }), undefined);
  assert.deepEqual(relay({ [RELAY_ANNOTATION]: 'true' }), [0, 0, 0]);
});

test('a relay annotation that cannot be read allocates no ports', () => {
  for (const text of ['', 'x', '80', ':', '80:x,,', '0:31000'])
    assert.equal(relayPortsOf({ name: 'web', annotations: { [RELAY_PORTS_ANNOTATION]: text } }).size, 0);
});
